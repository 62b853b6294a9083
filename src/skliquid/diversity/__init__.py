"""Diversity: hyperparameters, samples, features and feature maps that differ between voters."""

from skliquid.diversity.diversity import Diversity, as_diversity, is_auto
from skliquid.diversity.feature_maps import FeatureMap, Views
from skliquid.diversity.fourier_features import FourierFeatures
from skliquid.diversity.hyperparameters import DEFAULT_HYPERPARAMETERS, LogUniform
from skliquid.diversity.samples import Sample, row_sample
from skliquid.diversity.voter_spec import VoterSpec

__all__ = [
    "DEFAULT_HYPERPARAMETERS",
    "Diversity",
    "FeatureMap",
    "FourierFeatures",
    "LogUniform",
    "Sample",
    "Views",
    "VoterSpec",
    "as_diversity",
    "is_auto",
    "row_sample",
]
