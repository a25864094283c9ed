"""A site and its copy by an import: equal comment ids, and nothing else in common."""

from tests.comments.support.importing import bring, exported
from tests.support.http_client import Client
from tests.webhooks.conftest import ALL, Desk
from tests.webhooks.support.receiver import Receiver, running

COPY = "bay:moon"


def conversation(desk: Desk) -> str:
    """Have ben reply to ann at `harbour`, where both sites notify; return the reply's id."""
    admin = desk.client.as_("admin", roles=["admin"])
    for site in ("harbour", "bay"):
        path = f"/sites/{site}/comments/settings"
        assert admin.put(path, notifications=True).status == 200
    desk.clock.advance(seconds=6)
    first = desk.post("The moon is up.", "ann")
    ben = desk.client.as_("ben", name="Ben")
    reply = ben.post("/nodes/harbour:moon/comments", text="So it is.", parent=first)
    assert reply.status == 201, reply.body
    desk.workers.drain()
    return str(reply.json["id"])


def copy(desk: Desk) -> None:
    """Import the export of `harbour` as `bay`."""
    bring(desk.runtime, exported(desk.runtime, "harbour"), site="bay", format="plaza")
    desk.workers.drain()


def hide(staff: Client, comment: str) -> None:
    """Hide the copy of a comment."""
    assert staff.post(f"/nodes/{COPY}/comments/{comment}/state", state="hidden").status == 200


def test_what_happens_to_the_copy_takes_no_notification_of_the_site_back(desk: Desk) -> None:
    reply = conversation(desk)
    copy(desk)

    hide(desk.client.as_("eve", roles=["moderator"], sites=["bay"]), reply)
    desk.workers.drain()

    told = desk.client.as_("ann").get("/notifications").json["notifications"]
    assert [(each["kind"], each["site"]) for each in told] == [("comment.reply", "harbour")]


def test_each_site_hears_of_its_own_comments(desk: Desk, receiver: Receiver) -> None:
    with running() as other:
        desk.hook(receiver.url)
        reply = conversation(desk)
        eve = desk.client.as_("eve", roles=["publisher"], sites=["bay"])
        assert eve.post("/sites/bay/webhooks", url=other.url, kinds=ALL).status == 201
        desk.clock.advance(seconds=6)
        copy(desk)
        hide(eve, reply)
        desk.workers.drain()
        assert receiver.kinds == ["comment.created"] * 2

        desk.set_state(reply, "hidden")
        desk.workers.drain()

        assert receiver.kinds[2:] == ["comment.state_changed"]
        # A copy of a comment that is younger than the hook is new to it.
        assert other.kinds == ["comment.created"]
