"""What MongoDB reads for a listing, a feed and a poll: what they show, by an index, and no more."""

from typing import Any

import pytest

from bench.pages import seed
from chalicelib.content import terms
from chalicelib.content.feeds import reading
from chalicelib.content.nodes import EVER, NODES
from chalicelib.content.publishing import discussions
from chalicelib.content.reading import lists, search
from chalicelib.content.reading.lists import PageList, PagePosition
from chalicelib.content.visibility import in_state
from chalicelib.runtime import Runtime
from chalicelib.terms.finding import MOST_READ
from chalicelib.terms.queries import WordsQuery
from tests.comments.stores.test_indexes import Explained, carries_the_shard_key
from tests.support.commands import Commands

SITE, PAGES, SHOWN, SEARCHED = "harbour", 700, 31, 20
LARGE = 20_000
ORDER = {"published": -1, "_id": -1}


@pytest.fixture
def seeded(runtime: Runtime) -> Runtime:
    seed(runtime, SITE, PAGES)
    return runtime


@pytest.fixture
def large(runtime: Runtime) -> Runtime:
    seed(runtime, SITE, 2 * MOST_READ)
    return runtime


def explained(runtime: Runtime, where: Any, order: Any, fields: Any = None) -> tuple[Any, Any]:
    """Return the counts of a query's execution, and the names of its plan's stages."""
    find = {"find": NODES.name, "filter": where, "sort": order, "limit": SHOWN}
    if fields:
        find["projection"] = fields
    told = runtime.database.command("explain", find, verbosity="executionStats")
    return told["executionStats"], set(_stages(told["queryPlanner"]["winningPlan"]))


def _stages(plan: Any) -> list[str]:
    if isinstance(plan, dict):
        own = [plan["stage"]] if "stage" in plan else []
        return own + [name for each in plan.values() for name in _stages(each)]
    return [name for each in plan for name in _stages(each)] if isinstance(plan, list) else []


@pytest.mark.parametrize("kind", [None, "blog"])
@pytest.mark.parametrize("is_later", [False, True])
def test_a_list_reads_the_pages_that_it_shows(
    seeded: Runtime,
    kind: str | None,
    is_later: bool,  # noqa: FBT001 - the two cases
) -> None:
    now = seeded.now()
    listed = PageList(SITE, kind)
    after = None
    if is_later:
        last = list(lists.find(seeded.database, listed, now, None, 100, {}))[-1]
        assert last["published"]
        after = PagePosition(last["published"], last["_id"])

    counts, stages = explained(seeded, lists.where(listed, now, after), ORDER)

    assert counts["nReturned"] == SHOWN
    # The page that the cursor is of is looked at once more.
    assert counts["totalDocsExamined"] <= SHOWN + is_later
    assert counts["totalKeysExamined"] <= SHOWN + 5
    assert stages <= {"LIMIT", "FETCH", "IXSCAN"}


def test_a_list_of_a_tag_merges_two_indexes(seeded: Runtime) -> None:
    counts, stages = explained(
        seeded, lists.where(PageList(SITE, None, "all"), seeded.now()), ORDER
    )

    assert counts["nReturned"] == SHOWN
    # Of those with an edition to come, the first that has the tag may be looked at as well.
    assert counts["totalDocsExamined"] <= SHOWN + 5
    assert "SORT" not in stages
    assert "COLLSCAN" not in stages


@pytest.mark.parametrize("kind", [None, "blog"])
def test_a_poll_of_a_feed_reads_no_page(seeded: Runtime, kind: str | None) -> None:
    where = lists.where(PageList(SITE, kind), seeded.now())

    counts, stages = explained(seeded, where, ORDER, reading.OF_TAG)

    assert counts["nReturned"] == SHOWN
    assert counts["totalDocsExamined"] == 0
    assert "FETCH" not in stages


def test_the_desk_reads_in_its_order(seeded: Runtime) -> None:
    where = {"site": SITE, "removed": None, "$and": [in_state("live", seeded.now())]}

    _, stages = explained(seeded, where, {"updated": -1, "_id": -1})

    assert "SORT" not in stages
    assert "COLLSCAN" not in stages


@pytest.mark.parametrize(
    ("field", "others"),
    [
        ("next.shown_from", {}),
        ("until", {"published": EVER}),
        ("telling.due", discussions.RESENDING.where),
    ],
)
def test_the_schedule_reads_what_is_due(
    seeded: Runtime, field: str, others: dict[str, Any]
) -> None:
    bounds = {"$lte": seeded.now(), **({} if field == "telling.due" else EVER)}

    counts, stages = explained(seeded, {**others, field: bounds}, {field: 1})

    assert counts["totalDocsExamined"] == counts["totalKeysExamined"] == 0
    assert stages <= {"LIMIT", "FETCH", "IXSCAN"}


def test_of_twenty_thousand_pages_each_list_reads_what_it_shows(runtime: Runtime) -> None:
    """One test for all lists: the pages are stored once."""
    seed(runtime, SITE, LARGE)
    now, updated = runtime.now(), {"updated": -1, "_id": -1}
    desk: Any = {"site": SITE, "removed": None}
    asked = {
        # With the pages to come, which a tag's index has beside the others.
        "all": (lists.where(PageList(SITE), now), ORDER, 5),
        "type": (lists.where(PageList(SITE, "blog"), now), ORDER, 5),
        "tag": (lists.where(PageList(SITE, None, "all"), now), ORDER, 5),
        "type and tag": (lists.where(PageList(SITE, "blog", "all"), now), ORDER, 3 * SHOWN),
        "tag of few": (lists.where(PageList(SITE, None, "tag-3"), now), ORDER, 5),
        "desk": ({**desk, "$and": [in_state("live", now)]}, updated, LARGE // 100 + 5),
        "drafts": ({**desk, "$and": [in_state("draft", now)]}, updated, 5),
        # With the keys of pages whose end is yet to come.
        "ended": ({**desk, "$and": [in_state("ended", now)]}, updated, LARGE // 10),
    }

    for name, (where, order, more) in asked.items():
        counts, stages = explained(runtime, where, order)
        assert counts["totalKeysExamined"] <= SHOWN + more, name
        assert counts["totalDocsExamined"] <= SHOWN + more, name
        assert "SORT" not in stages, name
        assert "COLLSCAN" not in stages, name


@pytest.mark.parametrize("page", [1, 2])
@pytest.mark.parametrize(
    "case",
    [
        ("ferry", 2, SEARCHED),
        ("none", 1, 0),
        ("Number 501", 3, 1),
        ("ferry sails", 3, MOST_READ),
    ],
    ids=str,
)
def test_a_search_reads_no_more_for_a_word_of_all_pages(
    large: Runtime, listened: Runtime, commands: Commands, case: tuple[str, int, int], page: int
) -> None:
    words, trips, most_rows = case
    runtime = large
    query = WordsQuery(q=words, limit=SEARCHED)
    if page == 2:
        following = search.search(runtime, SITE, query)["next"]
        query = query.model_copy(update={"cursor": following})

    with Explained(runtime.database, "content") as explained:
        search.search(runtime, SITE, query)
    search.search(listened, SITE, WordsQuery(q="none"))
    commands.names.clear()
    search.search(listened, SITE, query)

    assert len(commands.names) <= trips
    for each in explained.queries:
        assert "COLLSCAN" not in each["planSummary"]
        assert not each.get("hasSortStage")
    rows = [each for each in explained.queries if each["ns"].endswith("content.term")]
    pages = [each for each in explained.queries if each["ns"].endswith("content.node")]
    # Rows, once more the keys up to the end of the part, and the two ranges of a position.
    assert rows[-1]["keysExamined"] <= 2 * most_rows + 8
    assert rows[-1]["docsExamined"] <= 2 * most_rows + 2
    assert sum(each["docsExamined"] for each in rows[:-1]) == 0, "the index alone counts"
    assert sum(each["docsExamined"] for each in pages) <= SEARCHED
    for each in pages:
        carries_the_shard_key(each)


def test_the_schedule_reads_pages_without_words_alone(seeded: Runtime) -> None:
    with Explained(seeded.database, "content") as explained:
        assert terms.index_due(seeded) == 0

    assert [each["docsExamined"] for each in explained.queries] == [0]
    assert sum(each["keysExamined"] for each in explained.queries) <= 2
