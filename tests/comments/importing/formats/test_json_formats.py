"""Remark42, Commento, Twikoo, Waline and Artalk: their fields, and what others lose."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.comments.importing.shapes import ImportedAuthor, ImportedThread
from chalicelib.foreign.broken import BrokenFile
from tests.comments.importing.support.reading import (
    comment,
    comments,
    facts,
    read,
    skipped,
    threads,
)
from tests.comments.importing.support.records import (
    NOON,
    TWIKOO,
    artalk,
    commento,
    remark,
    twikoo,
    waline,
)


def test_remark42_gives_the_markdown_that_was_written() -> None:
    """Its own importers give rendered HTML, without line breaks."""
    found = comment(read("remark42", remark({})))

    assert facts(found, "text", "posted", "parent") == (
        "**bold**\nline",
        NOON.replace(microsecond=500_000),
        None,
    )
    assert comment(read("remark42", remark({"orig": ""}))).text == "**bold**"


def test_remark42_gives_each_vote_with_its_voter() -> None:
    votes = {"github_1": True, "github_2": True, "github_3": False}

    found = comment(read("remark42", remark({"votes": votes, "score": 1})))
    assert facts(found, "ups", "downs") == (2, 1)
    assert found.votes == (("github_1", 1), ("github_2", 1), ("github_3", -1))
    older = comment(read("remark42", remark({"votes": votes, "score": -4})))
    assert facts(older, "ups", "downs") == (2, 6)


def test_remark42_keeps_two_long_addresses_apart() -> None:
    pages = [f"https://a.example/{'x' * 600}/{number}" for number in range(2)]
    records = [
        {"id": str(number), "locator": {"site": "s", "url": url}}
        for number, url in enumerate(pages)
    ]
    items = read("remark42", remark(*records, posts=[{"url": pages[1], "read_only": True}]))

    found = threads(items)
    assert [each.url for each in found] == pages
    assert [each.locked for each in found] == [False, True]


@pytest.mark.parametrize(
    ("name", "made", "field"),
    [
        ("waline", waline, "url"),
        ("twikoo", twikoo, "url"),
        ("artalk", artalk, "page_key"),
        ("commento", commento, "path"),
    ],
)
def test_two_long_addresses_are_two_pages(name: str, made: Callable[..., str], field: str) -> None:
    pages = [f"/{'x' * 600}/{number}" for number in range(2)]
    records = [
        {"id": number, "_id": number, "commentHex": str(number), field: page}
        for number, page in enumerate(pages)
    ]

    assert [each.url for each in threads(read(name, made(*records)))] == pages


def test_remark42_tells_two_guests_of_one_name_apart() -> None:
    """Its id of a guest is a hash of the name: all Johns would be one person."""
    john = {"name": "John", "id": "anonymous_61d1"}

    found = comment(read("remark42", remark({"user": john})))
    assert found.author == ImportedAuthor(account=None, name="John", email=None)


def test_remark42_keeps_deleted_parents_locked_pages_and_confirmed_addresses() -> None:
    users = [{"id": "github_ab12", "details": {"user_id": "", "email": "Ann@mail.example"}}]
    posts = [{"url": "https://a.example/b", "read_only": True}]
    edit = {"time": "2020-07-02T12:30:00Z", "summary": ""}
    file = remark(
        {"delete": True, "text": ""},
        {"id": "2", "pid": "1", "edit": edit},
        {"id": "3", "locator": {"url": "https://a.example/c"}},
        users=users,
        posts=posts,
    )

    items = read("remark42", file)

    assert [each.locked for each in threads(items)] == [True, False]
    parent, reply, _ = comments(items)
    assert facts(parent, "state", "author", "text") == ("deleted", None, "")
    assert facts(reply, "parent", "edited") == ("1", NOON.replace(minute=30))
    assert reply.author == ImportedAuthor(
        account="github_ab12", name="Ann", email="ann@mail.example"
    )


def test_remark42_without_its_first_line_is_broken() -> None:
    with pytest.raises(BrokenFile, match="the first line has no version"):
        read("remark42", remark({}).split("\n", 1)[1])


def test_commento_joins_commenters_that_the_file_repeats() -> None:
    """Its export joins without distinct, so that a second import doubles everything."""
    person = {"commenterHex": "p1", "name": "Ann", "email": "ann@mail.example"}

    found = comment(read("commento", commento({"score": -2}, commenters=[person, person])))

    assert found.author == ImportedAuthor(account="p1", name="Ann", email="ann@mail.example")
    assert facts(found, "text", "ups", "downs", "posted") == ("*words*", 0, 2, NOON)


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({"state": "approved"}, "visible"),
        ({"state": "unapproved"}, "pending"),
        ({"state": "flagged"}, "pending"),
        ({"deleted": True}, "deleted"),
    ],
)
def test_each_state_of_commento_is_a_state(change: dict[str, Any], state: str) -> None:
    assert comment(read("commento", commento(change))).state == state


def test_commento_has_roots_guests_and_a_first_page() -> None:
    file = commento(
        {"path": ""}, {"commentHex": "c2", "parentHex": "c1", "commenterHex": "anonymous"}
    )

    items = read("commento", file)

    assert [each.url for each in threads(items)] == ["/", "/b"]
    assert [facts(each, "parent", "author") for each in comments(items)][1] == ("c1", None)


def test_twikoo_gives_voters_and_times_of_its_database() -> None:
    record = {"ups": ["u1", "u2"], "downs": ["u3", "u1"], "updated": 1_593_691_260_000}

    found = comment(read("twikoo", twikoo(record)))

    assert facts(found, "key", "posted", "edited", "text") == (
        "65a0",
        NOON,
        NOON.replace(minute=1),
        "**bold**",
    )
    assert facts(found, "ups", "downs") == (2, 2)
    assert found.votes == (("u1", 1), ("u2", 1), ("u3", -1))


def test_twikoo_knows_a_reader_by_address_or_else_by_browser() -> None:
    assert comment(read("twikoo", twikoo({}))).author == ImportedAuthor(
        account="browser1", name="Ann", email=None
    )
    assert comment(read("twikoo", twikoo({"mail": "a@b.example"}))).author == ImportedAuthor(
        account=None, name="Ann", email="a@b.example"
    )


def test_twikoo_has_comments_on_lines_spam_and_answers() -> None:
    answer = {"_id": "2", "pid": "65a0", "rid": "1", "isSpam": True, "like": ["u1"]}
    file = "\n".join(json.dumps({**TWIKOO, **each}) for each in ({}, answer))

    found = comments(read("twikoo", file))[1]

    assert facts(found, "parent", "root", "state", "ups") == ("65a0", "1", "spam", 1)


@pytest.mark.parametrize(
    ("status", "state"),
    [("approved", "visible"), ("waiting", "pending"), ("spam", "spam"), ("", "visible")],
)
def test_each_status_of_waline_is_a_state(status: str, state: str) -> None:
    assert comment(read("waline", waline({"status": status}))).state == state


def test_waline_answers_lose_the_name_that_it_writes_before_them() -> None:
    text = "[@Ben](#w0): *words*"

    found = comment(
        read("waline", waline({"pid": "w1", "rid": "w0", "comment": text, "like": "4"}))
    )

    assert facts(found, "parent", "text", "ups") == ("w1", "*words*", 4)


def test_a_later_link_within_the_page_stays_in_an_answer_of_waline() -> None:
    text = "As [@Ben](#w0) says"

    found = comment(read("waline", waline({"pid": "w1", "rid": "w0", "comment": text})))

    assert facts(found, "text", "root") == (text, "w0")


def test_waline_has_html_of_older_systems_and_dates_of_leancloud() -> None:
    date = {"__type": "Date", "iso": "2020-07-02T12:00:00.000Z"}
    record = {"insertedAt": date, "comment": "<p>a <b>b</b></p>\n", "user_id": 7}

    found = comment(read("waline", waline(record)))

    assert facts(found, "posted", "text") == (NOON, "a **b**")
    assert found.author
    assert found.author.account == "7"


def test_artalk_has_texts_in_all_fields() -> None:
    items = read("artalk", artalk({}, {"id": "2", "rid": "1", "is_pending": "true"}))

    assert threads(items) == [
        ImportedThread(
            key="A https://a.example/b", url="https://a.example/b", title="B", locked=False
        )
    ]
    root, reply = comments(items)
    assert facts(root, "parent", "posted", "ups", "downs", "state") == (None, NOON, 3, 1, "visible")
    assert facts(reply, "parent", "state") == ("1", "pending")


FILES = {
    "remark42": remark,
    "commento": commento,
    "twikoo": twikoo,
    "waline": waline,
    "artalk": artalk,
}
NO_ID = {"id": "", "_id": "", "objectId": "", "commentHex": ""}
NO_TIME = dict.fromkeys(("time", "creationDate", "created", "insertedAt", "created_at"), "")
NO_PAGE: dict[str, Any] = {"locator": {}, "path": None, "url": "", "href": "", "page_key": ""}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("change", "reason"), [(NO_ID, "no_id"), (NO_TIME, "no_time"), (NO_PAGE, "no_address")]
)
def test_a_record_that_lacks_the_necessary_is_skipped_for_a_reason(
    name: str, change: dict[str, Any], reason: str
) -> None:
    items = read(name, FILES[name](change, {}))

    assert [each for each, _ in skipped(items)] == [reason]
    assert len(comments(items)) == 1


@pytest.mark.parametrize("name", FILES)
def test_hostile_values_do_no_harm(name: str) -> None:
    """No control characters, no half of a pair, no address that a browser would run."""
    bad: Any = "a\x00b\ud800c\x08"
    change = {
        **dict.fromkeys(("orig", "markdown", "comment", "content"), bad),
        **dict.fromkeys(("nick", "name"), f"{bad}\n" * 1_000),
        **dict.fromkeys(("mail", "email"), "no address"),
        **dict.fromkeys(("url", "href", "page_key", "path"), "javascript:alert(1)"),
        **dict.fromkeys(("score", "like", "vote_up"), "9" * 400),
        "locator": {"url": "javascript:alert(1)"},
    }

    items = read(name, FILES[name](change))

    assert threads(items)[0].url is None
    found = comment(items)
    assert "".join(found.text.split()) == "ab\ufffdc" or found.text == "abc"
    assert found.ups <= 10**9
    found.text.encode()
