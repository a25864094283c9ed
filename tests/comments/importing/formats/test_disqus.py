"""Disqus: a real file item by item, and what other importers lose."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from chalicelib.comments.importing.shapes import (
    ImportedAuthor,
    ImportedThread,
    Skipped,
)
from chalicelib.foreign.broken import BrokenFile
from tests.comments.importing.support.reading import (
    comment,
    comments,
    facts,
    read,
    skipped,
    threads,
)

FILE = Path(__file__).with_name("files") / "disqus.xml"
HEAD = (
    '<?xml version="1.0"?><disqus xmlns="http://disqus.com" '
    'xmlns:dsq="http://disqus.com/disqus-internals">'
    '<thread dsq:id="1"><link>https://a.example/</link><title>A</title></thread>'
)


def post(
    inside: str = "", *, key: str = "2", text: str = "words", at: str = "2020-01-02T03:04:05Z"
) -> str:
    """Return a file with a thread and a post."""
    return (
        f'{HEAD}<post dsq:id="{key}"><message>{text}</message><createdAt>{at}</createdAt>'
        f'{inside}<thread dsq:id="1"/></post></disqus>'
    )


def test_a_real_file_comes_over_item_by_item() -> None:
    items = read("disqus", FILE.read_bytes())

    assert threads(items) == [
        ImportedThread(key="2", url="http://example.org/", title="Hello, World!", locked=False),
        ImportedThread(
            key="7",
            url="http://localhost:4000/blog/2013/02/12/redacted/index.html",
            title="",
            locked=False,
        ),
    ]
    assert [
        facts(each, "thread", "key", "parent", "text", "state") for each in comments(items)
    ] == [
        ("2", "4", None, "...", "visible"),
        ("2", "5", "4", "Hello, World.", "visible"),
        ("7", "8", None, "Message from thread with empty title and id", "visible"),
        ("2", "9", None, "", "deleted"),
        ("2", "11", "9", "Hello, World.", "visible"),
    ]
    assert [each.posted for each in comments(items)[:2]] == [
        datetime(2013, 10, 10, 19, 20, 29, tzinfo=UTC),
        datetime(2013, 10, 11, 6, 51, 33, tzinfo=UTC),
    ]
    assert [each.author for each in comments(items)[:2]] == [
        ImportedAuthor(account=None, name="peter", email="foo@bar.com"),
        ImportedAuthor(account="user", name="user", email="foo@bar.com"),
    ]
    assert [item for item in items if isinstance(item, Skipped)] == [
        Skipped(reason="no_address", where="line 28, thread 3", sample=""),
        Skipped(reason="unknown_thread", where="line 66, post 6", sample="..."),
    ]


def test_a_thread_without_id_and_title_has_its_comments() -> None:
    """Isso takes every thread for empty, on Python 3.11."""
    found = [each.key for each in comments(read("disqus", FILE.read_bytes()))]

    assert "8" in found


def test_a_deleted_parent_comes_over_without_its_author() -> None:
    """Remark42 leaves it out, with the replies' place."""
    parent = next(each for each in comments(read("disqus", FILE.read_bytes())) if each.key == "9")

    assert facts(parent, "state", "author", "text") == ("deleted", None, "")


@pytest.mark.parametrize(
    ("inside", "state"),
    [
        ("", "visible"),
        ("<isDeleted>false</isDeleted><isSpam>false</isSpam>", "visible"),
        ("<isSpam>true</isSpam>", "spam"),
        ("<isDeleted>true</isDeleted><isSpam>true</isSpam>", "deleted"),
        ("<isApproved>false</isApproved>", "pending"),
        ("<isApproved>true</isApproved>", "visible"),
    ],
)
def test_spam_and_waiting_comments_keep_their_state(inside: str, state: str) -> None:
    """Isso publishes spam."""
    assert comment(read("disqus", post(inside))).state == state


def test_a_time_is_in_utc() -> None:
    """Isso takes it for local time."""
    found = comment(read("disqus", post(at="2020-07-02T03:04:05+02:00")))

    assert found.posted == datetime(2020, 7, 2, 1, 4, 5, tzinfo=UTC)


def test_redirects_of_disqus_lead_to_their_ends() -> None:
    link = (
        "&lt;a href=&quot;http://disq.us/url?url=https%3A%2F%2Fb.example%2Fc%3AsIgNeD&amp;amp;cuid=1"
        "&quot;&gt;there&lt;/a&gt;"
    )

    assert comment(read("disqus", post(text=link))).text == "[there](https://b.example/c)"


def test_a_closed_thread_is_locked_and_a_deleted_thread_stays_out() -> None:
    closed, deleted = (
        f'<disqus xmlns="http://disqus.com" xmlns:dsq="http://disqus.com/disqus-internals">'
        f'<thread dsq:id="1"><link>https://a.example/</link><{field}>true</{field}></thread>'
        f'<post dsq:id="2"><createdAt>2020-01-01T00:00:00Z</createdAt><message>x</message>'
        f'<thread dsq:id="1"/></post></disqus>'
        for field in ("isClosed", "isDeleted")
    )

    assert threads(read("disqus", closed))[0].locked
    assert skipped(read("disqus", deleted)) == [
        ("thread_deleted", "https://a.example/"),
        ("thread_skipped", "x"),
    ]


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (post(key=""), "no_id"),
        (post(at=""), "no_time"),
        (post(at="0001-01-01T00:00:00"), "no_time"),
    ],
)
def test_a_post_without_id_or_time_is_skipped_for_a_reason(file: str, reason: str) -> None:
    assert [each for each, _ in skipped(read("disqus", file))] == [reason]


@pytest.mark.parametrize(
    "declared",
    [
        '<!DOCTYPE disqus [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE disqus [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE disqus SYSTEM "http://127.0.0.1/evil.dtd">',
        "<!DOCTYPE disqus>",
    ],
)
def test_a_document_type_is_refused(declared: str) -> None:
    file = post().replace("<disqus", f"{declared}<disqus", 1)

    with pytest.raises(BrokenFile, match="line 1: a document type is not allowed"):
        read("disqus", file)


def test_a_post_that_is_too_large_is_skipped_and_the_rest_comes_over() -> None:
    large = post(text="word " * 1_000_000).removesuffix("</disqus>")
    other = post(key="3").removeprefix(HEAD)

    items = read("disqus", large + other)

    assert [each for each, _ in skipped(items)] == ["too_large"]
    assert [each.key for each in comments(items)] == ["3"]


def test_elements_within_each_other_have_a_bound() -> None:
    deep = "<b>" * 100 + "</b>" * 100

    with pytest.raises(BrokenFile, match="line 1: too many elements within each other"):
        read("disqus", post(text=deep))


def test_a_broken_end_names_its_line() -> None:
    """Remark42 ends there as if all were read."""
    whole = FILE.read_bytes()

    with pytest.raises(BrokenFile, match="line 149: no element found"):
        read("disqus", whole[: whole.rindex(b"</disqus>")])
