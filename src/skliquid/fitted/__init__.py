"""Fitted ensembles: the state that training leaves behind, predictions from it, and its storage."""
