"""How near actions are to their readers, from what is stored of both."""

from collections.abc import Collection as Some
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social.activity import events, people
from chalicelib.social.activity.relevancy import Event, Penalties, Person, score

# What of an action has a part in its relevancy.
FIELDS = {"actor.id": 1, "conducted": 1, "refs.id": 1}


class Standing(NamedTuple):
    """How near an action is to a reader, and whether by the reader's own doing."""

    relevancy: datetime
    own: bool


# By reader and action.
Standings = dict[tuple[str, str], Standing]


def of_actions(runtime: Runtime, actions: Iterable[Document], reader_ids: Some[str]) -> Standings:
    """Return how each action stands with each reader, from all that happened to it."""
    by_id = {action["_id"]: action for action in actions}
    happened = {
        action["_id"]: [Event(action["actor"]["id"], action["conducted"], conducting=True)]
        for action in by_id.values()
    }
    for action_id, event in events.of_actions(runtime.database, by_id):
        happened[action_id].append(event)
    persons = {event.by for each in happened.values() for event in each}
    refs = {ref["id"] for action in by_id.values() for ref in action["refs"]}
    histories = people.histories(runtime.database, persons.union(reader_ids), refs)
    standings: Standings = {}
    for action_id, each in happened.items():
        standings |= _standings(runtime, by_id[action_id], each, reader_ids, histories)
    return standings


def of_event(runtime: Runtime, action: Document, event: Event, reader_ids: Some[str]) -> Standings:
    """Return what one event makes of an action, for those readers for whom it counts."""
    refs = {ref["id"] for ref in action["refs"]}
    histories = people.histories(runtime.database, {event.by, *reader_ids}, refs, event.ts)
    return _standings(runtime, action, [event], reader_ids, histories)


def _standings(
    runtime: Runtime,
    action: Document,
    happened: list[Event],
    reader_ids: Some[str],
    histories: Mapping[str, Person],
) -> Standings:
    refs = {ref["id"] for ref in action["refs"]}
    penalties = Penalties.of(runtime.settings)
    standings: Standings = {}
    for reader_id in reader_ids:
        reader = histories[reader_id]
        scores = ((score(reader, e, histories[e.by], refs, penalties), e.by) for e in happened)
        counting = [Standing(time, by == reader_id) for time, by in scores if time]
        if counting:
            standings[reader_id, action["_id"]] = max(counting)
    return standings
