# What __init__.py imports when it is used, for type checkers and editors.

from skliquid import datasets as datasets
from skliquid import mechanisms as mechanisms
from skliquid import pools as pools
from skliquid import schedules as schedules
from skliquid import streams as streams
from skliquid import theory as theory
from skliquid import voting as voting
from skliquid.delegation_graph import DelegationGraph as DelegationGraph
from skliquid.ensemble import LiquidEnsembleClassifier as LiquidEnsembleClassifier
from skliquid.mechanisms import Mechanism as Mechanism
from skliquid.pools import DaskPool as DaskPool
from skliquid.pruning import prune as prune
from skliquid.record import TrainingCost as TrainingCost
from skliquid.record import TrainingRecord as TrainingRecord
from skliquid.streams import increments_from as increments_from
from skliquid.streams import train_on as train_on
from skliquid.tabular import tabular_pipeline as tabular_pipeline

__version__: str
