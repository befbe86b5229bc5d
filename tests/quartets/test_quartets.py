import dataclasses

import numpy as np
import pytest

from celltreeqm.quartets import Quartets


def test_arrays_are_typed_and_read_only_and_the_value_cannot_be_changed():
    quartets = Quartets([[3, 1, 2, 0]], [2])
    assert quartets.leaves.dtype == np.int32
    assert quartets.topology.dtype == np.int8
    with pytest.raises(ValueError, match="read-only"):
        quartets.leaves[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        quartets.topology[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError, match="topology"):
        quartets.topology = np.zeros(1)  # type: ignore[misc]


def test_changing_the_arrays_given_changes_nothing():
    leaves, topology = np.array([[0, 1, 2, 3]], dtype=np.int32), np.array([1], dtype=np.int8)
    quartets = Quartets(leaves, topology)
    leaves[0, 0], topology[0] = 9, 0
    assert quartets.leaves.tolist() == [[0, 1, 2, 3]]
    assert quartets.topology.tolist() == [1]


def test_changing_what_a_view_shows_changes_nothing():
    leaves = np.array([[0, 1, 2, 3], [4, 5, 6, 7]], dtype=np.int32)
    view = leaves[:1]
    view.flags.writeable = False
    quartets = Quartets(view, [0])
    leaves[0, 0] = 9
    assert quartets.leaves.tolist() == [[0, 1, 2, 3]]


def test_no_quartets_are_quartets():
    assert len(Quartets([], [])) == len(Quartets(np.empty((0, 4), dtype=int), [])) == 0
    assert repr(Quartets([], [])) == "Quartets(0: 0 ab|cd, 0 ac|bd, 0 ad|bc)"


@pytest.mark.parametrize(
    ("leaves", "topology", "message"),
    [
        ([[0, 1, 2]], [0], r"shape \(1, 3\).*\[q, 4\] was needed"),
        ([0, 1, 2, 3], [0], r"shape \(4,\)"),
        ([[0.0, 1.0, 2.0, 3.0]], [0], "dtype float64"),
        ([[0, 1, 2, 3], [4, 5, 6, 4]], [0, 0], r"Quartet 1 is \[4, 5, 6, 4\]; its four leaves must differ"),
        ([[0, 1, 2, -1]], [0], r"Quartet 0 is \[0, 1, 2, -1\]; leaf numbers from 0"),
        ([[0, 1, 2, 2**40]], [0], "leaf numbers from 0 to 2147483647"),
        ([[0, 1, 2, 3]], [0, 1], r"topology has shape \(2,\) for 1 quartets"),
        ([[0, 1, 2, 3]], [3], r"values other than 0 \(ab\|cd\)"),
        ([[0, 1, 2, 3]], [-1], "Drop unresolved quartets"),
        ([[0, 1, 2, 3]], [0.5], "values other than 0"),
    ],
)
def test_bad_input_gets_a_sentence(leaves, topology, message):
    with pytest.raises(ValueError, match=message):
        Quartets(leaves, topology)
