"""Moderators who decide at once are told apart in the log."""

import contextlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from chalicelib.comments.errors import CommentChanged
from chalicelib.comments.forms import StateChange
from chalicelib.comments.log.acts import Actor
from chalicelib.comments.log.rows import LOG
from chalicelib.comments.writing import decisions
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion

MODERATORS = [Principal(f"mo{number}", "Mo", frozenset({"moderator"})) for number in range(4)]
DECISIONS = 10


def test_of_decisions_at_once_each_says_truly_what_it_changed(
    runtime: Runtime, discussion: Discussion
) -> None:
    comment = discussion.post("changes")["id"]

    def decide(who: Principal) -> int:
        done = 0
        for number in range(DECISIONS):
            wanted = StateChange.model_validate({"state": ("hidden", "visible")[number % 2]})
            with contextlib.suppress(CommentChanged):
                decisions.set_state(runtime, discussion.node_id, comment, wanted, Actor(who))
                done += 1
        return done

    with ThreadPoolExecutor(len(MODERATORS)) as pool:
        done = sum(pool.map(decide, MODERATORS))

    rows = list(LOG.of(runtime.database).find({}))
    assert len(rows) == done
    told = Counter((row["before"]["state"], row["after"]["state"]) for row in rows)
    # It was visible at first: each change to and fro but the last has one that takes it back.
    is_hidden = discussion.stored()[comment]["state"] == "hidden"
    assert told["visible", "hidden"] - told["hidden", "visible"] == int(is_hidden)
