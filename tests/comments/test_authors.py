"""What one person wrote: found, renamed and erased in every store, whatever happens meanwhile."""

import threading
from typing import Any

import pytest
from pymongo.errors import AutoReconnect

from chalicelib.comments import nodes, personal_data, traces
from chalicelib.comments.discussion import nodes as discussion_nodes
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.moderation import queue
from chalicelib.people.features import Step
from chalicelib.runtime import Runtime
from tests.comments.support.authors import everything, remaining, talk
from tests.comments.support.discussion import LAYOUTS, PUBLISHER, Discussion, Layout
from tests.support.clock import Clock


def test_a_rename_reaches_every_comment(discussion: Discussion) -> None:
    talk(discussion)

    personal_data.rename(discussion.runtime, "bob", "Bobby")

    stored = everything(discussion.runtime)
    assert "'Bob'" not in stored
    names = {c["author"]["id"]: c["author"]["name"] for c in discussion.page()["comments"]}
    assert names == {"ann": "Ann", "bob": "Bobby"}
    assert discussion.get(discussion.post("more", by="bob")["id"])["state"] == "visible"


def test_an_erasure_leaves_tombstones_of_comments_that_others_replied_to(
    discussion: Discussion,
) -> None:
    answer = talk(discussion)
    count = discussion.page()["count"]
    by_bob = sum(c["author"]["id"] == "bob" for c in discussion.page()["comments"])

    assert personal_data.erase(discussion.runtime, "bob") is Step.DONE

    stored = everything(discussion.runtime)
    assert "bob" not in stored.lower()
    assert remaining(discussion.runtime) == 0
    assert discussion.get(answer)["text"] == "ann answers"
    assert discussion.page()["count"] == count - by_bob
    shown = discussion.page()["comments"]
    if discussion.node["threaded"]:
        assert shown[0]["state"] == "deleted"
    assert [c["author"]["id"] for c in shown if c["author"]] == ["ann"] * (count - by_bob)


def test_an_erased_person_can_begin_again(discussion: Discussion) -> None:
    talk(discussion)
    personal_data.erase(discussion.runtime, "bob")

    again = discussion.post("here again", by="bob")

    assert discussion.get(again["id"])["author"] == {"id": "bob", "name": "Bob"}
    # The comment, its entry, and what the site knows of its author.
    assert remaining(discussion.runtime) == 3


def test_hidden_and_waiting_comments_are_erased_too(runtime: Runtime, layout: Layout) -> None:
    discussion = Discussion.make(runtime, layout, moderation="before")
    discussion.post("waits", by="bob")
    hidden = discussion.post("is hidden", by="bob")["id"]
    discussion.set_state(hidden, "hidden")

    personal_data.rename(runtime, "bob", "Bobby")
    (queued,) = runtime.database[queue.PENDING.name].find()
    assert queued["author"] == {"id": "bob", "name": "Bobby"}
    personal_data.erase(runtime, "bob")

    assert "bob" not in everything(runtime).lower()
    assert discussion.node["counts"] == {"visible": 0, "pending": 0}


def test_an_erasure_that_was_cut_short_continues(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(discussion)
    calls = 0

    def cut(*arguments: Any, real: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls % 2:
            raise AutoReconnect
        return real(*arguments)

    steps = ((nodes, "touch"), (nodes, "count"), (queue, "settle"), (personal_data, "_forget"))
    for module, name in steps:
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, real=real, **_: cut(*a, real=real))
    for _ in range(200):
        try:
            if personal_data.erase(discussion.runtime, "bob") is Step.DONE:
                break
        except AutoReconnect:
            continue
    else:
        pytest.fail("it never ends")

    assert "bob" not in everything(discussion.runtime).lower()
    assert remaining(discussion.runtime) == 0


@pytest.mark.bounds(comments={"erasure_step_comments": 3})
def test_an_erasure_takes_steps(discussion: Discussion) -> None:
    for _ in range(7):
        discussion.post("x", by="bob")

    ends = [personal_data.erase(discussion.runtime, "bob") for _ in range(3)]

    assert ends == [Step.MORE, Step.MORE, Step.DONE]
    assert remaining(discussion.runtime) == 0


def test_with_a_time_later_comments_stay(discussion: Discussion, clock: Clock) -> None:
    discussion.post("before", by="bob")
    until = clock()
    clock.advance(milliseconds=1)
    after = discussion.post("after", by="bob")["id"]

    assert personal_data.erase(discussion.runtime, "bob", until) is Step.DONE

    stored = everything(discussion.runtime)
    assert ("'before'" in stored, "'after'" in stored) == (False, True)
    assert discussion.get(after)["author"] == {"id": "bob", "name": "Bob"}
    # The comment and its entry.
    assert remaining(discussion.runtime) == 2


def test_comments_of_a_deleted_node_are_erased(discussion: Discussion) -> None:
    discussion.post("bob says", by="bob")
    discussion_nodes.delete_node(discussion.runtime, discussion.node_id, PUBLISHER)
    with pytest.raises(UnknownNode):
        nodes.find(discussion.runtime.database, discussion.node_id)

    assert personal_data.erase(discussion.runtime, "bob") is Step.DONE

    assert "bob" not in everything(discussion.runtime).lower()
    assert remaining(discussion.runtime) == 0


def test_an_erasure_loses_no_comment_of_others(discussion: Discussion) -> None:
    for _ in range(20):
        discussion.post("bob says", by="bob")
    posted: list[str] = []
    over = threading.Event()

    def write() -> None:
        while not over.is_set() and len(posted) < 100:
            posted.append(discussion.post("ann says")["id"])

    writer = threading.Thread(target=write)
    writer.start()
    step = personal_data.erase(discussion.runtime, "bob")
    over.set()
    writer.join()

    assert step is Step.DONE
    found = [c["id"] for c in discussion.page()["comments"]]
    assert sorted(found) == sorted(posted)
    assert discussion.page()["count"] == len(posted)


def test_remaining_comments_are_found_by_indexes(runtime: Runtime) -> None:
    for number, layout in enumerate(LAYOUTS):
        Discussion.make(runtime, layout, f"n{number}").post("x", by="bob")

    for trace in traces.find(runtime.database, "bob"):
        plan = str(trace.rows.find(trace.where).explain()["queryPlanner"]["winningPlan"])
        assert "COLLSCAN" not in plan, trace.name
