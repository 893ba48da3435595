"""Who hears of progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

#: Called with what is being done, how far it is, and its length where that is known.
Listener: TypeAlias = Callable[[str, int, int | None], object]


@contextmanager
def listening(progress: bool | Listener | None) -> Iterator[Listener | None]:
    """The callback for the native half: none, the caller's own, or bars of tqdm where it is installed."""
    if progress is None or progress is False:
        yield None
    elif callable(progress):
        yield progress
    else:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            yield None
            return
        bars = _Bars(tqdm)
        try:
            yield bars
        finally:
            bars.close()


class _Bars:
    """One bar at a time."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._what: str | None = None
        self._bar: Any = None

    def __call__(self, what: str, done: int, total: int | None) -> None:
        if what != self._what:
            self.close()
            self._what = what
            self._bar = self._tqdm(total=total, desc=what, unit_scale=True, leave=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
