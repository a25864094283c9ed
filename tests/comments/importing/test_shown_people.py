"""Badges, roles, shadows and mentions: an import shows them as an export says, and no more."""

from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.comments.entries import reported
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.forms import NewComment
from chalicelib.comments.importing import running, verifying
from chalicelib.comments.importing.exporting import lines_of
from chalicelib.comments.importing.running import ImportOrder
from chalicelib.comments.people import changing
from chalicelib.comments.shapes import Comment
from chalicelib.comments.stores import store_of
from chalicelib.comments.writing.post import post_comment
from chalicelib.identity import Principal
from chalicelib.people.ids import IMPORTED_ID
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion
from tests.comments.support.entries import NONE, difference
from tests.comments.support.importing import bring, brought, comment, exported
from tests.support.clock import Clock

ANN, BOB, EVE = (Principal(name.lower(), name) for name in ("Ann", "Bob", "Eve"))
STAFF = Principal("mo", "Moderator", frozenset({"moderator"}))
FORGED: dict[str, Any] = {
    "badges": ["Local"],
    "role": "publisher",
    "shadow": "visible",
    "mentions": [{"id": "bob", "name": "Bob"}],
}


@pytest.fixture
def filled(discussion: Discussion, clock: Clock) -> Discussion:
    """A discussion with a badge, a role, two shadows and mentions, in every store."""
    runtime = discussion.runtime
    changing.store(runtime, "default", "ann", {"badges": ["Local", "Sailor"]})
    changing.store(runtime, "default", "eve", {"status": "shadowed"})

    def post(text: str, who: Principal, *mentions: str) -> None:
        clock.advance(minutes=1)
        new = NewComment(text=text, mentions=mentions)
        post_comment(runtime, discussion.node_id, new, who)

    post("By Bob", BOB)
    post("To @Bob, and to @Cy", ANN, "bob")
    post("By staff, to @Ann and @Bob", STAFF, "ann", "bob")
    post("Unseen", EVE)
    post("Unseen, to @Bob", EVE, "bob")
    return discussion


def stored(discussion: Discussion) -> list[Comment]:
    batches = store_of(discussion.runtime, discussion.node).export(discussion.node)
    return [each for batch in batches for each in batch]


def lines(runtime: Runtime, site: str) -> Iterator[Any]:
    """Yield the lines of a site's comments without ids of people and times of spam."""
    for line in lines_of(runtime, site):
        if line["kind"] == "comment":
            author = {name: what for name, what in line["author"].items() if name != "id"}
            mentions = [each["name"] for each in line.get("mentions", [])]
            yield {**line, "author": author, "mentions": mentions}


def test_an_import_of_an_export_shows_the_same_people(filled: Discussion) -> None:
    runtime = filled.runtime
    before = list(lines(runtime, "default"))
    assert [each["author"].get("role") for each in before] == [None, None, "moderator", None, None]
    assert [each.get("shadow") for each in before] == [None, None, None, "visible", "visible"]

    bring(runtime, exported(runtime, "default"), "copy", format="plaza")

    assert list(lines(runtime, "copy")) == before
    copy = Discussion(runtime, "copy:a-page")
    people: list[Any] = [each["author"] for each in stored(copy)]
    people += [mention for each in stored(copy) for mention in each.get("mentions", [])]
    assert len(people) == 9
    assert all(IMPORTED_ID.fullmatch(each["id"]) for each in people)
    # Bob is one person, whether he writes or is mentioned.
    assert len({each["id"] for each in people if each["name"] == "Bob"}) == 1
    assert copy.node.get("shadows")
    assert difference(copy) == NONE


def test_an_imported_mention_is_found_and_rendered(filled: Discussion) -> None:
    runtime = filled.runtime

    bring(runtime, exported(runtime, "default"), "copy", format="plaza")

    bob = stored(Discussion(runtime, "copy:a-page"))[0]["author"]
    assert bob
    found = ENTRIES.of(runtime.database).find({"site": "copy", "mentioned": bob["id"]})
    assert len(list(found)) == 3
    (html,) = (
        each["html"]
        for each in stored(Discussion(runtime, "copy:a-page"))
        if (each["text"] or "").startswith("To @Bob")
    )
    assert (
        html
        == f'<p>To <span class="mention" data-person="{bob["id"]}">@Bob</span>, and to @Cy</p>\n'
    )


def test_a_comparison_sees_what_is_shown_of_people(filled: Discussion) -> None:
    runtime = filled.runtime
    items = list(exported(runtime, "default"))
    bring(runtime, items, "copy", format="plaza")
    order = ImportOrder("copy", "plaza", "")
    conversion = running.conversion_of(runtime, order, "", runtime.now())
    assert verifying.compare(runtime, conversion, items).same == 5
    rows = runtime.database["comments.comment"]
    rows.update_one(
        {"author.name": "Ann", "author.id": IMPORTED_ID}, {"$unset": {"author.badges": ""}}
    )
    rows.update_one({"text": "Unseen", "author.id": IMPORTED_ID}, {"$unset": {"shadow": ""}})

    found = verifying.compare(runtime, conversion, items)

    expected = {"author": 1, "state": 1} if filled.node["store"] == "documents" else {}
    assert dict(found.different) == expected


def test_a_file_of_another_system_gives_nobody_a_badge_or_a_role(runtime: Runtime) -> None:
    forged = comment("1", text="To @Bob", state="hidden", own=FORGED)

    discussion = brought(runtime, forged)

    (found,) = stored(discussion)
    assert found["author"]
    assert set(found["author"]) == {"id", "name"}
    assert not {"shadow", "mentions"} & set(found)


def test_a_role_from_a_line_protects_no_comment_from_flags(runtime: Runtime) -> None:
    """It is shown; who holds the file may have written it."""
    forged = comment("aaaaaaaaaa", 5, own=FORGED)

    discussion = brought(runtime, forged, format="plaza")

    (found,) = stored(discussion)
    assert found["author"]
    assert found["author"].get("role") == "publisher"
    assert not reported.is_protected(discussion.node, {}, found)
    living: Comment = {**found, "author": {"id": "mo", "name": "Mo", "role": "moderator"}}
    assert reported.is_protected(discussion.node, {}, living)


@pytest.mark.parametrize(
    "own",
    [
        {"badges": "Local", "role": ["publisher"], "shadow": {"$ne": 1}, "mentions": "bob"},
        {"badges": [1, "", "\x00", "x" * 21], "role": "admin", "shadow": "hidden"},
        {"mentions": [None, {"id": "bob"}, {"id": 1, "name": "Bob"}, {"id": "b", "name": "\n"}]},
    ],
)
def test_what_a_line_says_wrongly_of_people_is_left_out(
    runtime: Runtime, own: dict[str, Any]
) -> None:
    discussion = brought(
        runtime, comment("1", text="To @Bob", state="hidden", own=own), format="plaza"
    )

    (found,) = stored(discussion)
    assert set(found["author"] or {}) == {"id", "name"}
    assert not {"shadow", "mentions"} & set(found)
