"""Tests of skliquid.streams; a package, as some files have namesakes one folder up."""
