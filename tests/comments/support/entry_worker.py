"""A writer in a process of its own, which a test may kill: posts, replies, hides and deletes."""

import random
import sys

from pydantic import SecretStr
from pymongo import MongoClient

from chalicelib.comments.forms import NewComment, StateChange
from chalicelib.comments.log.acts import Actor
from chalicelib.comments.writing import decisions, edit, post
from chalicelib.database import Document, open_database
from chalicelib.errors import Problem
from chalicelib.identity import Principal
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings

STATES = ("visible", "hidden", "pending")


def main(uri: str, database: str, node_ids: str) -> None:
    """Write to the nodes until killed."""
    settings = Settings(mongodb_uri=SecretStr(uri), database=database, limits=None)
    opened = open_database(MongoClient[Document](uri), database)
    rng = random.SystemRandom()
    runtime = Runtime(opened, Queues("test-"), utc_now, rng, settings)
    ann, mo = Principal("ann", "Ann"), Principal("mo", "Mo", frozenset({"moderator"}))
    made: list[tuple[str, str]] = []
    print("ready", flush=True)  # noqa: T201 - the test waits for it
    while True:
        try:
            node, other = rng.choice(made) if made else (node_ids.split(",", maxsplit=1)[0], None)
            match rng.randrange(6) if other else 0:
                case 0:
                    node, other = rng.choice(node_ids.split(",")), None
                    new = NewComment(text="a comment")
                    made.append((node, post.post_comment(runtime, node, new, ann).comment["id"]))
                case 1 | 2:
                    new = NewComment(text="a reply", parent=other)
                    made.append((node, post.post_comment(runtime, node, new, ann).comment["id"]))
                case 3:
                    edit.delete_comment(runtime, node, other or "", mo)
                case _:
                    wanted = StateChange.model_validate({"state": rng.choice(STATES)})
                    decisions.set_state(runtime, node, other or "", wanted, Actor(mo))
        except Problem:
            continue


if __name__ == "__main__":
    main(*sys.argv[1:])
