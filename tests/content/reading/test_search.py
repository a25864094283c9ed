"""Search in the pages of a site: visible pages alone, by their words of now, newest first."""

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from chalicelib.content import settings, terms
from chalicelib.content.jobs import run_due
from chalicelib.content.settings_forms import ContentSettings
from chalicelib.runtime import Runtime
from tests.content.support.factories import (
    SITE,
    editor,
    listed,
    node,
    publish,
    published,
    publisher,
    republish,
    save,
    write,
)
from tests.content.support.searching import SEARCH, found, rows
from tests.support.clock import Clock
from tests.support.http_client import Client

# Neighbours of the block of Han, each once.
LONG = "".join(map(chr, range(0x4E00, 0x4E20)))
MINUTE = timedelta(minutes=1)
LINES = [
    ("The last Ferry to Łódź leaves", ["ferry", "LODZ", "leaves ferry", "lódź"]),
    ("Паром уходит в шесть, ёлки", ["паром", "елки ПАРОМ"]),
    ("最后一班渡轮六点开", ["渡轮", "最后一班", "渡"]),
    ("最終のフェリーは六時です", ["フェリー", "ﾌｪﾘｰ", "最終"]),
    ("마지막 페리가 떠나요", ["페리", "떠나요"]),
    ("العبّارة الأخيرة", ["العبارة"]),
]


def shift(clock: Clock, after: int) -> str:
    return (clock.time + after * MINUTE).isoformat()


@pytest.mark.parametrize(("line", "queries"), LINES, ids=lambda each: str(each)[:12])
@pytest.mark.parametrize("place", ["title", "text"])
def test_a_line_of_any_script_is_found_as_readers_type_it(
    site: Client, line: str, queries: list[str], place: str
) -> None:
    for number, (other, _) in enumerate(LINES):
        words = {"title": other} if place == "title" else {"detail": {"text": f"*{other}*"}}
        published(site, f"line-{number}", **words)

    for query in queries:
        assert found(site, query) == [f"line-{[each for each, _ in LINES].index(line)}"]


def test_title_summary_tags_and_text_count(site: Client) -> None:
    published(
        site,
        title="Timetable",
        summary="The last boat",
        tags=["harbour", "winter-sun"],
        detail={
            "text": 'It *sails* at [nine](https://ferry.example/secret "hidden").\n\n- soon\n- late'
        },
    )

    for words in ("timetable", "last boat", "harbour", "winter sun", "SAILS nine", "soon late"):
        assert found(site, words) == ["moon"], words
    for words in ("secret", "ferry", "hidden", "sailsnine", "moon nine"):
        assert found(site, words) == [], words


def test_a_result_is_the_entry_of_the_lists(site: Client) -> None:
    published(site, tags=["a"], summary="A line.", detail={"text": "ferry", "section": "guides"})

    reply = site.get(f"{SEARCH}?q=ferry")

    assert reply.json == {**site.get(f"/content/{SITE}").json}
    assert "text" not in reply.json["entries"][0]["detail"]
    assert reply.headers["Cache-Control"] == "public, max-age=30"


def test_the_words_of_a_title_are_found_however_long_the_text_is(
    site: Client, runtime: Runtime
) -> None:
    text = " ".join(f"w{number}" for number in range(terms.MAX_TERMS + 10))
    published(site, title="Last ferry", summary="boat", tags=["harbour"], detail={"text": text})

    for words in ("ferry last", "boat", "harbour", "w0", "w995"):
        assert found(site, words) == ["moon"], words
    assert found(site, f"w{terms.MAX_TERMS}") == []
    assert [len(each) for each in rows(runtime).values()] == [terms.MAX_TERMS]


@pytest.mark.parametrize("words", ["ferry", "ferry boat"])
@pytest.mark.parametrize("number", [0, 1, 4, 5, 8, 9])
def test_pages_are_found_newest_first_and_a_part_ends_where_they_do(
    site: Client, clock: Clock, number: int, words: str
) -> None:
    for each in range(number):
        published(site, f"page-{each}", detail={"text": "A ferry is a boat"})
        clock.advance(seconds=each % 2)
    published(site, "other")

    first = site.get(f"{SEARCH}?q={words.replace(' ', '+')}&limit=4").json

    assert len(first["entries"]) == min(number, 4)
    assert (first["next"] is not None) == (number > 4)
    everything = found(site, words, 4)
    assert len(everything) == len(set(everything)) == number
    times = [
        site.get(f"/content/{SITE}/page?address={each}").json["published_at"] for each in everything
    ]
    assert times == sorted(times, reverse=True)


def test_an_edit_is_found_by_its_new_words_alone_once_it_is_published(site: Client) -> None:
    page = published(site, detail={"text": "The ferry sails"})
    assert save(editor(site), page, 1, detail={"text": "The train leaves"}).status == 200
    assert (found(site, "ferry"), found(site, "train")) == (["moon"], [])

    assert publish(site, page, 2).status == 200

    assert (found(site, "ferry"), found(site, "train")) == ([], ["moon"])


@pytest.mark.parametrize("end", ["unpublish", "delete", "expire", "expire and tend"])
def test_a_page_that_is_withdrawn_is_not_found(
    site: Client, runtime: Runtime, clock: Clock, end: str
) -> None:
    page = write(editor(site), detail={"text": "ferry"})
    assert publish(site, page, until=shift(clock, 5)).status == 200
    assert found(site, "ferry") == ["moon"]

    if end == "unpublish":
        assert publisher(site).post(f"{node(page)}/unpublish").status == 200
    elif end == "delete":
        assert publisher(site).delete(node(page)).status == 204
    else:
        clock.time += 5 * MINUTE
    if end == "expire and tend":
        run_due(runtime)

    assert found(site, "ferry") == []
    assert rows(runtime).keys() == ({page} if end == "expire" else set())


def test_drafts_and_pages_to_come_are_not_found_by_anybody(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    write(editor(site), "draft", detail={"text": "ferry"})
    for name in ("later", "other"):
        published(site, name, at=shift(clock, 5), detail={"text": "ferry"})
    staff = (site, editor(site), publisher(site))

    for after in (timedelta(0), 5 * MINUTE - timedelta(milliseconds=1)):
        begin, clock.time = clock.time, clock.time + after
        for reader in staff:
            # Not even as a part that is short.
            assert reader.get(f"{SEARCH}?q=ferry&limit=1").json == {"entries": [], "next": None}
        clock.time = begin

    clock.time += 5 * MINUTE
    for _ in range(2):
        assert sorted(found(site, "ferry")) == ["later", "other"]
        run_due(runtime)


def test_an_edition_to_come_is_found_from_its_instant_on_by_its_own_words(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    page = published(site, detail={"text": "the ferry sails"})
    republish(site, page, 1, "the train sails", at=shift(clock, 5))
    published(site, "sun", detail={"text": "the sun sails"})

    clock.time += 5 * MINUTE - timedelta(milliseconds=1)
    assert (found(site, "ferry"), found(site, "train")) == (["moon"], [])
    assert site.get(f"{SEARCH}?q=train&limit=1").json["next"] is None

    clock.time += timedelta(milliseconds=1)
    for _ in range(2):
        assert (found(site, "ferry"), found(site, "train")) == ([], ["moon"])
        assert sorted(found(site, "sails", 1)) == ["moon", "sun"]
        run_due(runtime)
    assert f"{page}/next" not in rows(runtime)


def test_an_edition_to_come_that_is_withdrawn_is_never_found(site: Client, clock: Clock) -> None:
    page = published(site, detail={"text": "ferry"})
    republish(site, page, 1, "train", at=shift(clock, 5))
    republish(site, page, 2, "bus")
    clock.time += 6 * MINUTE

    assert [found(site, words) for words in ("ferry", "train", "bus")] == [[], [], ["moon"]]


def test_the_same_words_to_come_again_are_one_row(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    page = published(site, detail={"text": "ferry"})
    assert publish(site, page, at=shift(clock, 5)).status == 200
    assert rows(runtime).keys() == {page}

    clock.time += 6 * MINUTE

    assert found(site, "ferry") == ["moon"]


def test_a_page_of_an_earlier_date_has_its_place_of_the_lists(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    published(site, "today", detail={"text": "ferry"})
    dates: dict[str, dict[str, Any]] = {
        "old": {"dated": "2020-01-01T00:00:00Z"},
        "later": {"dated": "2019-01-01T00:00:00Z", "at": shift(clock, 5)},
    }
    for name, given in dates.items():
        page = write(editor(site), name, detail={"text": "ferry"})
        assert publish(site, page, **given).status == 200

    assert found(site, "ferry", 1) == listed(site) == ["today", "old"]
    clock.time += 5 * MINUTE
    assert found(site, "ferry", 1) == listed(site) == ["later", "today", "old"]
    run_due(runtime)
    assert found(site, "ferry", 1) == listed(site) == ["today", "old", "later"]


def test_a_page_that_moves_is_found_at_its_new_address(site: Client) -> None:
    published(site, "news/moon", detail={"text": "ferry"})

    moved = publisher(site).post(f"/content/{SITE}/move", **{"from": "news/", "to": "old/"})

    assert moved.status == 200
    assert found(site, "ferry") == ["old/moon"]


def test_cursors_are_of_one_search_of_one_site(site: Client, runtime: Runtime) -> None:
    for number in range(3):
        published(site, f"p{number}", detail={"text": "ferry boat"})
    settings.put(runtime, "other", ContentSettings(title="Other", base_url="https://other.example"))
    cursor = site.get(f"{SEARCH}?q=ferry&limit=1").json["next"]

    for path in (
        f"{SEARCH}?q=boat",
        f"{SEARCH}?q=ferry+boat",
        "/content/other/search?q=ferry",
        f"/content/{SITE}?limit=1",
        f"/sites/{SITE}/comments?limit=1",
    ):
        refused = site.get(f"{path}&cursor={cursor}")
        assert (refused.status, refused.json["code"]) == (400, "invalid_cursor"), path
    same = site.get(f"{SEARCH}?q=FERRY&cursor={cursor}")
    assert len(same.json["entries"]) == 2


def test_pages_of_other_sites_are_not_found(site: Client) -> None:
    published(site, detail={"text": "ferry"})

    assert site.get("/content/other/search?q=ferry").json == {"entries": [], "next": None}


@pytest.mark.parametrize(
    "words",
    [
        "",
        "   ",
        "!?&",
        "a b c d e f",
        "".join(map(chr, range(0x4E00, 0x4E20))),
        "$",
        '"" - *',
        "\u200b",
    ],
    ids=repr,
)
def test_a_query_without_words_or_with_too_many_is_refused(site: Client, words: str) -> None:
    refused = site.get(f"{SEARCH}?q={quote(words, safe='')}")

    assert (refused.status, refused.json["code"]) == (422, "invalid_request")
    assert refused.json["errors"][0]["field"] == "q"


def test_a_query_that_is_too_long_or_missing_is_refused(site: Client) -> None:
    assert site.get(f"{SEARCH}?q={'a' * 201}").status == 422
    assert site.get(SEARCH).status == 422
    assert site.get(f"{SEARCH}?q=ferry&limit=51").status == 422
    assert site.get(f"{SEARCH}?q=ferry&limit=0").status == 422


@pytest.mark.parametrize(
    "words", ["ferry OR train", "-ferry train", 'site:"ferry"', "$where ferry", "ferry*", "fer"]
)
def test_operators_are_words(site: Client, words: str) -> None:
    published(site, detail={"text": "ferry"})

    assert found(site, words) == (["moon"] if words == "ferry*" else [])
