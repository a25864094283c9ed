"""Admission of names: decide, without the database, whether a name gets its own row on a day.

A *known* name is a page of the site, or was among the day before's most read names. Any other name
needs votes of networks. A network has a few votes a day, so a stranger who invents names cannot use
up the room.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

# The ground of an admission: the name is known, or one network or two vouch for it.
Via = Literal["known", "one", "two"]
# The cause of a refusal. full: the day has no room for other names. unconfirmed: the name has one
# vote, and the day no room for such names. spent: its networks have no votes left.
Cause = Literal["full", "unconfirmed", "spent"]
CAUSES: Final[tuple[Cause, ...]] = ("full", "unconfirmed", "spent")
# The number of votes that confirm a name; a stranger who invents names has one network.
_ENOUGH = 2


@dataclass(frozen=True)
class Room:
    """The limits of a day's names.

    names: the limit of known names; other names have a second limit of the same size.
    by_one: the limit of other names with a single vote.
    of_network: the limit of the names that one network votes for.
    """

    names: int
    by_one: int
    of_network: int


@dataclass
class Tally:
    """A day's numbers: `known` names, other `names`, and the other names with `one` vote."""

    known: int = 0
    names: int = 0
    one: int = 0

    def add(self, via: Via) -> None:
        """Count an admitted name."""
        self.known += via == "known"
        self.names += via != "known"
        self.one += via == "one"


@dataclass
class Candidate:
    """A name without a row: its digest as `key`, and the batch's networks that ask for it."""

    key: int
    networks: set[str]
    is_known: bool


@dataclass
class Admission:
    """The ground of each admitted name, the cause of each refusal, and new votes by network."""

    via: dict[str, Via] = field(default_factory=dict)
    causes: dict[str, Cause] = field(default_factory=dict)
    cast: dict[str, list[int]] = field(default_factory=dict)


def decide(
    asked: Mapping[str, Candidate], votes: Mapping[str, set[int]], tally: Tally, room: Room
) -> Admission:
    """Decide on each name, in the order of names, and count admitted names in `tally`.

    `votes`: the keys of the names that each network has voted for.
    """
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
    """The voting on a name. held: the keys of all names that each network has voted for.

    voters: the number of votes on this name. decision: takes the new votes.
    """

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
