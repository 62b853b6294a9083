"""Diversity: hyperparameters, samples, features and feature maps that differ between voters."""

from skliquid.diversity.diversity import Diversity, as_diversity, is_auto
from skliquid.diversity.feature_maps import FeatureMap, FourierMap, Views
from skliquid.diversity.fourier_features import FourierFeatures
from skliquid.diversity.hyperparameters import DefaultsWithout, LogUniform, Spread
from skliquid.diversity.named_estimators import NamedEstimators
from skliquid.diversity.samples import Sample, row_sample
from skliquid.diversity.seeding import final_step
from skliquid.diversity.voter_spec import VoterSpec

__all__ = [
    "DefaultsWithout",
    "Diversity",
    "FeatureMap",
    "FourierFeatures",
    "FourierMap",
    "LogUniform",
    "NamedEstimators",
    "Sample",
    "Spread",
    "Views",
    "VoterSpec",
    "as_diversity",
    "final_step",
    "is_auto",
    "row_sample",
]
