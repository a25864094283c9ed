"""Any sequence of calls gets the same answers from every store as from a plain list."""

import contextlib
import itertools
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from chalicelib.comments.errors import CommentDeleted
from chalicelib.comments.shapes import State, StoreName
from chalicelib.comments.store import Order
from chalicelib.errors import Problem, UnknownComment
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.comments.support.reference_model import Entry, Key, Model
from tests.support.clock import Clock

# A long run: PLAZA_TEST_EXAMPLES=500 pytest tests/comments/discussion/test_machine.py
EXAMPLES = int(os.environ.get("PLAZA_TEST_EXAMPLES", "8"))
MAX_DEPTH = 3
_node_ids = (f"machine-{number}" for number in itertools.count())

people = st.sampled_from(["ann", "bob"])
viewers = st.sampled_from([None, "ann", "bob", "mo"])
orders = st.sampled_from(["oldest", "newest"])
limits = st.sampled_from([1, 2, 3, 5, 200])
texts = st.text(st.characters(codec="utf-8", categories=["L", "N", "S"]), min_size=1, max_size=8)


class DiscussionMachine(RuleBasedStateMachine):
    """A discussion and its model, side by side."""

    posted = Bundle("posted")
    pages = Bundle("pages")
    threads = Bundle("threads")

    def __init__(self, runtime: Runtime, layout: Layout) -> None:
        super().__init__()
        clock = runtime.now
        assert isinstance(clock, Clock)
        self.clock = clock
        self.threaded = layout.threaded
        self.discussion = Discussion.make(runtime, layout, next(_node_ids), max_depth=MAX_DEPTH)
        self.model = Model(layout.threaded, MAX_DEPTH)

    @initialize(target=posted, roots=st.integers(1, 3), replies=st.integers(0, 4))
    def begin(self, roots: int, replies: int) -> Any:
        """Begin with some threads, which a few random rules would seldom build."""
        ids = [self.post(f"root {number}", "ann") for number in range(roots)]
        for number in range(replies if self.threaded else 0):
            ids.append(self.reply(ids[number % roots], f"reply {number}", "bob"))
        return multiple(*ids)

    @rule(target=posted, text=texts, author=people)
    def post(self, text: str, author: str) -> str:
        comment = self.discussion.post(text, by=author)
        self.model.post(comment["id"], author, text, None, comment["state"])
        return comment["id"]

    @precondition(lambda self: self.threaded)
    @rule(target=posted, parent=posted, text=texts, author=people)
    def reply(self, parent: str, text: str, author: str) -> Any:
        above = self.model.entry(parent)
        if above.state == "deleted" or not above.seen_by(author):
            with pytest.raises(UnknownComment):
                self.discussion.post(text, parent, by=author)
            return multiple()
        comment = self.discussion.post(text, parent, by=author)
        entry = self.model.post(comment["id"], author, text, parent, comment["state"])
        assert comment["parent_id"] == entry.parent
        return comment["id"]

    @rule(comment=posted, text=texts)
    def edit(self, comment: str, text: str) -> None:
        with self.unless_deleted(comment) as entry:
            self.discussion.edit(comment, text)
            entry.text = text

    @rule(comment=posted)
    def delete(self, comment: str) -> None:
        with self.unless_deleted(comment) as entry:
            self.discussion.delete(comment)
            entry.state, entry.text, entry.author = "deleted", None, None

    @rule(comment=posted, author=people)
    def delete_own(self, comment: str, author: str) -> None:
        entry = self.model.entry(comment)
        if entry.author != author or entry.state == "deleted":
            return
        self.discussion.delete(comment, by=author)
        entry.state, entry.text, entry.author = "deleted", None, None

    @rule(comment=posted, state=st.sampled_from(["visible", "pending", "hidden"]))
    def set_state(self, comment: str, state: State) -> None:
        with self.unless_deleted(comment) as entry:
            self.discussion.set_state(comment, state)
            entry.state = state

    @rule(store=st.sampled_from(["documents", "embedded", "buckets"]))
    def move(self, store: StoreName) -> None:
        if store != "buckets" or not self.threaded:
            assert self.discussion.move(store)["store"] == store

    @rule(seconds=st.integers(-2, 2))
    def let_the_clock_jump(self, seconds: int) -> None:
        self.clock.advance(seconds=seconds)

    @rule(target=pages, order=orders, limit=limits, viewer=viewers)
    def first_page(self, order: Order, limit: int, viewer: str | None) -> Any:
        return self.read_page(order, limit, viewer, None, None)

    @rule(target=pages, page=consumes(pages))
    def next_page(self, page: tuple[Order, int, str | None, str, Key]) -> Any:
        return self.read_page(*page)

    @rule(target=threads, comment=posted, limit=limits, viewer=viewers)
    def first_of_thread(self, comment: str, limit: int, viewer: str | None) -> Any:
        return self.read_thread(comment, limit, viewer, None, None)

    @rule(target=threads, page=consumes(threads))
    def next_of_thread(self, page: tuple[str, int, str | None, str, Key]) -> Any:
        return self.read_thread(*page)

    @rule(comment=posted, viewer=viewers)
    def permalink(self, comment: str, viewer: str | None) -> None:
        entry = self.model.entry(comment)
        if not entry.seen_by(viewer):
            with pytest.raises(UnknownComment):
                self.discussion.get(comment, viewer)
            return
        found = self.discussion.get(comment, viewer)
        assert (found["text"], found["state"]) == (entry.text, entry.state)
        assert found["depth"] == len(entry.path) - 1
        assert found["slug"].split("/") == [self.model.entries[n].id for n in entry.path]

    @invariant()
    def counts_are_exact(self) -> None:
        counts = {"visible": self.model.count("visible"), "pending": self.model.count("pending")}
        assert self.discussion.node["counts"] == counts

    def read_page(
        self, order: Order, limit: int, viewer: str | None, cursor: str | None, after: Key | None
    ) -> Any:
        page = self.discussion.page(order, limit, cursor, viewer)
        expected = self.model.listing(order, viewer, after)
        self.compare(page, expected, limit, viewer)
        if page["next"] is None:
            return multiple()
        return (order, limit, viewer, page["next"], self.model.key(expected[limit - 1], order))

    def read_thread(
        self, root: str, limit: int, viewer: str | None, cursor: str | None, after: Key | None
    ) -> Any:
        entry = self.model.entry(root)
        if not entry.seen_by(viewer):
            with pytest.raises(UnknownComment):
                self.discussion.thread(root, limit, cursor, viewer)
            return multiple()
        page = self.discussion.thread(root, limit, cursor, viewer)
        expected = self.model.thread(entry, viewer, after)
        self.compare(page, expected, limit, viewer)
        if page["next"] is None:
            return multiple()
        last = self.model.key(expected[limit - 1], "oldest")
        return (root, limit, viewer, page["next"], last)

    def compare(
        self, page: dict[str, Any], expected: list[Entry], limit: int, viewer: str | None
    ) -> None:
        replies = self.model.replies_shown
        got = [
            (c["id"], c["parent_id"], c["replies"], (c["state"], c["text"], c["author"] is None))
            for c in page["comments"]
        ]
        assert got == [
            (e.id, e.parent, replies(e, viewer), self.model.told(e, viewer))
            for e in expected[:limit]
        ]
        assert (page["next"] is None) == (len(expected) <= limit)

    @contextlib.contextmanager
    def unless_deleted(self, comment: str) -> Any:
        """Expect a refusal if the comment is deleted."""
        entry = self.model.entry(comment)
        if entry.state != "deleted":
            yield entry
            return
        before = (entry.state, entry.text, entry.author)
        refused: type[Problem] = CommentDeleted if entry.replies else UnknownComment
        with pytest.raises(refused):
            yield entry
        assert (entry.state, entry.text, entry.author) == before


def test_every_store_answers_like_a_plain_list(runtime: Runtime, layout: Layout) -> None:
    class Machine(DiscussionMachine):
        def __init__(self) -> None:
            super().__init__(runtime, layout)

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=40,
            deadline=None,
            database=None,
            derandomize="PLAZA_TEST_EXAMPLES" not in os.environ,
            suppress_health_check=list(HealthCheck),
        ),
    )
