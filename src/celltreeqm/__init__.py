"""Cell lineage trees from what cells look like, with priors that are honoured."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import pl as pl
    from .parallel import parallel_map as parallel_map
    from .simulate import random_tree as random_tree
    from .simulate import simulate_brownian as simulate_brownian
    from .trees import Tree as Tree

# What stands where. A room is loaded when one of its names is first used: `import celltreeqm` itself loads nothing.
_CONTENTS = {
    "trees": ("Tree",),
    "simulate": ("random_tree", "simulate_brownian"),
    "parallel": ("parallel_map",),
}
_ROOMS = ("pl",)
_ROOM_OF = {name: room for room, names in _CONTENTS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _ROOM_OF:
        value = getattr(importlib.import_module(f".{_ROOM_OF[name]}", __name__), name)
    elif name in _ROOMS:
        value = importlib.import_module(f".{name}", __name__)
    elif name == "__version__":
        value = importlib.import_module("importlib.metadata").version(__name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_ROOM_OF, *_ROOMS, "__version__", *(name for name in globals() if name.startswith("__"))})
