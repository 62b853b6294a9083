"""Experiments: the paper's tables and figures, run anew from descriptions in TOML."""
