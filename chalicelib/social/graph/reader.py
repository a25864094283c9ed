"""What a reader is to the authors of some posts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

NOBODY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Reader:
    """What a reader is to the authors of some posts; without an id, nobody in particular.

    `circled_by` has, by author, the keys of that author's circles that the reader is in;
    `following` the authors that the reader follows; `blocked` the authors who block the reader
    or are blocked, and `blocks` says whether there is a block with anybody; `kept` the posts
    whose audience was recorded at posting and has the reader in it.
    """

    id: str | None = None
    circled_by: Mapping[str, frozenset[str]] = field(default_factory=dict)
    following: frozenset[str] = NOBODY
    blocked: frozenset[str] = NOBODY
    blocks: bool = False
    kept: frozenset[str] = NOBODY
