"""Admission of names: it decides without the database whether a name gets its own row on a day.

A *known* name is a page of the site, or was among yesterday's most read. Other names need networks
that vouch for them. Each network may vouch for a few names a day, so a stranger who makes names up
does not use up the room for them.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

# The ground of an admission: the name is known, or one network or two vouch for it.
Via = Literal["known", "one", "two"]
# The cause of a refusal: the day has no room; the one network needs another; the networks have
# vouched for as many names as they may.
Cause = Literal["full", "unconfirmed", "spent"]
CAUSES: Final[tuple[Cause, ...]] = ("full", "unconfirmed", "spent")
# No stranger invents a name that so many networks use.
_ENOUGH = 2


@dataclass(frozen=True)
class Room:
    """The limits of a day's names.

    names: known names, and as many other names.
    by_one: other names with a single network.
    of_network: names that a network may vouch for.
    """

    names: int
    by_one: int
    of_network: int


@dataclass
class Tally:
    """The numbers of a day's names: known names, other names, and of these with one network."""

    known: int = 0
    names: int = 0
    one: int = 0

    def add(self, via: Via) -> None:
        """Count a name."""
        self.known += via == "known"
        self.names += via != "known"
        self.one += via == "one"


@dataclass
class Candidate:
    """A name without a row, and the networks of the batch that ask for it."""

    key: int
    networks: set[str]
    is_known: bool


@dataclass
class Admission:
    """The admitted and the refused names, and the votes that networks cast."""

    via: dict[str, Via] = field(default_factory=dict)
    causes: dict[str, Cause] = field(default_factory=dict)
    cast: dict[str, list[int]] = field(default_factory=dict)


def decide(
    asked: Mapping[str, Candidate], votes: Mapping[str, set[int]], tally: Tally, room: Room
) -> Admission:
    """Admit names in their order; `votes` are the keys of names by network. Changes `tally`."""
    decision = Admission()
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
    """The votes of all networks, the number of a name's votes, and the decision for new votes."""

    held: dict[str, set[int]]
    voters: int
    decision: Admission


def _decide(asked: Candidate, ballot: _Ballot, tally: Tally, room: Room) -> Via | Cause:
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
