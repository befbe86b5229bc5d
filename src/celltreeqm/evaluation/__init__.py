"""Evaluation: trees in, a table out; and the nulls and controls that say what a figure is worth."""

from ._controls import copy_nearest_leaf as copy_nearest_leaf
from ._controls import hold_out_leaves as hold_out_leaves
from ._evaluate import evaluate as evaluate
from ._evaluation import Evaluation as Evaluation
from ._evaluation import with_companions as with_companions
from ._feature_recovery import FeatureRecovery as FeatureRecovery
from ._feature_recovery import feature_recovery as feature_recovery
from ._nulls import permute_cells as permute_cells
from ._nulls import permute_genes as permute_genes
from ._nulls import permute_leaves as permute_leaves
from ._scores import relative_improvement as relative_improvement
from ._subtrees import local_subtree_errors as local_subtree_errors
