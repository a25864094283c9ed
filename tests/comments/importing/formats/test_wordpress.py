"""WordPress: a real file item by item, and what other importers lose."""
# ruff: noqa: E501 - a case is a line

from datetime import UTC, datetime
from pathlib import Path

import pytest

from chalicelib.comments.importing.shapes import ImportedAuthor, ImportedThread
from tests.comments.importing.support.reading import (
    comment,
    comments,
    facts,
    read,
    skipped,
    threads,
)

FILE = Path(__file__).with_name("files") / "wordpress.xml"


def item(inside: str = "", *, fields: str = "", version: str = "1.2") -> str:
    """Return a file with an item and a comment."""
    return (
        f'<rss xmlns:wp="http://wordpress.org/export/{version}/"><channel><item><title>A</title>'
        f"<link>https://a.example/b/</link>{fields}<wp:comment><wp:comment_id>3</wp:comment_id>"
        f"<wp:comment_author>Ann</wp:comment_author><wp:comment_content>words</wp:comment_content>"
        f"{inside}</wp:comment></item></channel></rss>"
    )


AT = "<wp:comment_date_gmt>2020-01-02 03:04:05</wp:comment_date_gmt>"
NEVER = "0000-00-00 00:00:00"


def test_names_and_titles_are_html() -> None:
    """WordPress escapes a name when it stores it."""
    named = item(AT, fields="<wp:post_id>7</wp:post_id>")
    file = named.replace("<title>A<", "<title><![CDATA[Salt &amp; Pepper &#8211; x]]><")
    items = read("wordpress", file.replace(">Ann<", "><![CDATA[Tom &amp; Jerry]]><"))

    assert threads(items)[0].title == "Salt & Pepper \N{EN DASH} x"
    author = comment(items).author
    assert author is not None
    assert author.name == "Tom & Jerry"


def test_a_real_file_comes_over_item_by_item() -> None:
    items = read("wordpress", FILE.read_bytes())

    assert threads(items) == [
        ImportedThread(
            key="18", url="http://example.tld/2014/test/", title="Hello, World…", locked=False
        ),
        ImportedThread(
            key="http://example.tld/?p=4", url="http://example.tld/?p=4", title="...", locked=False
        ),
    ]
    found = comments(items)
    assert [facts(each, "thread", "key", "parent", "text") for each in found] == [
        ("18", "2", None, "Erster!1"),
        ("18", "6", None, "Zweiter."),
        ("18", "7", "6", "Drölfter!"),
        ("18", "8", "7", "Yet another reply."),
        ("18", "9", "7", "..."),
        (
            "18",
            "10",
            None,
            "When you have a comment with multiple lines:\nWordPress exports it like this.",
        ),
        ("18", "11", None, "..."),
        ("http://example.tld/?p=4", "11", None, "..."),
    ]
    assert found[0].author == ImportedAuthor(account=None, name="Ohai", email="test@example.org")
    assert found[1].author == ImportedAuthor(
        account="example.tld/1", name="Tester", email="info@posativ.org"
    )
    assert [each.posted for each in found[5:]] == [
        datetime(2022, 6, 6, 2, 13, 14, tzinfo=UTC),
        datetime(2022, 6, 7, 15, 21, 56, tzinfo=UTC),
        datetime(2014, 4, 29, 15, 21, 57, tzinfo=UTC),
    ]
    assert not skipped(items)


def test_the_same_id_in_two_threads_is_two_comments() -> None:
    places = [(each.thread, each.key) for each in comments(read("wordpress", FILE.read_bytes()))]

    assert [key for _, key in places].count("11") == 2
    assert len(set(places)) == len(places)


def test_line_breaks_stay() -> None:
    """Remark42 strips them."""
    text = "one\ntwo\n\nthree &lt;b&gt;bold&lt;/b&gt;"
    file = item(AT).replace("words", text)

    assert comment(read("wordpress", file)).text == "one\ntwo\n\nthree **bold**"


@pytest.mark.parametrize(
    ("approved", "state"),
    [
        ("1", "visible"),
        ("approve", "visible"),
        ("", "visible"),
        ("0", "pending"),
        ("hold", "pending"),
        ("spam", "spam"),
        ("trash", "deleted"),
        ("post-trashed", "deleted"),
        ("something else", "pending"),
    ],
)
def test_each_way_of_approval_is_a_state(approved: str, state: str) -> None:
    found = comment(
        read("wordpress", item(f"{AT}<wp:comment_approved>{approved}</wp:comment_approved>"))
    )

    assert found.state == state
    assert (found.author is None, found.text == "") == (state == "deleted", state == "deleted")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("pingback", "pingback"),
        ("trackback", "pingback"),
        ("order_note", "no_comment"),
        ("comment", None),
        ("", None),
        ("review", None),
    ],
)
def test_a_pingback_is_skipped_for_a_reason(kind: str, reason: str | None) -> None:
    items = read("wordpress", item(f"{AT}<wp:comment_type>{kind}</wp:comment_type>"))

    assert [each for each, _ in skipped(items)] == ([reason] if reason else [])
    assert len(comments(items)) == (0 if reason else 1)


LOCAL = "<wp:comment_date>2020-07-02 05:04:05</wp:comment_date>"
OF_ITEM = "<wp:post_date>2020-07-01 10:00:00</wp:post_date><wp:post_date_gmt>2020-07-01 08:00:00</wp:post_date_gmt>"


@pytest.mark.parametrize(
    ("inside", "fields", "posted"),
    [
        (AT, "", datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (f"<wp:comment_date_gmt>{NEVER}</wp:comment_date_gmt>{LOCAL}", "", datetime(2020, 7, 2, 5, 4, 5, tzinfo=UTC)),
        # The item's two times tell the offset of the site.
        (f"<wp:comment_date_gmt>{NEVER}</wp:comment_date_gmt>{LOCAL}", OF_ITEM, datetime(2020, 7, 2, 3, 4, 5, tzinfo=UTC)),
        ("", OF_ITEM, datetime(2020, 7, 1, 8, tzinfo=UTC)),
        (f"<wp:comment_date_gmt>{NEVER}</wp:comment_date_gmt>", "<pubDate>Wed, 01 Jul 2020 10:00:00 +0200</pubDate>", datetime(2020, 7, 1, 8, tzinfo=UTC)),
        ("", "", None),
    ],
)  # fmt: skip
def test_a_missing_time_is_the_local_one_or_the_items(
    inside: str, fields: str, posted: datetime | None
) -> None:
    items = read("wordpress", item(inside, fields=fields))

    if posted is None:
        assert skipped(items) == [("no_time", "words")]
    else:
        assert comment(items).posted == posted


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2"])
def test_every_version_is_read(version: str) -> None:
    assert comment(read("wordpress", item(AT, version=version))).text == "words"


def test_a_closed_discussion_is_locked() -> None:
    closed = item(AT, fields="<wp:comment_status>closed</wp:comment_status>")

    assert threads(read("wordpress", closed))[0].locked


def test_characters_that_xml_forbids_are_left_out() -> None:
    file = item(AT).replace("words", "wo\x08rd\x00s")

    assert comment(read("wordpress", file)).text == "words"
