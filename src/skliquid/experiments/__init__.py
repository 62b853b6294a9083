"""Experiments: the paper's tables and figures, reproduced from TOML files."""
