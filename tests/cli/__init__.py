"""Tests of the commands; a package, as their conftest has namesakes."""
