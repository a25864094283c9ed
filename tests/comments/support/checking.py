"""A service of this process, and comments that wait for its answer."""

from dataclasses import dataclass
from typing import Any

from chalicelib.comments.forms import NewComment
from chalicelib.comments.spam import checking
from chalicelib.comments.spam_check.origins import ORIGINS, Sender
from chalicelib.comments.spam_check.services import Answer, Correction, Facts
from chalicelib.comments.writing.post import CommentCall, post_comment
from chalicelib.runtime import Runtime
from tests.comments.support.akismet_stand_in import AkismetStandIn
from tests.comments.support.discussion import PEOPLE, Discussion
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

SITE_URL = "https://blog.example/"
Around = tuple[Workers, Runtime, Clock]
SENDER = Sender("192.0.2.7", "A browser")


@dataclass(frozen=True)
class World:
    """A site that has the service asked, with its people, and what else there is."""

    client: Client
    moderator: Client
    ann: Client
    akismet: AkismetStandIn
    workers: Workers
    runtime: Runtime
    clock: Clock


class Service:
    """A service that always says the same, and remembers what it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def check(self, facts: Facts) -> Answer:
        self.asked.append(facts.text)
        return self.answer

    def correct(self, facts: Facts, correction: Correction) -> bool:
        self.asked.append(f"{correction} {facts.text}")
        return True


def origins(runtime: Runtime) -> list[Any]:
    return list(ORIGINS.of(runtime.database).find())


def write(runtime: Runtime, discussion: Discussion, text: str = "hello") -> str:
    """Return the id of a comment that waits for the service's answer."""
    author = PEOPLE["ann"]
    assert author is not None
    new = NewComment(text=text)
    return post_comment(runtime, discussion.node_id, new, author, CommentCall(SENDER)).comment["id"]


def go_on(runtime: Runtime, clock: Clock, service: Service) -> None:
    """Do what is due, as the messages do that the schedule sends again."""
    clock.advance(milliseconds=runtime.settings.lease_ms + 1)
    for row in origins(runtime):
        checking.run(runtime, row["_id"], service)
