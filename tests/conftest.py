"""Settings and fixtures that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run, and no deadline: the first call of a kernel compiles it.
settings.register_profile("celltreeqm", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("celltreeqm")

os.environ.setdefault("MPLBACKEND", "agg")  # figures are drawn, never shown


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data, beside the repository or in $CELLTREEQM_DATA; tests skip where it is missing."""
    folder = Path(os.environ.get("CELLTREEQM_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"The real data are not in {folder}; name another folder in CELLTREEQM_DATA.")
    return folder
