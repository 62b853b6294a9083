"""Diversity: hyperparameters, samples, features and feature maps that differ between voters."""

from skliquid.diversity.diversity import Diversity, as_diversity, is_auto
from skliquid.diversity.feature_maps import FeatureMap, Views
from skliquid.diversity.fourier_features import FourierFeatures
from skliquid.diversity.hyperparameters import (
    DefaultsWithout,
    LogUniform,
    Spread,
    default_hyperparameters,
)
from skliquid.diversity.samples import Sample, row_sample
from skliquid.diversity.voter_spec import VoterSpec
from skliquid.diversity.voters import final_step

__all__ = [
    "DefaultsWithout",
    "Diversity",
    "FeatureMap",
    "FourierFeatures",
    "LogUniform",
    "Sample",
    "Spread",
    "Views",
    "VoterSpec",
    "as_diversity",
    "default_hyperparameters",
    "final_step",
    "is_auto",
    "row_sample",
]
