"""Plaza's own lines, as docs/imports.md defines them."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chalicelib.comments.importing.formats import json_values
from chalicelib.comments.importing.shapes import ImportedAuthor
from chalicelib.foreign.broken import BrokenFile
from tests.comments.importing.support.reading import (
    comment,
    comments,
    facts,
    read,
    skipped,
    threads,
)

PAGE = Path(__file__).parents[4] / "docs" / "imports.md"
NODE: dict[str, Any] = {
    "kind": "node",
    "id": "blog:moon",
    "url": "https://blog.example/moon",
    "title": "Moon",
    "locked": False,
}
COMMENT: dict[str, Any] = {
    "kind": "comment",
    "id": "c1",
    "parent": None,
    "posted": "2026-11-20T08:15:00.250Z",
    "edited": None,
    "author": {"id": "ann", "name": "Ann"},
    "text": "words",
    "state": "visible",
    "up": 0,
    "down": 0,
    "votes": [],
}


def lines(*others: dict[str, Any], end: dict[str, int] | None = None) -> str:
    """Return a file with these lines between its first and its last."""
    kinds = [each["kind"] for each in others]
    counts = end or {"nodes": kinds.count("node"), "comments": kinds.count("comment")}
    first = {"plaza": 1, "kind": "export", "site": "blog", "at": "2026-11-26T20:00:00.000Z"}
    return "\n".join(map(json.dumps, [first, *others, {"kind": "end", **counts}]))


def test_the_example_of_the_documentation_is_read() -> None:
    example = re.search(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert example

    items = read("plaza", example[1])

    assert [each.key for each in threads(items)] == ["harbour-post:moon"]
    root, tombstone = comments(items)
    assert facts(root, "key", "ups", "downs", "votes") == (
        "j4qqq5sm0f",
        3,
        1,
        (("ben", 1), ("eve", -1)),
    )
    assert facts(tombstone, "parent", "author", "text", "state") == (root.key, None, "", "deleted")
    assert not skipped(items)


def test_fields_that_only_plaza_has_come_beside_those_of_all_formats() -> None:
    node = {**NODE, "store": "buckets", "max_depth": 4, "closes_at": "2027-01-01T00:00:00.000Z"}
    full = {
        **COMMENT,
        "seq": 7,
        "slug": "c1",
        "author": {"id": "ann", "name": "Ann", "badges": ["Local"], "role": "moderator"},
        "reasons": ["links"],
        "mentions": [{"id": "ben", "name": "Ben"}],
        "reactions": [["ben", ["heart"]]],
        "featured": "2026-11-21T00:00:00.000Z",
        "unknown": 1,
    }

    items = read("plaza", lines(node, full))

    assert threads(items)[0].own == {
        "store": "buckets",
        "max_depth": 4,
        "closes_at": datetime(2027, 1, 1, tzinfo=UTC),
    }
    found = comment(items)
    assert found.author == ImportedAuthor(account="ann", name="Ann", email=None)
    assert found.posted == datetime(2026, 11, 20, 8, 15, 0, 250_000, tzinfo=UTC)
    assert found.own == {
        "seq": 7,
        "slug": "c1",
        "state": "visible",
        "badges": ["Local"],
        "role": "moderator",
        "reasons": ["links"],
        "mentions": [{"id": "ben", "name": "Ben"}],
        "reactions": [("ben", ["heart"])],
        "featured": datetime(2026, 11, 21, tzinfo=UTC),
    }


def test_a_deleted_comment_without_replies_is_told_from_a_tombstone() -> None:
    found = comment(read("plaza", lines(NODE, {**COMMENT, "state": "removed"})))

    assert found.state == "deleted"
    assert found.own
    assert found.own["state"] == "removed"


@pytest.mark.parametrize(
    "change",
    [
        {"id": "no id!"},
        {"state": "unknown"},
        {"posted": "2026-11-20T08:15:00"},
        {"up": -1},
        {"votes": [["ann", 2]]},
        {"author": {"id": "ann"}},
        {"text": None},
        {"reactions": [["ann", ["$where"]]]},
    ],
)
def test_a_malformed_comment_is_skipped_for_a_reason(change: dict[str, Any]) -> None:
    items = read("plaza", lines(NODE, {**COMMENT, **change}, {**COMMENT, "id": "c2"}))

    assert [each for each, _ in skipped(items)] == ["malformed"]
    assert comment(items).key == "c2"


def test_the_comments_of_a_malformed_node_are_not_anothers() -> None:
    items = read("plaza", lines(NODE, {**NODE, "id": "?"}, COMMENT))

    assert [each for each, _ in skipped(items)] == ["malformed", "thread_skipped"]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (lines(NODE, COMMENT).rsplit("\n", 1)[0], "its last line is missing"),
        (lines(NODE, COMMENT, end={"nodes": 1, "comments": 2}), "the last line counts"),
        (lines(NODE) + "\n" + json.dumps(COMMENT), "a line follows the last line"),
        (json.dumps(NODE), "the first line is not of an export"),
        (lines(NODE).replace('"plaza": 1', '"plaza": 2'), "version 2 at this place is unknown"),
        (lines({"plaza": 1, "kind": "export"}), "version 1 at this place is unknown"),
        (lines(end={"nodes": 0}), "the line is malformed"),
    ],
)
def test_a_file_that_is_not_whole_is_broken(file: str, message: str) -> None:
    with pytest.raises(BrokenFile, match=message):
        read("plaza", file)


def test_a_line_above_the_bound_counts_and_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_values, "MAX_VALUE_CHARACTERS", 70_000)
    votes = [[f"voter-{number}", 1] for number in range(9_000)]
    large, other = {**COMMENT, "votes": votes}, {**COMMENT, "id": "c2"}

    items = read("plaza", lines(NODE, large, other))

    assert [each.key for each in comments(items)] == ["c2"]
    assert [reason for reason, _ in skipped(items)] == ["too_large"]
