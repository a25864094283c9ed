"""Scores of actions for readers, from stored events and people's stored places over time."""

from collections.abc import Collection as Some
from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypedDict

from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import events
from chalicelib.social.activity.actions.events import Event
from chalicelib.social.activity.actions.shapes import StoredRef
from chalicelib.social.activity.feed.relevancy import Penalties, score
from chalicelib.social.activity.org import people
from chalicelib.social.activity.org.places import PersonOverTime
from chalicelib.social.graph.users import By

# The projection of an action to the fields that its relevancy depends on.
FIELDS = {"actor.id": 1, "conducted": 1, "refs.id": 1}


class ScoredAction(TypedDict):
    """An action as `FIELDS` reads it: of its actor and refs only the ids."""

    _id: str
    actor: By
    conducted: datetime
    refs: list[StoredRef]


class Standing(NamedTuple):
    """An action's relevancy for a reader; `own`: by the reader's own event."""

    relevancy: datetime
    own: bool


# Keys: `(reader id, action id)`.
Standings = dict[tuple[str, str], Standing]


class Scored(NamedTuple):
    """The standings of actions, and the number of each action's events after the conducting."""

    standings: Standings
    event_counts: Mapping[str, int]


@dataclass(frozen=True)
class _Ties:
    """The inputs of scores: places over time, ids that can make a personal tie, and penalties."""

    histories: Mapping[str, PersonOverTime]
    named: AbstractSet[str]
    penalties: Penalties


def of_actions(runtime: Runtime, actions: Iterable[ScoredAction], reader_ids: Some[str]) -> Scored:
    """Return the standing of each action with each reader, from all its events."""
    by_id = {action["_id"]: action for action in actions}
    happened = {
        action["_id"]: [Event(action["actor"]["id"], action["conducted"], conducting=True)]
        for action in by_id.values()
    }
    for action_id, event in events.of_actions(runtime.database, by_id):
        happened[action_id].append(event)
    ties = _ties(runtime, by_id.values(), happened.values(), reader_ids)
    standings: Standings = {}
    for action_id, each in happened.items():
        standings |= _standings(by_id[action_id], each, reader_ids, ties)
    return Scored(standings, {action_id: len(each) - 1 for action_id, each in happened.items()})


def of_event(
    runtime: Runtime, action: ScoredAction, event: Event, reader_ids: Some[str]
) -> Standings:
    """Return an action's standings by one event, without readers for whom it does not count."""
    ties = _ties(runtime, [action], [[event]], reader_ids)
    return _standings(action, [event], reader_ids, ties)


def _ties(
    runtime: Runtime,
    actions: Iterable[ScoredAction],
    happened: Iterable[list[Event]],
    reader_ids: Some[str],
) -> _Ties:
    all_events = [event for each in happened for event in each]
    persons = {event.by for event in all_events}
    refs = {ref["id"] for action in actions for ref in action["refs"]}
    times = {event.ts for event in all_events}
    histories = people.histories(runtime.database, persons.union(reader_ids), refs, times)
    places = [place for each in persons for place in histories[each].places]
    managers = {place["manager"] for place in places if place["manager"]}
    return _Ties(histories, refs | persons | (managers - {None}), Penalties.of(runtime.settings))


def _standings(
    action: ScoredAction, happened: list[Event], reader_ids: Some[str], ties: _Ties
) -> Standings:
    """Return an action's standings, with one score for all readers with the same places.

    Most of thousands of readers are in one team.
    """
    refs = {ref["id"] for ref in action["refs"]}
    newest_first = sorted(happened, key=lambda event: event.ts, reverse=True)
    oldest = newest_first[-1].ts
    found: dict[Hashable, Standing | None] = {}
    standings: Standings = {}
    for reader_id in reader_ids:
        reader = ties.histories[reader_id]
        kind = reader_id if reader_id in ties.named else _kind(reader, oldest)
        if kind not in found:
            found[kind] = _best(reader, newest_first, refs, ties)
        standing = found[kind]
        if standing is not None:
            standings[reader_id, action["_id"]] = standing
    return standings


def _kind(reader: PersonOverTime, oldest: datetime) -> Hashable:
    """Return a key, equal for readers with the same ties, apart from ties by the reader's id."""
    return tuple(
        (
            max(place["since"], oldest),
            place["until"],
            place["team"],
            place["department"],
            place["manager"],
            frozenset(place["assigned"]),
        )
        for place in reader.places
    )


def _best(
    reader: PersonOverTime, newest_first: list[Event], refs: AbstractSet[str], ties: _Ties
) -> Standing | None:
    """Return the standing of an action for a reader. None: no event counts."""
    best: Standing | None = None
    for event in newest_first:
        # No event scores higher than its own time; of equal scores, the reader's own event counts.
        if best is not None and best.relevancy > event.ts:
            break
        time = score(reader, event, ties.histories[event.by], refs, ties.penalties)
        if time is not None:
            standing = Standing(time, event.by == reader.id)
            best = standing if best is None else max(best, standing)
    return best
