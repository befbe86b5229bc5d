"""Names for functions that others may add: each name belongs to one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Registry"]

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    """Entries by name; ``function_of`` gives the function of an entry."""

    def __init__(self, what: str, function_of: Callable[[Entry], Callable[..., Any]]) -> None:
        self._what = what
        self._function_of = function_of
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, entry: Entry) -> None:
        """Add an entry; a module that is loaded again may bring its own entries again."""
        if not name.replace("-", "").replace("_", "").isalnum():
            raise ValueError(f"{name!r} was given as the name of a {self._what}; use letters, digits, '-' and '_'.")
        if name in self._entries and self._origin(self._entries[name]) != self._origin(entry):
            where = self._origin(self._entries[name])[0]
            raise ValueError(f"There is a {self._what} called {name!r} already, in {where}. Choose another name.")
        self._entries[name] = entry

    def get(self, name: str) -> Entry:
        """The entry of a name, or an error that lists the names there are."""
        if name not in self._entries:
            known = ", ".join(self._entries) or "none"
            raise ValueError(f"There is no {self._what} called {name!r}; there are: {known}.")
        return self._entries[name]

    def names(self) -> tuple[str, ...]:
        """All names, in the order in which they were added."""
        return tuple(self._entries)

    def _origin(self, entry: Entry) -> tuple[str, str]:
        function = self._function_of(entry)
        return function.__module__, function.__qualname__
