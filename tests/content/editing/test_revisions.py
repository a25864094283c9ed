"""Revisions: one for a person's saves of ten minutes, the newest kept, compared and restored."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.content.editing.differences import compare
from chalicelib.content.shapes import PageWords
from tests.content.support.factories import editor, node, save, with_version, write
from tests.support.clock import Clock
from tests.support.http_client import Client


def versions(client: Client, node_id: str, limit: int = 200) -> list[int]:
    page = client.get(f"{node(node_id)}/revisions?limit={limit}").json
    found = [each["version"] for each in page["revisions"]]
    while page["next"]:
        page = client.get(f"{node(node_id)}/revisions?limit={limit}&cursor={page['next']}").json
        found += [each["version"] for each in page["revisions"]]
    return found


def test_a_persons_saves_of_ten_minutes_are_one_revision(client: Client, clock: Clock) -> None:
    edda, otto = editor(client), editor(client, "otto")
    node_id = write(edda)
    for version in (1, 2):
        clock.advance(minutes=4)
        save(edda, node_id, version, title=f"T{version}")
    assert versions(edda, node_id) == [3]

    clock.advance(minutes=2)
    save(edda, node_id, 3, title="T3")
    save(otto, node_id, 4, title="T4")
    save(edda, node_id, 5, title="T5")

    assert versions(edda, node_id) == [6, 5, 4, 3]
    assert versions(edda, node_id, limit=2) == [6, 5, 4, 3]
    assert edda.get(f"{node(node_id)}/revisions/2").code == "unknown_revision"
    third = edda.get(f"{node(node_id)}/revisions/3").json
    assert (third["title"], third["saved_by"]["id"], third["was_live"]) == ("T2", "edda", False)


@pytest.mark.bounds(content={"kept_revisions": 3})
def test_the_newest_revisions_are_kept(client: Client) -> None:
    edda, otto = editor(client), editor(client, "otto")
    node_id = write(edda)
    for version in range(1, 7):
        save((otto, edda)[version % 2 == 0], node_id, version, title=f"T{version}")

    assert versions(edda, node_id) == [7, 6, 5]


def test_two_revisions_are_compared(client: Client) -> None:
    edda, otto = editor(client), editor(client, "otto")
    node_id = write(edda, detail={"text": "one\ntwo\nthree", "section": "sky"})
    save(otto, node_id, 1, title="The moon", detail={"text": "one\n2\n2b\nthree"})

    found = edda.get(f"{node(node_id)}/revisions/1/diff/2").json

    assert [each["field"] for each in found["fields"]] == ["title", "detail.text", "detail.section"]
    assert found["fields"][0] == {
        "field": "title",
        "before": "Moon",
        "after": "The moon",
        "hunks": None,
    }
    assert found["fields"][1]["hunks"] == [
        {"before": 1, "after": 1, "removed": ["two"], "added": ["2", "2b"]}
    ]
    assert edda.get(f"{node(node_id)}/revisions/1/diff/9").code == "unknown_revision"


def test_a_restored_revision_is_an_edit(client: Client) -> None:
    edda, otto = editor(client), editor(client, "otto")
    node_id = write(edda)
    save(otto, node_id, 1, title="Worse", slug="worse")
    path = f"{node(node_id)}/revisions/1/restore"

    assert with_version(edda, "POST", path, None, {}).code == "version_needed"
    assert with_version(edda, "POST", path, "x", {}).code == "invalid_request"
    assert with_version(edda, "POST", path, '"1"', {}).code == "edit_conflict"
    unknown = path.replace("/1/", "/9/")
    assert with_version(edda, "POST", unknown, '"2"', {}).code == "unknown_revision"
    restored = with_version(edda, "POST", path, '"2"', {})

    assert restored.json["version"] == 3
    assert restored.json["draft"]["title"] == "Moon"
    assert restored.json["draft"]["slug"] == "moon"
    assert versions(edda, node_id) == [3, 2, 1]


def words(text: str) -> PageWords:
    return {"slug": "a", "title": "A", "summary": None, "tags": [], "detail": {"text": text}}


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_the_hunks_make_one_text_of_the_other(before: list[str], after: list[str]) -> None:
    one, other = "\n".join(["x", *before]), "\n".join(["x", *after])
    lines = one.split("\n")

    for field in compare(words(one), words(other)):
        if field["hunks"] is None:
            lines = [field["after"]] if "\n" not in field["after"] else lines
            continue
        for hunk in reversed(field["hunks"]):
            end = hunk["before"] + len(hunk["removed"])
            assert lines[hunk["before"] : end] == hunk["removed"]
            lines[hunk["before"] : end] = hunk["added"]

    assert "\n".join(lines) == other


def test_a_long_text_with_empty_lines_is_compared_by_its_lines() -> None:
    paragraphs = [f"paragraph {number}" for number in range(300)]
    one, other = paragraphs.copy(), paragraphs.copy()
    other[0], other[-1] = "first", "last"

    hunks = compare(words("\n\n".join(one)), words("\n\n".join(other)))[0]["hunks"]

    assert hunks is not None
    assert [each["added"] for each in hunks] == [["first"], ["last"]]


def test_texts_of_few_lines_that_are_often_equal_are_compared_at_once() -> None:
    begun = time.process_time()

    found = compare(words("x\ny\n" * 10_000), words("x\n" * 199))[0]

    assert found["hunks"] is not None
    assert len(found["hunks"]) == 1
    assert time.process_time() - begun < 3


def test_texts_that_share_nothing_are_compared_at_once() -> None:
    one = words("\n".join(f"{number}" for number in range(50_000)))
    other = words("\n".join(f"{number}" for number in range(50_000, 0, -1)))

    hunks = compare(one, other)[0]["hunks"]

    assert hunks is not None
    assert len(hunks) == 1
