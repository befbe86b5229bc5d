"""What to say where matplotlib is missing."""

from __future__ import annotations

__all__ = ["require_matplotlib"]


def require_matplotlib() -> None:
    """Raise an ImportError that says how to get matplotlib if it is missing."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise ImportError('Drawing needs matplotlib, which is missing: pip install "celltreeqm[plot]"') from error
