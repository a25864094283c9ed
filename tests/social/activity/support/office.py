"""An office whose people rate applicants, and look into their feeds."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social import jobs
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.org import muting, people
from chalicelib.social.activity.org.forms import OrgSettings
from chalicelib.social.messages import JOB, Rerank
from chalicelib.wiring import errands
from tests.social.support.drivers import Courier, settle
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

MARY = {"id": "mary", "type": "applicant", "name": "Mary Fanning"}
ENGINEER = {"id": "engineer", "type": "position", "name": "Senior Software Engineer"}
APPLIED = {
    "type": "new_applicant",
    "applicant_id": "mary",
    "applicant_name": "Mary Fanning",
    "position_id": "engineer",
    "position_name": "Senior Software Engineer",
    "tags": ["skilled"],
}

# Takes what is to happen in the midst of something.
Interrupt = Callable[[Callable[[], None]], None]


@dataclass(frozen=True)
class Office:
    """Plaza with its parts at hand."""

    client: Client
    workers: Workers
    runtime: Runtime
    clock: Clock

    def place(
        self, *user_ids: str, manager: str | None = None, assigned: Sequence[str] = (), **unit: str
    ) -> None:
        """Give people a place in the organisation; nothing that follows is done yet."""
        org = OrgSettings(**unit, manager_id=manager, assigned_ref_ids=[*assigned])
        for user_id in user_ids:
            people.put(self.runtime, user_id, org)

    def settle(self, *user_ids: str) -> None:
        """Make users, without a place in the organisation."""
        settle(self.client, *user_ids)

    def mute(self, reader: str, actor: str) -> None:
        muting.mute(self.runtime, reader, actor)

    def unmute(self, reader: str, actor: str) -> None:
        muting.unmute(self.runtime, reader, actor)

    def try_action(
        self, actor: str, scope: str = "team", *, roles: Sequence[str] = (), **given: Any
    ) -> Reply:
        body: dict[str, Any] = {"descriptor": APPLIED, "refs": [MARY, ENGINEER], **given}
        return self.client.as_(actor, roles=list(roles)).post("/actions", scope=scope, **body)

    def act(self, actor: str, scope: str = "team", **given: Any) -> str:
        """Conduct an action; return its id."""
        reply = self.try_action(actor, scope, **given)
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    def tell(self, actor: str, scope: str = "team", **given: Any) -> str:
        """Conduct an action as an application does, which may name and tell others."""
        return self.act(actor, scope, roles=["application"], **given)

    def comment(self, author: str, action: str, text: str = "A great candidate") -> str:
        reply = self.client.as_(author).post(f"/actions/{action}/comments", text=text)
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    def react(self, author: str, action: str, kind: str = "like") -> None:
        reply = self.client.as_(author).put(f"/actions/{action}/reaction", kind=kind)
        assert reply.status == 204, reply.body

    def hide(self, actor: str, action: str, *, hidden: bool = True) -> None:
        reply = self.client.as_(actor).put(f"/actions/{action}/hidden", is_hidden=hidden)
        assert reply.status == 204, reply.body

    def conceal(self, _actor: str, action: str) -> None:
        """Conceal an action; its cascade waits, also within a worker."""
        runtime, _courier = self.with_courier()
        actions.conceal(runtime, action)

    def delete(self, actor: str, action: str) -> None:
        assert self.client.as_(actor).delete(f"/actions/{action}").status == 204

    def rank_of(self, action: str) -> Rerank:
        """Return the message that the one event of an action sends."""
        (event,) = self.runtime.database["feed.event"].find({"action_id": action})
        return Rerank(action_id=action, event_id=event["_id"])

    def with_courier(self) -> tuple[Runtime, Courier]:
        """Return a runtime whose messages wait until the test takes them."""
        courier = Courier()
        return dataclasses.replace(self.runtime, queues=courier), courier

    def forget_messages(self) -> None:
        """Lose all messages that wait."""
        for poller in self.workers.pollers:
            queue = poller.sqs.get_queue_url(QueueName=str(poller.source.queue))
            poller.sqs.purge_queue(QueueUrl=queue["QueueUrl"])

    def deliver_jobs(self) -> None:
        """Have all done that is owed in the background, but refills, which may be under way."""
        others = {"errand.type": {"$ne": "refill"}}
        for noted in self.runtime.database["social.errand"].find(others):
            errands.run(self.runtime, JOB.validate_python(noted["errand"]))

    def sweep_expired(self) -> None:
        """Let every lease run out and what the sweep sends be worked on."""
        self.clock.advance(milliseconds=self.runtime.settings.lease_ms)
        jobs.resend_overdue(self.runtime)
        self.workers.drain()

    def stored(self, action: str) -> Document:
        """Return an action as it is stored."""
        found = self.runtime.database["feed.action"].find_one({"_id": action})
        assert found is not None
        return found

    def items(self, **where: Any) -> list[Document]:
        return list(self.runtime.database["feed.item"].find(where))

    def readers(self, action: str) -> list[str]:
        """Return those who have an action in their feed."""
        return sorted(item["user_id"] for item in self.items(action_id=action, hidden=False))

    def feed(self, reader: str) -> list[str]:
        """Return the actions of a reader's feed, the nearest first."""
        found: list[str] = []
        cursor = ""
        while cursor is not None:
            page = self.client.as_(reader).get(f"/feed?limit=200{cursor and '&cursor='}{cursor}")
            assert page.status == 200, page.body
            found += [action["id"] for action in page.json["actions"]]
            cursor = page.json["next"]
        return found

    def relevancy(self, reader: str, action: str) -> datetime:
        """Return where an action stands in a reader's feed."""
        (item,) = self.items(user_id=reader, action_id=action)
        found: datetime = item["relevancy"]
        return found

    def standing(self, action: str, readers: Sequence[str]) -> dict[str, datetime]:
        return {reader: self.relevancy(reader, action) for reader in readers}
