"""What a reader is to the authors of some posts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

NOBODY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Reader:
    """What a reader is to the authors of some posts; without an id, nobody in particular.

    `circled_by` has, by author, the ids of that author's circles that the reader is in;
    `following` those of the authors whom the reader follows; `blocked` those on the other
    side of a block, whoever made it, and `blocks` says that there are any blocks with anybody;
    `kept` the posts whose audience was written down when
    they were posted, and has the reader in it.
    """

    id: str | None = None
    circled_by: Mapping[str, frozenset[str]] = field(default_factory=dict)
    following: frozenset[str] = NOBODY
    blocked: frozenset[str] = NOBODY
    blocks: bool = False
    kept: frozenset[str] = NOBODY
