"""What a file may say of texts, people, pages and times, and what its import leaves alone."""

from typing import Any

import pytest

from chalicelib.comments.importing import staging
from chalicelib.comments.importing.identities import PageAddresses, old_key
from chalicelib.comments.importing.shapes import Item, Skipped
from chalicelib.comments.sites import settings
from chalicelib.comments.sites.forms import CommentSettings
from chalicelib.comments.terms import upkeep as terms
from chalicelib.identity import person_id
from chalicelib.people.ids import IMPORTED_ID
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.comments.support.entries import NONE
from tests.comments.support.importing import (
    TOUCHED,
    URL,
    at_url,
    author,
    bring,
    brought,
    comment,
    everything,
    thread,
)
from tests.support.clock import START, Clock

THREADED = Layout("documents", threaded=True)


def test_texts_names_and_times_keep_to_the_rules_of_posts(runtime: Runtime) -> None:
    items = [
        comment("nul", 9, text="a\x00b \x07c"),
        comment("long", 8, text="word " * 5_000),
        comment("nothing", 7, text=" \u200b "),
        comment("future", -60 * 24 * 365),
        comment("staff", 6, author=author("Moderator")),
        comment("nobody", 5, author=None),
        comment("old", 60 * 24 * 365 * 90),
    ]

    done = bring(runtime, [thread(), *items])

    shown = at_url(runtime).walk()
    assert [each["text"][:8] for each in shown] == [
        "ab c",
        "word wor",
        "text of ",
        "text of ",
        "text of ",
    ]
    assert len(shown[1]["text"]) <= 10_000
    assert [each["author"]["name"] for each in shown[2:4]] == ["Anonymous", "Anonymous"]
    # No later post has to wait for a time that is yet to come.
    assert shown[4]["posted_at"] == START
    assert done["counts"]["left"] == 2
    assert {each["reason"] for each in done["samples"]} == {
        *("cut", "invisible_text", "future", "renamed", "bad_time"),
    }


def test_people_are_told_apart(runtime: Runtime) -> None:
    items: list[Item] = [
        thread(),
        comment("1", 9, author=author("John")),
        comment("2", 8, author=author("John", account="7")),
        comment("3", 7, author=author("Johnny", account="7")),
        comment("4", 6, author=author("John", email="J@x.example")),
        comment("5", 5, author=author("J", email="j@x.example ")),
        thread("u", "https://blog.example/b"),
        comment("6", 4, thread="u", author=author("John")),
    ]

    bring(runtime, items)

    ids = [
        row["author"]["id"] for row in runtime.database["comments.comment"].find().sort("posted")
    ]
    assert all(IMPORTED_ID.fullmatch(each) for each in ids)
    assert [ids.index(each) for each in ids] == [0, 1, 1, 3, 3, 5]


def test_an_address_gives_another_id_at_each_site(runtime: Runtime) -> None:
    items: list[Item] = [
        thread(),
        comment("1", 9, author=author("John", email="j@x.example")),
        comment("2", 8, author=author("Jane", account="7")),
    ]

    for site in ("blog", "rival"):
        bring(runtime, items, site=site)

    rows = list(runtime.database["comments.comment"].find().sort("posted"))
    ids = [row["author"]["id"] for row in rows]
    assert [ids.count(each) for each in ids] == [1, 1, 2, 2]


def test_no_account_can_have_the_id_of_an_imported_person(runtime: Runtime) -> None:
    discussion = brought(runtime, comment("1"))
    imported = discussion.walk()[0]["author"]["id"]

    assert person_id("https://issuer.example", imported, None) != imported
    assert person_id("https://issuer.example", "i_short", None) == "i_short"


def test_an_import_is_no_news(runtime: Runtime, clock: Clock) -> None:
    before = everything(runtime)

    bring(runtime, [thread(), comment("1", 5), comment("2", 4, parent="1", state="pending")])

    after = everything(runtime)
    assert {name for name in after if after[name] != before.get(name, [])} <= TOUCHED
    assert after["comments.staged"] == after["comments.staged_thread"] == []
    del clock


def test_a_dry_run_tells_the_same_and_changes_nothing(runtime: Runtime) -> None:
    Discussion.make(runtime, THREADED).post("living")
    items: list[Item] = [
        thread(),
        comment("1", 9, parent="nobody"),
        comment("2", 8),
        Skipped(reason="pingback", where="line 7", sample="a text"),
    ]
    before = everything(runtime, ["comments.import"])

    dry = bring(runtime, items, is_dry_run=True)

    assert everything(runtime, ["comments.import"]) == before
    wet = bring(runtime, items)
    assert dry["counts"] == wet["counts"]
    assert dry["samples"] == wet["samples"]
    assert wet["counts"]["left"] == 1
    # Where it was, and no word of its text.
    assert {"reason": "pingback", "where": "line 7"} in wet["samples"]


def test_pages_are_found_by_their_present_addresses(runtime: Runtime) -> None:
    made = Discussion.make(runtime, THREADED, node_id="by-hand", url="https://new.example/moon")
    addresses = PageAddresses(
        base="https://blog.example/",
        moved={old_key("https://old.example/moon?utm_source=x"): "https://new.example/moon"},
    )
    items: list[Any] = [
        thread("1", "http://old.example/moon".replace("http:", "https:")),
        comment("1", 9, thread="1"),
        thread("2", "/2024/\u00fcber uns/"),
        comment("2", 8, thread="2"),
        thread("3", None),
        comment("3", 7, thread="3"),
        thread("4", "ftp://x.example/"),
        comment("4", 6, thread="4"),
        thread("5", "https://[half"),
        comment("5", 5, thread="5"),
        thread("6", "https://blog.example/"),
        comment("6", 4, thread="6"),
        thread("7", "https://blog.example/..?q=1"),
        comment("7", 3, thread="7"),
    ]

    done = bring(runtime, items, addresses=addresses)

    assert made.texts() == ["text of 1"]
    ids = sorted(row["_id"] for row in runtime.database["comments.node"].find())
    assert ids[0] == "by-hand"
    assert ids[-1] == "default:home"
    assert all(":" in each and each.isascii() for each in ids[1:])
    assert len(ids) == 4
    assert done["counts"]["left"] == 6
    assert {each["reason"] for each in done["samples"]} >= {"no_address", "thread_skipped"}


@pytest.mark.parametrize("batch", [1, 500])
def test_the_first_comment_of_an_id_comes_over_and_the_others_are_told(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(staging, "BATCH", batch)
    items: list[Item] = [
        thread(),
        comment("1", 9, text="one"),
        comment("1", 8, text="again"),
        thread(),
        comment("1", 7, text="and again"),
        comment("2", 6, text="two"),
    ]

    done = bring(runtime, items)

    assert sorted(each["text"] for each in at_url(runtime, URL).walk()) == ["one", "two"]
    assert done["counts"]["imported"] == 2
    assert done["counts"]["left"] == done["counts"]["reason id_again"] == 2
    assert [each["where"] for each in done["samples"]] == ["1", "1"]


def test_only_a_comment_that_comes_over_counts_as_cut(runtime: Runtime) -> None:
    long = "x" * 10_001

    done = bring(runtime, [thread(), comment("1", 9, text=long), comment("1", 8, text=long)])

    assert (done["counts"]["reason cut"], done["counts"]["reason id_again"]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("see \u202aC:\\Users\\me", "see C:\\Users\\me"),
        ("done\u202c.", "done."),
        ("\u2067abc\u2069 and \u2066d\u202c", "\u2067abc\u2069 and d"),
    ],
)
def test_a_stray_control_of_the_direction_stays_behind_alone(
    runtime: Runtime, text: str, stored: str
) -> None:
    bring(runtime, [thread(), comment("1", text=text)])

    (found,) = at_url(runtime, URL).walk()
    assert found["text"] == stored


def test_a_long_text_within_an_isolate_is_cut_and_not_lost(runtime: Runtime) -> None:
    done = bring(runtime, [thread(), comment("1", text="\u2068" + "x" * 10_001 + "\u2069")])

    assert (done["counts"]["imported"], done["counts"]["reason cut"]) == (1, 1)


def test_two_threads_of_one_page_share_its_discussion(runtime: Runtime) -> None:
    items: list[Item] = [
        thread("1", f"{URL}#comments"),
        thread("2", URL),
        comment("1", 9, thread="1"),
        comment("1", 8, thread="2"),
    ]

    bring(runtime, items)

    assert at_url(runtime).texts() == ["text of 1", "text of 1"]


def test_searches_find_imported_comments(runtime: Runtime) -> None:
    settings.put(runtime, "default", CommentSettings(search=True))

    discussion = brought(runtime, comment("1", text="About the ferry"))

    assert runtime.database["comments.term"].count_documents({"terms": "ferry"}) == 1
    assert terms.verify(runtime, discussion.node) == NONE


def test_a_threaded_page_in_a_store_without_threads_gets_the_usual_store(runtime: Runtime) -> None:
    own = {"store": "buckets", "threaded": True}
    items: list[Item] = [thread(own=own), comment("1", 9), comment("2", 8, parent="1")]

    bring(runtime, items, format="plaza")

    assert (at_url(runtime).node["store"], at_url(runtime).node["threaded"]) == ("documents", True)
    assert [each["depth"] for each in at_url(runtime).walk()] == [0, 1]
