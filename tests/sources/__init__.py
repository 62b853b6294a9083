"""Tests of skliquid.sources."""
