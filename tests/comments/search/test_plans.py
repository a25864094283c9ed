"""What a search reads: a bounded number of keys, in order, by the index of words."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from pymongo.database import Database

from chalicelib.comments import search
from chalicelib.comments.forms import NewComment
from chalicelib.comments.terms import upkeep
from chalicelib.comments.terms.rows import TERMS, CommentTerms, own_form, own_words
from chalicelib.comments.writing.post import post_comment
from chalicelib.database import Document, open_database
from chalicelib.database.migration import migrate
from chalicelib.http.paging import Position
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.terms.finding import MOST_READ, FoundTerms, TermsQuery, find
from chalicelib.terms.queries import WordsQuery
from chalicelib.wiring import schema
from tests.comments.stores.test_indexes import Explained, carries_the_shard_key
from tests.comments.support.searching import SEARCH, post
from tests.support.commands import Commands
from tests.support.http_client import Client

ROWS, RARE = 12_000, 10
START = datetime(2026, 1, 1, tzinfo=UTC)
# A merge of a few ranges reads one key beyond in each of them.
BEYOND = 8


@pytest.fixture(scope="module")
def site(mongo_client: Any) -> Iterator[Database[Document]]:
    """A database with rows of two sites: half of the comments have `even`, the others `odd`."""
    database = open_database(mongo_client, "plaza-test-terms")
    mongo_client.drop_database(database.name)
    migrate(database, schema.COLLECTIONS)
    for name in ("blog", "shop"):
        TERMS.of(database).insert_many([_row(name, number) for number in range(ROWS)])
    yield database
    mongo_client.drop_database(database.name)


def _row(site: str, number: int) -> CommentTerms:
    words = ["all", "odd" if number % 2 else "even", f"w{number}"]
    if number % (ROWS // RARE) == 0:
        words.append("rare")
    if number == 1:
        words += ["odd", "even"]
    # Three at each instant.
    posted = START + timedelta(minutes=number // 3)
    return {
        "_id": f"{site}:moon/{number:06}",
        "site": site,
        "posted": posted,
        "author_id": "ann",
        "revision": 0,
        "terms": words,
    }


def part(
    database: Database[Document],
    words: list[str],
    limit: int = 20,
    after: Position | None = None,
    user_id: str | None = None,
) -> FoundTerms:
    own = own_form(user_id) if user_id else ""
    return find(database, TermsQuery(TERMS, "blog", words, after, limit, own))


def walk(
    database: Database[Document], words: list[str], limit: int, user_id: str | None = None
) -> list[str]:
    ids: list[str] = []
    found = part(database, words, limit, None, user_id)
    while True:
        ids += [row["_id"] for row in found.rows]
        if found.last is None:
            return ids
        found = part(database, words, limit, found.last, user_id)


def expected(*words: str) -> list[str]:
    rows = (_row("blog", number) for number in range(ROWS))
    some = [row for row in rows if set(words) <= set(row["terms"])]
    some.sort(key=lambda row: (-row["posted"].timestamp(), row["_id"]))
    return [row["_id"] for row in some]


@pytest.mark.parametrize("user_id", [None, "ann"])
@pytest.mark.parametrize(
    ("words", "limit"),
    [
        (["rare"], 3),
        (["even"], 500),
        (["all", "even"], 300),
        (["rare", "even"], 4),
        (["odd", "even"], 20),
        (["all", "w17", "odd"], 20),
        (["none", "all"], 20),
    ],
    ids=str,
)
def test_all_pages_together_have_each_row_once_in_order(
    site: Database[Document], words: list[str], limit: int, user_id: str | None
) -> None:
    assert walk(site, words, limit, user_id) == expected(*words)


@pytest.mark.parametrize("user_id", [None, "ann"])
@pytest.mark.parametrize("page", [1, 2])
@pytest.mark.parametrize("words", [["all"], ["even"], ["rare"], ["w17"], ["none"]], ids=str)
def test_a_word_of_half_of_all_comments_costs_no_more_than_a_rare_word(
    site: Database[Document], words: list[str], page: int, user_id: str | None
) -> None:
    after = part(site, words, 3).last if page == 2 else None
    with Explained(site) as explained:
        found = part(site, words, 20, after, user_id)

    (query,) = explained.queries
    assert query["keysExamined"] <= len(found.rows) + BEYOND
    assert query["docsExamined"] <= len(found.rows) + 1
    assert not query.get("hasSortStage")
    carries_the_shard_key(query)


@pytest.mark.parametrize("page", [1, 2])
@pytest.mark.parametrize("user_id", [None, "ann"])
@pytest.mark.parametrize(
    ("words", "most_rows"),
    [
        (["all", "rare"], RARE),
        (["all", "even", "odd", "w17"], 1),
        (["all", "none"], 0),
        (["even", "odd"], MOST_READ),
        (["all", "even"], MOST_READ),
    ],
    ids=str,
)
def test_several_words_read_a_bounded_number_of_rows_of_the_rarest(
    site: Database[Document], words: list[str], most_rows: int, user_id: str | None, page: int
) -> None:
    after = part(site, words, 3).last if page == 2 else None
    with Explained(site) as explained:
        part(site, words, 20, after, user_id)

    count, rows = explained.queries
    assert count["keysExamined"] <= MOST_READ * len(words) + BEYOND
    assert count["docsExamined"] == 0, "the index alone counts"
    # Rows, and once more the keys up to the end of the part.
    assert rows["keysExamined"] <= 2 * most_rows + BEYOND
    assert rows["docsExamined"] <= 2 * most_rows + 1
    for query in (count, rows):
        where = query["command"]["pipeline"][0]["$match"]
        assert {each.get("site") for each in where.get("$or", [where])} == {"blog"}
        assert "COLLSCAN" not in query["planSummary"]
        assert not query.get("hasSortStage")


def test_words_that_seldom_meet_have_short_pages_with_a_next(site: Database[Document]) -> None:
    first = part(site, ["even", "odd"])

    assert (first.rows, first.last is None) == ([], False)
    assert walk(site, ["even", "odd"], 20) == ["blog:moon/000001"]


def test_a_reader_pays_nothing_for_what_shadowed_people_wrote(site: Database[Document]) -> None:
    for number in range(3):
        row = _row("blog", number)
        row["_id"], row["terms"] = f"blog:sun/{number}", own_words("bob", ["all", "rare"])
        TERMS.of(site).insert_one(row)
    try:
        with Explained(site) as explained:
            part(site, ["rare"], 20, None, "ann")
        (query,) = explained.queries
        assert query["keysExamined"] <= RARE + BEYOND
        assert walk(site, ["rare", "all"], 3, "ann") == expected("rare", "all")
        assert len(walk(site, ["rare", "all"], 3, "bob")) == RARE + 3
    finally:
        TERMS.of(site).delete_many({"site": "blog", "_id": {"$regex": "^blog:sun/"}})


def test_a_shadowed_person_finds_what_is_older_than_many_of_their_own(
    site: Database[Document],
) -> None:
    """Neither form of a word alone is so frequent that a part ends early; both together are."""
    rows, later = list[CommentTerms](), START + timedelta(days=30)
    for number in range(1, 1 + MOST_READ * 3 // 5):
        for word in ("calm", "quay"):
            row = _row("blog", number)
            row["_id"], row["terms"] = f"blog:sun/{word}{number}", [word]
            own = {"_id": f"blog:sun/own-{word}{number}", "terms": own_words("bob", [word])}
            rows += [row, {**row, **own, "posted": later}]  # type: ignore[typeddict-item]
    oldest = _row("blog", 0)
    oldest["_id"], oldest["terms"] = "blog:sun/oldest", ["calm", "quay"]
    TERMS.of(site).insert_many([*rows, oldest])
    try:
        assert walk(site, ["calm", "quay"], 20) == ["blog:sun/oldest"]
        assert walk(site, ["calm", "quay"], 20, "bob") == ["blog:sun/oldest"]
    finally:
        TERMS.of(site).delete_many({"site": "blog", "_id": {"$regex": "^blog:sun/"}})


class Heard(NamedTuple):
    """A runtime, and the commands that its client sends."""

    runtime: Runtime
    commands: Commands


@pytest.fixture
def heard(listened: Runtime, commands: Commands) -> Heard:
    return Heard(listened, commands)


@pytest.mark.parametrize(("words", "trips"), [("ferry", 1), ("ferry boat", 2)])
def test_a_search_takes_one_round_trip_for_the_nodes_and_one_for_each_store(
    client: Client, nodes: list[str], heard: Heard, words: str, trips: int
) -> None:
    listened, commands = heard
    ann = client.as_("ann")
    for number in range(30):
        post(ann, nodes[number % len(nodes)], f"ferry boat {number}")
    query = WordsQuery(q=words, limit=25)
    search.search(listened, "blog", query, None)
    commands.names.clear()

    page = search.search(listened, "blog", query, None)

    assert (len(page["comments"]), page["next"] is not None) == (25, True)
    stores = {"documents", "embedded", "buckets"}
    assert len(commands.names) == trips + 1 + len(stores)


def test_a_post_takes_one_round_trip_more_where_comments_are_searched(
    nodes: list[str], client: Client, heard: Heard
) -> None:
    listened, commands = heard
    ann, node = Principal("ann", "Ann"), nodes[0].removeprefix("/nodes/")
    post_comment(listened, node, NewComment(text="first"), ann)
    commands.names.clear()

    post_comment(listened, node, NewComment(text="ferry"), ann)

    assert len(commands.names) <= 7
    assert client.get(f"{SEARCH}?q=ferry").json["comments"] != []


def test_the_schedule_reads_the_sites_that_are_due_alone(runtime: Runtime) -> None:
    with Explained(runtime.database) as explained:
        assert upkeep.index_due(runtime) == 0

    assert [query["keysExamined"] for query in explained.queries] == [0]
