"""Tests of the experiments; a package, as one of its files has a namesake."""
