"""Cost of a vote in a poll, beside the same writes sent by the driver alone."""

import itertools
from functools import partial

from bench.calls import AppCalls
from bench.case import Case, Work
from bench.people import AUTHOR, READER
from bench.stage import Stage
from chalicelib.database import in_transaction
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.graph import users
from chalicelib.social.posts import posts, votes
from chalicelib.social.posts.forms import new_post_model

OPTIONS = ["The moon", "The sea"]
_POLL = {
    "type": "poll",
    "detail": {"question": "Which?", "options": OPTIONS},
    "circles": ["*public*"],
}


def vote(stage: Stage) -> Case:
    """Return the case of a vote that is changed to the other option each time."""
    runtime = stage.with_database("polls").runtime
    calls = AppCalls(runtime, READER)
    polls = [_poll(runtime) for _ in range(2)]
    turns = itertools.cycle(OPTIONS)
    return Case(
        "a vote in a poll, changed",
        lambda: calls(
            "PUT", "/posts/{post}/vote", {"post": polls[0]}, None, {"option": next(turns)}
        ),
        _raw_vote(runtime, polls[1]),
        floor_is="the two writes in a transaction",
    )


def _poll(runtime: Runtime) -> str:
    for user in (AUTHOR, READER):
        users.ensure(runtime, Principal(user, user.title()))
    new = new_post_model("poll").model_validate(_POLL)
    return posts.publish(runtime, Principal(AUTHOR, AUTHOR.title()), new)["_id"]


def _raw_vote(runtime: Runtime, post_id: str) -> Work:
    database, turns = runtime.database, itertools.cycle(range(len(OPTIONS)))
    key = {"_id": f"{READER}:{post_id}", "user_id": READER}

    def write(number: int, session: object) -> None:
        option = {"post_id": post_id, "number": number, "option": OPTIONS[number]}
        change = {"$set": {**option, "ts": runtime.now()}}
        database[votes.VOTES.name].update_one(key, change, upsert=True, session=session)  # type: ignore[arg-type]
        other = 1 - number
        counted = {"$inc": {f"votes.{number}": 1, f"votes.{other}": -1, "vote_count": 0}}
        database[posts.POSTS.name].update_one({"_id": post_id}, counted, session=session)  # type: ignore[arg-type]

    return lambda: in_transaction(database, partial(write, next(turns)))
