"""The paper's numbers: all there, as printed, and consistent with each other."""

import numpy as np
import pytest

from celltreeqm.benchmark import paper_number, paper_numbers
from celltreeqm.benchmark._paper import COUNTERPARTS
from celltreeqm.simulate import SCENARIOS

SIMULATED = "tbl:supervised_simulation"
ROWS = [f"{letter}{number}" for letter in "ABCD" for number in (1, 2, 3)]


def test_each_number_has_a_place_of_its_own_and_every_table_is_whole():
    numbers = paper_numbers()
    assert not numbers.duplicated(["table", "group", "row", "column"]).any()
    assert np.isfinite(numbers["value"]).all()
    assert numbers["table"].value_counts().to_dict() == {
        SIMULATED: 12 * 17 - 3 * 4 - 3 * 2,  # B has no alternative tree, C no noise
        "tbl:supervised_full": 3 * 9 * 5 + 3 * 2,
        "tbl:supervsied_celegans_small": 9 * 4 + 2,  # sic
        "tbl:high_level_partition_celegans_small": 3 * 3 * 6,
        "tbl:high_level_partition_celegans_small_full": 3 * 6 * 6,
        "tbl:high_level_partition_celegans_mid_full": 3 * 6 * 6,
        "tbl:partial_label_results_celegans_small": 3 * 3 * 8,
        "tbl:partial_label_elegans_small_full": 3 * 6 * 6,
        "tbl:partial_label_elegans_mid_full": 3 * 6 * 6,
        "tbl:loss_ablation": 50,
        "tbl:c_elegans_stats": 3 * 11,
        "tbl:high_level_partition_quartet_fraction": 4 * (2 + 4 * 2),
        "tbl:partial_labeled_known_fraction_stats": 3 * 3 * 2 * 2,
        "tab:transformer-vs-fc": 2 * 7,
        "app:unsupervised": 8,
    }


@pytest.mark.parametrize(
    "place, value",
    [
        ((SIMULATED, "D3", "Delta g", ""), 129.442),
        ((SIMULATED, "C1", "CellTreeQM G", ""), 0.108),
        (("tbl:supervised_full", "Triplet-p", "Test RF", "C. elegans Large"), 0.993),
        (("tbl:supervised_full", "Direct Recon.", "Test QD", "C. elegans Mid"), 0.579),
        (("tbl:high_level_partition_celegans_mid_full", "Quadruplet", "Delta% U-QD", "Partition Level: 2"), -0.188),
        (("tbl:partial_label_elegans_small_full", "Triplet-G", "Train RF", "Known Fraction: 0.3"), 0.169),
        (("tbl:c_elegans_stats", "C. elegans Mid", "Topology: Mean PD", ""), 13.53),
        (("tbl:high_level_partition_quartet_fraction", "Level 4", "Counts", "C. elegans Large"), 116649187),
        (("tab:transformer-vs-fc", "C.elegans Small", "CellTreeQM-fc", ""), 0.400),
        (("app:unsupervised", "RF", "Direct Recon. Signal", ""), 0.128),
    ],
)
def test_numbers_are_those_printed(place, value):
    table, row, column, group = place
    assert paper_number(table, row, column, group=group) == value


def test_the_scenarios_are_the_rows_of_the_papers_table():
    columns = {"w": "max_length", "d_sig": "signal", "d_noise": "noise", "d_AltSig": "alternative", "d": "n_features"}
    numbers = paper_numbers(SIMULATED).set_index(["row", "column"])["value"]
    for row in ROWS:
        for column, field in columns.items():
            assert numbers.get((row, column), 0) == getattr(SCENARIOS[row], field), (row, column)


def test_shares_of_quartets_are_the_counts_over_all():
    fractions = paper_numbers("tbl:partial_labeled_known_fraction_stats")
    for group, rows in fractions.groupby("group"):
        counts = rows[rows["column"] == "Count"].set_index("row")["value"]
        shares = rows[rows["column"] == "Prop."].set_index("row")["value"]
        np.testing.assert_allclose(shares, counts / counts.sum(), atol=6e-4, err_msg=str(group))


def test_every_counterpart_has_its_numbers():
    info = {"scenario": "B2", "level": 3.0}
    for found in COUNTERPARTS:
        rows = [found.row_of(info | {"row": row}) for row in ("a1", "baseline", "g1", "g2")]
        row = next((row for row in rows if row is not None), None)
        assert row is not None, found
        assert 0 < found.number(row) <= 1
    assert COUNTERPARTS[0].row_of({"scenario": "weak"}) is None
    assert COUNTERPARTS[0].row_of({}) is None


def test_what_is_not_in_the_paper_is_refused():
    with pytest.raises(ValueError, match="the paper's tables are tbl:"):
        paper_numbers("tbl:nothing")
    with pytest.raises(ValueError, match="The paper has no number in table 'tbl:loss_ablation', group '', row 'z9'"):
        paper_number("tbl:loss_ablation", "z9", "Push")
