"""What a reader is to the authors of some posts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NotRequired, TypedDict

NOBODY: frozenset[str] = frozenset()


class CompleteSince(TypedDict):
    """The instants from which on the stored news, and what was `sent` to a user, are complete.

    Posts before them are read from the posts. The instants only ever rise. `design` has stored
    the news; without it, any has.
    """

    design: NotRequired[str]
    news: datetime
    sent: datetime


@dataclass(frozen=True)
class Reader:
    """What a reader is to the authors of some posts; without an id, nobody in particular.

    `circled_by` has, by author, the keys of that author's circles that the reader is in;
    `following` the authors that the reader follows; `blocked` the authors who block the reader
    or are blocked, and `blocks` says whether there is a block with anybody; `kept` the posts
    whose audience was recorded at posting and has the reader in it; `complete_since` the instants
    of the reader's stored news.
    """

    id: str | None = None
    circled_by: Mapping[str, frozenset[str]] = field(default_factory=dict)
    following: frozenset[str] = NOBODY
    blocked: frozenset[str] = NOBODY
    blocks: bool = False
    kept: frozenset[str] = NOBODY
    complete_since: CompleteSince | None = None
