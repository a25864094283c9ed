"""Reading a page's beacon: it drops faulty details and hits one by one, and counts the faults.

A page sends a beacon once, so a faulty detail must not cost a hit, nor a faulty hit the others.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from chalicelib.analytics.counting.forms import SentHit
from chalicelib.analytics.hits import HITS_AT_ONCE
from chalicelib.analytics.visitors import paths
from chalicelib.ids import ID_PATTERN
from chalicelib.texts import drop_controls

# `path`: the beacon loses the hit. `number`: it loses each hit beyond HITS_AT_ONCE. Other faults:
# the hit loses the faulty detail.
Fault = Literal["path", "number", "id", "referrer", "title", "node", "ago_ms"]
MAX_TITLE_CHARACTERS = 200
DAY_MS = 86_400_000
_ID = re.compile(ID_PATTERN)
_NODE = re.compile(r"[A-Za-z0-9._~:-]{1,256}")
Detail = TypeVar("Detail")


class ReadHit(NamedTuple):
    """A hit with valid details; `address` is the path as the page sent it, with its query."""

    path: str
    address: str
    id: str | None
    ref: str | None
    title: str | None
    node: str | None
    ago_ms: int


class Read(NamedTuple):
    """The hits of a beacon, the number of each fault, and the places of the dropped hits."""

    hits: list[ReadHit]
    faults: Counter[Fault]
    dropped: list[int]


def read(sent: Sequence[SentHit]) -> Read:
    """Return the valid hits of a beacon, and its faults."""
    found = Read([], Counter(), [])
    for place, each in enumerate(sent[:HITS_AT_ONCE]):
        hit = _hit(each, found.faults)
        if hit is None:
            found.dropped.append(place)
        else:
            found.hits.append(hit)
    if len(sent) > HITS_AT_ONCE:
        found.faults["number"] += len(sent) - HITS_AT_ONCE
    return found


def _hit(sent: SentHit, faults: Counter[Fault]) -> ReadHit | None:
    path = paths.find(sent.path) if isinstance(sent.path, str) else None
    if path is None:
        faults["path"] += 1
        return None

    def detail(fault: Fault, value: Any, parse: Callable[[Any], Detail | None]) -> Detail | None:
        parsed = None if value is None else parse(value)
        if value is not None and parsed is None:
            faults[fault] += 1
        return parsed

    return ReadHit(
        path=path,
        address=sent.path,
        id=detail("id", sent.id, _id),
        ref=detail("referrer", sent.ref, _text) or None,
        title=detail("title", sent.title, _title) or None,
        node=detail("node", sent.node, _node),
        ago_ms=detail("ago_ms", sent.ago_ms, _milliseconds) or 0,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def _node(value: Any) -> str | None:
    return value if isinstance(value, str) and _NODE.fullmatch(value) else None


def _title(value: Any) -> str | None:
    """Return a title without controls, cut to MAX_TITLE_CHARACTERS and to whole characters."""
    if not isinstance(value, str):
        return None
    shown = str(drop_controls(paths.replace_surrogates(value))).strip()
    return shown[:MAX_TITLE_CHARACTERS].rstrip("\ufffd").strip()


def _milliseconds(value: Any) -> int | None:
    """Return milliseconds, at least 0 and at most a day; None: not a number.

    A changed clock leads to numbers outside of this range.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(max(0, min(value, DAY_MS)))
