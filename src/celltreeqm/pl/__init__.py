"""Figures."""

from ._tree import tree as tree
