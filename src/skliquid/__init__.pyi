from skliquid import datasets as datasets
from skliquid import diversity as diversity
from skliquid import mechanisms as mechanisms
from skliquid import plotting as plotting
from skliquid import pools as pools
from skliquid import schedules as schedules
from skliquid import streams as streams
from skliquid import theory as theory
from skliquid import voters as voters
from skliquid import voting as voting
from skliquid.cluster import DaskPool as DaskPool
from skliquid.competence import Competence as Competence
from skliquid.delegation_graph import DelegationGraph as DelegationGraph
from skliquid.diversity import Diversity as Diversity
from skliquid.ensemble import LiquidEnsembleClassifier as LiquidEnsembleClassifier
from skliquid.html.replay import replay as replay
from skliquid.mechanisms import Mechanism as Mechanism
from skliquid.mechanisms import as_mechanism as as_mechanism
from skliquid.mechanisms import revocable as revocable
from skliquid.pruned import PrunedEnsemble as PrunedEnsemble
from skliquid.pruned import prune as prune
from skliquid.record import TrainingCost as TrainingCost
from skliquid.record import TrainingRecord as TrainingRecord
from skliquid.streams import increments_from as increments_from
from skliquid.streams import train_on as train_on
from skliquid.tabular import tabular_pipeline as tabular_pipeline

__version__: str
