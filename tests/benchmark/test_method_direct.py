"""Methods without learning."""

import numpy as np
from scipy.spatial.distance import pdist, squareform

from celltreeqm.benchmark import method_by_name, task_by_name
from celltreeqm.trees import neighbor_joining

(PROBLEM,) = task_by_name("sim-unsupervised").problems("tiny", 0)


def joined(points):
    return neighbor_joining(squareform(pdist(points)), PROBLEM.leaves)


def test_standardised_features_count_the_same():
    x = PROBLEM.features
    outcome = method_by_name("direct-standardized").run(PROBLEM, 0)
    assert outcome.trees == {"given": joined((x - x.mean(axis=0)) / x.std(axis=0))}


def test_principal_components_are_those_of_the_covariance():
    x = PROBLEM.features - PROBLEM.features.mean(axis=0)
    _, directions = np.linalg.eigh(x.T @ x)
    trees = method_by_name("pca").run(PROBLEM, 0).trees
    assert list(trees) == ["pca-5", "pca-10", "pca-20"]
    for d in (5, 10):
        assert trees[f"pca-{d}"].same_topology(joined(x @ directions[:, -d:]))
    assert trees["pca-20"].same_topology(joined(x))  # 16 leaves have 15 components


def test_projections_are_drawn_from_the_seed():
    method = method_by_name("random-projection")
    trees = method.run(PROBLEM, 3).trees
    assert list(trees) == ["projection-2", "projection-5", "projection-10"]
    assert trees == method.run(PROBLEM, 3).trees
    assert trees != method.run(PROBLEM, 4).trees
