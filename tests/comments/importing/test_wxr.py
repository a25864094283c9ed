"""Exports as WXR, read back by the parser of WordPress: the same comments, in their tree."""

import io
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any
from xml.etree import ElementTree as ET

from chalicelib.comments.importing import wxr
from chalicelib.comments.importing.exporting import lines_of
from chalicelib.comments.importing.formats import wordpress
from chalicelib.comments.importing.shapes import ImportedComment, ImportedThread, Item, Skipped
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.comments.support.importing import author, brought, comment
from tests.support.clock import START

THREADED = Layout("documents", threaded=True)
SITE = "default"


def files_of(runtime: Runtime, most_bytes: int = wxr.MAX_FILE_BYTES) -> list[bytes]:
    render = partial(wxr.html_of, runtime, SITE)
    found: dict[int, bytes] = {}
    for part in wxr.parts_of(lines_of(runtime, SITE), render, most_bytes):
        found[part.file] = found.get(part.file, b"") + part.content
    assert list(found) == list(range(1, len(found) + 1))
    return list(found.values())


def parsed(*files: bytes) -> Iterator[Item]:
    for file in files:
        yield from wordpress.parse(io.BytesIO(file))


def stored(runtime: Runtime) -> list[dict[str, Any]]:
    """Return the comments of the site's export that are not gone without a trace."""
    lines = (line for line in lines_of(runtime, SITE) if line["kind"] == "comment")
    return [line for line in lines if line["state"] != "removed"]


def test_count_order_tree_and_times_come_back(runtime: Runtime) -> None:
    brought(
        runtime,
        comment("1", 90, text="A *root*\n\nwith two paragraphs"),
        comment("2", 80, parent="1", author=author("Bob", "bob")),
        comment("3", 70, parent="2"),
        comment("4", 70),
        comment("5", 60, state="pending"),
        comment("6", 50, state="spam"),
        comment("7", 40, state="deleted", text="", author=None),
        comment("8", 30, parent="7", author=author("Bob", "bob")),
        comment("9", 20, state="hidden"),
        comment("10", 10, state="deleted", text="", author=None),
    )
    before = stored(runtime)

    (file,) = files_of(runtime)

    thread, *comments = parsed(file)
    assert isinstance(thread, ImportedThread)
    assert (thread.url, thread.title, thread.locked) == (
        "https://blog.example/a-page",
        "A page",
        False,
    )
    assert all(isinstance(each, ImportedComment) for each in comments)
    found: list[Any] = comments
    assert len(found) == len(before) == 9
    numbers = {line["id"]: str(number) for number, line in enumerate(before, 1)}
    for line, each in zip(before, found, strict=True):
        assert each.key == numbers[line["id"]]
        above = line.get("reply_to") or line["parent"]
        assert each.parent == (numbers[above] if above else None)
        assert each.posted.isoformat(timespec="seconds")[:19] == line["posted"][:19]
        assert each.text == line["text"]
        assert (each.author.name if each.author else None) == (
            line["author"]["name"] if line["author"] else None
        )
    states = [each.state for each in found]
    assert states.count("pending") == 2
    assert (states.count("spam"), states.count("deleted")) == (1, 1)
    bobs = {each.author.email for each in found if each.author and each.author.name == "Bob"}
    assert len(bobs) == 1


def test_an_item_has_what_the_import_of_disqus_asks_for(runtime: Runtime) -> None:
    brought(runtime, comment("1", 90, text="Fish & <chips> ]]> \N{HORIZONTAL ELLIPSIS}"))

    (file,) = files_of(runtime)

    names = {"wp": "http://wordpress.org/export/1.2/", "dsq": "http://www.disqus.com/"}
    (item,) = ET.fromstring(file).iter("item")  # noqa: S314 - our own file
    assert item.findtext("dsq:thread_identifier", namespaces=names) == "default:a-page"
    assert item.findtext("link") == "https://blog.example/a-page"
    posted = (START - timedelta(minutes=90)).strftime("%Y-%m-%d %H:%M:%S")
    assert item.findtext("wp:post_date_gmt", namespaces=names) == posted
    # WordPress takes no item without a type, and finds its own posts by their title and date.
    assert item.findtext("wp:post_type", namespaces=names) == "post"
    assert item.findtext("wp:post_date", namespaces=names) == posted
    assert item.findtext("wp:comment_status", namespaces=names) == "open"
    (found,) = item.findall("wp:comment", names)
    told = {each.tag.partition("}")[2]: each.text or "" for each in found}
    assert told["comment_id"] == "1"
    assert told["comment_date_gmt"] == told["comment_date"] == posted
    assert told["comment_approved"] == "1"
    assert told["comment_parent"] == "0"
    assert told["comment_author_email"].endswith("@people.invalid")
    assert told["comment_content"].startswith("<p>Fish &amp; &lt;chips&gt; ]]&gt;")


def test_an_answer_to_a_comment_that_is_gone_stands_below_its_parent() -> None:
    node = {"kind": "node", "id": "a", "url": None, "title": "A", "locked": False}
    line = {"kind": "comment", "state": "visible", "author": None, "text": "x", "parent": None}
    line["posted"] = "2026-03-01T12:00:00.000Z"
    lines: list[dict[str, Any]] = [
        node,
        {**line, "id": "top"},
        {**line, "id": "answer", "parent": "top", "reply_to": "gone"},
        {**line, "id": "other", "parent": "top", "reply_to": "answer"},
    ]

    content = b"".join(part.content for part in wxr.parts_of(lines, str, 10_000))

    assert content.count(b"<wp:comment_parent>1</wp:comment_parent>") == 1
    assert content.count(b"<wp:comment_parent>2</wp:comment_parent>") == 1


def test_a_file_has_at_most_its_bytes_and_a_discussion_goes_on_in_the_next(
    runtime: Runtime,
) -> None:
    brought(
        runtime, *(comment(str(n), 90 - n, parent=str(n - 1) if n else None) for n in range(40))
    )
    (whole,) = files_of(runtime)

    files = files_of(runtime, most_bytes=4_000)

    assert len(files) > 3
    assert all(len(file) <= 4_000 for file in files)
    threads = [each for each in parsed(*files) if isinstance(each, ImportedThread)]
    assert len(threads) == len(files)
    assert len({each.key for each in threads}) == 1

    def comments(*parts: bytes) -> list[Item]:
        return [each for each in parsed(*parts) if isinstance(each, ImportedComment)]

    assert comments(*files) == comments(whole)


def test_a_comment_above_the_bound_is_a_file_of_its_own(runtime: Runtime) -> None:
    brought(runtime, comment("1", 9, text="long " * 500), comment("2", 8))

    files = files_of(runtime, most_bytes=2_000)

    assert len(files) == 2


def test_discussions_without_comments_are_left_out(runtime: Runtime) -> None:
    Discussion.make(runtime, THREADED)

    (file,) = files_of(runtime)

    assert list(parsed(file)) == []
    assert not [each for each in parsed(file) if isinstance(each, Skipped)]


def test_a_closed_discussion_stays_closed(runtime: Runtime) -> None:
    discussion = brought(runtime, comment("1"))
    runtime.database["comments.node"].update_one(
        {"_id": discussion.node_id}, {"$set": {"locked": True}}
    )

    (file,) = files_of(runtime)

    thread = next(parsed(file))
    assert isinstance(thread, ImportedThread)
    assert thread.locked
