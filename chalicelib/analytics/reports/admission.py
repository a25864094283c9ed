"""Which names of a day have a row of their own, decided without the database.

A *known* name is a page of the site, or was among yesterday's most read. Other names need networks
that vouch for them. Each network may vouch for a few names a day, so a stranger who makes names up
does not use up the room for them.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

# By what a name was admitted: known, or vouched for by one network or two.
Via = Literal["known", "one", "two"]
# Why a name was not: the day has no room; its one network needs another; its networks have vouched
# for as many names as they may.
Cause = Literal["full", "unconfirmed", "spent"]
CAUSES: Final[tuple[Cause, ...]] = ("full", "unconfirmed", "spent")
# A name in as many mouths is nobody's invention.
_ENOUGH = 2


@dataclass(frozen=True)
class Room:
    """How many names a day may have.

    `names` bounds the known ones, and the others too, and `by_one` of these may have but one
    network.
    `of_network` is how many names a network vouches for.
    """

    names: int
    by_one: int
    of_network: int


@dataclass
class Tally:
    """The names that a day has: known ones, all others, and those of them with one network."""

    known: int = 0
    names: int = 0
    one: int = 0

    def add(self, via: Via) -> None:
        """Count a name."""
        self.known += via == "known"
        self.names += via != "known"
        self.one += via == "one"


@dataclass
class Asked:
    """A name that has no row yet, and the networks of the batch that ask for it."""

    key: int
    networks: set[str]
    is_known: bool


@dataclass
class Decision:
    """What became of names, and the votes that networks cast."""

    via: dict[str, Via] = field(default_factory=dict)
    causes: dict[str, Cause] = field(default_factory=dict)
    cast: dict[str, list[int]] = field(default_factory=dict)


def decide(
    asked: Mapping[str, Asked], votes: Mapping[str, set[int]], tally: Tally, room: Room
) -> Decision:
    """Admit names in their order; `votes` are the keys of names by network, `tally` is changed."""
    decision = Decision()
    held = {network: set(keys) for network, keys in votes.items()}
    voters = Counter(key for keys in held.values() for key in keys)
    for name, one in sorted(asked.items()):
        ballot = _Ballot(held, voters[one.key], decision)
        found: Any = _decide(one, ballot, tally, room)
        if found in CAUSES:
            decision.causes[name] = found
        else:
            decision.via[name] = found
            tally.add(found)
    return decision


class _Ballot(NamedTuple):
    """The votes of all networks, how many a name has, and where new ones are noted."""

    held: dict[str, set[int]]
    voters: int
    decision: Decision


def _decide(asked: Asked, ballot: _Ballot, tally: Tally, room: Room) -> Via | Cause:
    if asked.is_known and tally.known < room.names:
        return "known"
    if tally.names >= room.names:
        return "full"
    voters = ballot.voters
    for network in sorted(asked.networks):
        mine = ballot.held.setdefault(network, set())
        if voters < _ENOUGH and asked.key not in mine and len(mine) < room.of_network:
            mine.add(asked.key)
            ballot.decision.cast.setdefault(network, []).append(asked.key)
            voters += 1
    if voters >= _ENOUGH:
        return "two"
    if not voters:
        return "spent"
    return "one" if tally.one < room.by_one else "unconfirmed"
