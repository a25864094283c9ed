"""What the activity feed costs: its pages at any size, and re-ranking an action for its readers.

The floor of a page is the source's two queries, sent by the driver with nothing around them; that
of a ranking is one `update_many` that raises the same number of items.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial

from bench.calls import AppCalls, Caller, HttpCalls
from bench.case import Case, Work
from bench.stage import Stage
from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions, events
from chalicelib.social.activity.actions.shapes import fields_for
from chalicelib.social.activity.feed import items, reading, reranking
from chalicelib.social.activity.org import people
from chalicelib.social.activity.org.forms import OrgSettings
from chalicelib.social.delivery import state
from chalicelib.social.paging import ListPosition, older_than
from local import recruiting as _recruiting  # noqa: F401 - registers types

ACTOR, READER = Principal("actor", "Actor"), "reader"
PLACE = OrgSettings(team="hiring", department="people")
PAGE = 25
# Actions beyond these are in feeds, and are never read.
BODIES = 10_000
_PAGE_ORDER = [("relevancy", -1), ("action_id", -1)]


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield pages at three sizes, rankings, and a page through each door."""
    yield list(_pages(stage))
    yield list(_rankings(stage))
    yield from _doors(stage)


def _pages(stage: Stage) -> Iterator[Case]:
    """Give the first page of a feed and one half-way down, where newer items are counted."""
    for size in stage.sizes(100, 10_000, 100_000):
        here = stage.with_database(f"feed-{size}").runtime
        times = seed_feed(here, size)
        calls = AppCalls(here, READER)
        case = partial(Case, size=size, unit="items", ratio_at_most=2.0)
        yield case("first page of a feed", _page(calls), _raw_page(here))
        middle = ListPosition(*times[min(size, BODIES) // 2])
        below = reading.cursor_of(here, READER, here.now(), middle)
        yield case("later page of a feed", _page(calls, below), _raw_page(here, middle))


def _page(calls: Caller, cursor: str | None = None) -> Work:
    query = {"limit": str(PAGE)} | ({"cursor": cursor} if cursor else {})
    return lambda: calls("GET", "/feed", {}, query)


def _raw_page(runtime: Runtime, after: ListPosition | None = None) -> Work:
    """Return the two queries of a page: places by relevancy, then their actions."""
    places, bodies = runtime.database[items.ITEMS.name], runtime.database[actions.ACTIONS.name]
    mine = {"user_id": READER, "hidden": False, **older_than(after, "relevancy", "action_id")}

    def work() -> object:
        fields = {"_id": 0, "relevancy": 1, "action_id": 1}
        found = places.find(mine, fields).sort(_PAGE_ORDER).limit(PAGE + 1)
        ids = [item["action_id"] for item in found]
        return list(bodies.find({"_id": {"$in": ids}}, fields_for(READER)))

    return work


def _rankings(stage: Stage) -> Iterator[Case]:
    """Give the work that a comment makes, for subscribers who are all tied to its author."""
    for size in stage.sizes(100, 1_000, 10_000):
        here = stage.with_database(f"ranking-{size}").runtime
        ranked, raw = (seed_subscribers(here, size, name) for name in ("ranked", "raw"))
        comment = Comments(here, ranked)
        yield Case(
            "ranking after a comment",
            comment.rank,
            _raw_ranking(here, raw),
            floor_is="update_many of as many items",
            size=size,
            unit="subscribers",
            items=size,
            door="function",
            prepare=comment.write,
        )


class Comments:
    """Comments on one action, each ranked by itself."""

    def __init__(self, runtime: Runtime, action_id: str) -> None:
        self._runtime = runtime
        self._action_id = action_id
        self._event_id = ""

    def write(self) -> None:
        """Write another comment."""
        written = events.comment(self._runtime, self._action_id, ACTOR, "So it is")
        self._event_id = written["id"]

    def rank(self) -> None:
        """Do what the comment's message asks for."""
        reranking.rank(self._runtime, self._action_id, self._event_id, "")


def _raw_ranking(runtime: Runtime, action_id: str) -> Work:
    rows = runtime.database[items.ITEMS.name]

    def work() -> object:
        now = runtime.now()
        change = {"$max": {"relevancy": now}, "$set": {"risen": now, "own": False}}
        return rows.update_many({"action_id": action_id}, change)

    return work


def _doors(stage: Stage) -> Iterator[list[Case]]:
    """Give the first page through each door."""
    here = stage.with_database("doors")
    runtime = here.runtime
    seed_feed(runtime, 1_000)
    query, raw = PageQuery(limit=PAGE), _raw_page(runtime)
    with here.server() as url:
        case = partial(Case, "first page of a feed, by door", floor=raw)
        http = _page(HttpCalls(url, runtime, READER))
        yield [
            case(work=lambda: reading.read(runtime, READER, query), door="function"),
            case(work=_page(AppCalls(runtime, READER))),
            case(work=http, door="HTTP"),
            case(work=http, door="HTTP", connections=8),
        ]


def seed_feed(runtime: Runtime, size: int) -> list[tuple[datetime, str]]:
    """Give the reader this many actions of a colleague, a minute apart; return their places."""
    people.put(runtime, READER, PLACE)
    start = runtime.now() - timedelta(minutes=size)
    times = [start + timedelta(minutes=number) for number in range(size)]
    places = [(time, new_id(time, runtime.random)) for time in times]
    _insert(runtime, [_item(READER, id_, time) for time, id_ in places])
    bodies = [_action(runtime, id_, time) for time, id_ in places[-BODIES:]]
    runtime.database[actions.ACTIONS.name].insert_many(bodies, ordered=False)
    return places[::-1]


def seed_subscribers(runtime: Runtime, size: int, name: str) -> str:
    """Give this many colleagues an action; return its id."""
    now = runtime.now()
    colleagues = [f"u{number:06}" for number in range(size)]
    if people.find(runtime.database, colleagues[0])["version"] == 0:
        _seed_people(runtime, [ACTOR.id, *colleagues])
    runtime.database[actions.ACTIONS.name].insert_one(_action(runtime, name, now))
    _insert(runtime, [_item(user_id, name, now) for user_id in colleagues])
    return name


def _seed_people(runtime: Runtime, user_ids: Sequence[str]) -> None:
    place = {**people.NOWHERE, "team": PLACE.team, "department": PLACE.department}
    since = {"since": runtime.now() - timedelta(days=1), "until": people.OPEN}
    runtime.database[people.PLACES.name].insert_many(
        [{"user_id": user_id, **since, **place} for user_id in user_ids], ordered=False
    )
    today = {**people.NEW_PERSON, **place, "version": 1}
    runtime.database[people.PEOPLE.name].insert_many(
        [{"_id": user_id, **today} for user_id in user_ids], ordered=False
    )


def _insert(runtime: Runtime, documents: Sequence[Document]) -> None:
    runtime.database[items.ITEMS.name].insert_many(documents, ordered=False)


def _item(user_id: str, action_id: str, time: datetime) -> Document:
    """Return an item, as a fan-out makes it."""
    return {
        "_id": items.item_id(user_id, action_id),
        "user_id": user_id,
        "action_id": action_id,
        "relevancy": time,
        "risen": time,
        "own": False,
        "hidden": False,
        "hidden_version": 0,
        "refilled": 0,
    }


def _action(runtime: Runtime, action_id: str, conducted: datetime) -> Document:
    """Return an application's rating of the usual length, its fan-out done."""
    application = {
        "applicant_id": "mary",
        "applicant_name": "Mary Fanning",
        "position_id": "engineer",
        "position_name": "Senior Software Engineer",
    }
    return {
        "_id": action_id,
        "actor": {"id": ACTOR.id, "name": ACTOR.name},
        "conducted": conducted,
        "scope": "department",
        "audience": [],
        "team": PLACE.team,
        "department": PLACE.department,
        "refs": [
            {"id": "mary", "type": "applicant", "name": "Mary Fanning"},
            {"id": "engineer", "type": "position", "name": "Senior Software Engineer"},
        ],
        "descriptor": {
            "type": "application_rating",
            **application,
            "rater_id": ACTOR.id,
            "rater_name": ACTOR.name,
            "rating_score": 4.5,
            "rating_text": "A candidate whom the whole team would like to see again. " * 2,
            "tags": ["skilled", "friendly"],
        },
        "tags": ["skilled", "friendly"],
        "mentions": [ACTOR.id, "engineer", "mary"],
        **actions.UNTOUCHED,
        "fan_out": {**state.new(runtime), "state": "done"},
    }
