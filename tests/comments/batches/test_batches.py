"""Batches of moderation: many comments decided on by a worker, told in the log, and undone."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.comments import jobs
from chalicelib.comments.log.rows import BATCHES, KEPT, LOG
from chalicelib.comments.shapes import PlacedComment
from chalicelib.comments.writing import decisions
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

pytestmark = pytest.mark.usefixtures("passing_time")
NODE = "/nodes/blog:moon"
OTHER_NODE = "/nodes/blog:sun"
BATCHES_PATH = "/moderation/batches"


@pytest.fixture
def moderator(client: Client) -> Client:
    mo = client.as_("mo", name="Mo", roles=["moderator"], sites=["blog"])
    for node in (NODE, OTHER_NODE):
        assert mo.put(node, title="Sky", url="https://blog.example/sky").status == 201
    return mo


def write(client: Client, who: str, number: int = 1, node: str = NODE) -> list[str]:
    """Have somebody write comments; return their ids, the first first."""
    author = client.as_(who, name=who.title())
    replies = [
        author.post(f"{node}/comments", text=f"{each} by {who} at {node}") for each in range(number)
    ]
    assert all(reply.status == 201 for reply in replies)
    return [reply.json["id"] for reply in replies]


def begin(moderator: Client, workers: Workers, **wanted: Any) -> Any:
    """Begin a batch and have it done; return it as it is then."""
    begun = moderator.post(BATCHES_PATH, site="blog", **wanted)
    assert begun.status == 202, begun.body
    assert begun.json["status"] == "running"
    workers.drain()
    return read(moderator, begun.json["id"])


def undo(moderator: Client, workers: Workers, batch: Any) -> Any:
    begun = moderator.post(f"{BATCHES_PATH}/{batch['id']}/undo")
    assert begun.status == 202, begun.body
    workers.drain()
    return read(moderator, begun.json["id"])


def read(moderator: Client, batch: str) -> Any:
    reply = moderator.get(f"{BATCHES_PATH}/{batch}")
    assert reply.status == 200, reply.body
    return reply.json


def figures(batch: Any) -> tuple[int, int, int, int]:
    return batch["total"], batch["changed"], batch["unchanged"], batch["left"]


def named(*ids: str, node: str = NODE) -> list[dict[str, Any]]:
    return [{"node_id": node.removeprefix("/nodes/"), "comment_id": each} for each in ids]


def states(moderator: Client, *ids: str, node: str = NODE) -> list[str]:
    return [moderator.get(f"{node}/comments/{each}").json["state"] for each in ids]


def test_named_comments_get_a_state(client: Client, moderator: Client, workers: Workers) -> None:
    ids, (other,) = write(client, "ann", 3), write(client, "ben", node=OTHER_NODE)
    comments = [*named(*ids[:2]), *named(other, node=OTHER_NODE)]

    done = begin(moderator, workers, state="hidden", comments=comments, reason="Spam")

    assert (done["status"], figures(done)) == ("done", (3, 3, 0, 0))
    assert states(moderator, *ids) == ["hidden", "hidden", "visible"]
    assert states(moderator, other, node=OTHER_NODE) == ["hidden"]
    assert (done["by"], done["reason"]) == ({"id": "mo", "name": "Mo"}, "Spam")


@pytest.mark.parametrize(
    ("to", "expected"), [("blog:stars", (2, 2, 0, 0)), ("news:m", (2, 1, 0, 1))]
)
def test_comments_of_a_moved_node_are_decided_where_they_are_within_the_site(
    client: Client, moderator: Client, workers: Workers, to: str, expected: tuple[int, ...]
) -> None:
    (moved,), (other,) = write(client, "ann"), write(client, "ben", node=OTHER_NODE)
    admin = client.as_("root", roles=["admin"])
    assert admin.post(f"{NODE}/move", to=to).status == 200

    comments = [*named(moved), *named(other, node=OTHER_NODE)]
    done = begin(moderator, workers, state="hidden", comments=comments)

    assert figures(done) == expected
    stays = "hidden" if to.startswith("blog:") else "visible"
    assert states(admin, moved, node=f"/nodes/{to}") == [stays]


def test_each_decision_is_told_in_the_log_with_its_batch(
    client: Client, moderator: Client, workers: Workers
) -> None:
    ids = write(client, "ann", 3)
    assert moderator.post(f"{NODE}/comments/{ids[0]}/state", state="hidden").status == 200

    done = begin(moderator, workers, state="hidden", person="ann", reason="Spam")

    assert figures(done) == (3, 2, 1, 0)
    of_batch = moderator.get(f"/moderation/log?site=blog&batch={done['id']}").json["acts"]
    assert {each["comment_id"] for each in of_batch} == set(ids[1:])
    assert {(each["reason"], each["batch"]) for each in of_batch} == {("Spam", done["id"])}
    assert len(moderator.get("/moderation/log?site=blog").json["acts"]) == 3


@pytest.mark.parametrize("count", [0, 1, 4, 5, 6, 11])
@pytest.mark.bounds(comments={"batch_items_at_once": 5})
def test_all_of_a_person_get_a_state_however_many_messages_it_takes(
    client: Client, moderator: Client, workers: Workers, count: int
) -> None:
    ids, (of_ben,) = write(client, "ann", count), write(client, "ben")

    done = begin(moderator, workers, state="hidden", person="ann")

    assert (done["status"], figures(done)) == ("done", (count, count, 0, 0))
    assert states(moderator, *ids) == ["hidden"] * count
    assert states(moderator, of_ben) == ["visible"]
    back = undo(moderator, workers, done)
    assert (back["status"], figures(back)) == ("done", (count, count, 0, 0))
    assert states(moderator, *ids) == ["visible"] * count


def test_a_persons_comments_from_a_time_on_until_it_began(
    client: Client, moderator: Client, workers: Workers, clock: Clock
) -> None:
    (old,) = write(client, "ann")
    clock.advance(hours=1)
    since = clock.time.isoformat()
    (new,) = write(client, "ann", node=OTHER_NODE)
    wanted = {"site": "blog", "state": "hidden", "person": "ann", "since": since}
    begun = moderator.post(BATCHES_PATH, **wanted).json
    clock.advance(minutes=1)
    (later,) = write(client, "ann")

    workers.drain()

    assert figures(read(moderator, begun["id"])) == (1, 1, 0, 0)
    assert states(moderator, old, later) == ["visible", "visible"]
    assert states(moderator, new, node=OTHER_NODE) == ["hidden"]


def test_what_is_gone_or_edited_since_is_left(
    client: Client, moderator: Client, workers: Workers
) -> None:
    kept, edited, deleted = write(client, "ann", 3)
    ann = client.as_("ann")
    assert ann.patch(f"{NODE}/comments/{edited}", text="Another text").status == 200
    assert ann.delete(f"{NODE}/comments/{deleted}").status == 204
    seen = [{**each, "edited_at": None} for each in named(kept, edited, deleted)]
    nowhere = [*named("0123456789"), *named(kept, node="/nodes/blog:gone")]

    done = begin(moderator, workers, state="hidden", comments=[*seen, *nowhere])

    assert figures(done) == (5, 1, 0, 4)
    assert states(moderator, kept, edited) == ["hidden", "visible"]


def test_undoing_leaves_what_was_decided_otherwise_since(
    client: Client, moderator: Client, workers: Workers
) -> None:
    ids = write(client, "ann", 3)
    done = begin(moderator, workers, state="hidden", person="ann")
    assert moderator.post(f"{NODE}/comments/{ids[1]}/state", state="pending").status == 200

    back = undo(moderator, workers, done)

    assert (figures(back), back["undoes"]) == ((3, 2, 0, 1), done["id"])
    assert states(moderator, *ids) == ["visible", "pending", "visible"]
    again = undo(moderator, workers, back)
    assert figures(again) == (2, 2, 0, 0)
    assert states(moderator, *ids) == ["hidden", "pending", "hidden"]


def test_a_message_that_comes_twice_changes_nothing(
    client: Client, moderator: Client, workers: Workers, runtime: Runtime
) -> None:
    write(client, "ann", 2)
    done = begin(moderator, workers, state="hidden", person="ann")
    stored = BATCHES.of(runtime.database).find_one({})

    again = begin(moderator, workers, state="hidden", person="ann")

    assert figures(again) == (2, 0, 2, 0)
    assert BATCHES.of(runtime.database).find_one({"_id": done["id"]}) == stored
    assert LOG.of(runtime.database).count_documents({}) == 2


def test_a_batch_whose_message_is_lost_is_sent_again(
    moderator: Client,
    workers: Workers,
    clock: Clock,
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(moderator, "ann", 2)
    with monkeypatch.context() as lost:
        lost.setattr(Queues, "send", lambda *_: True)
        wanted = {"site": "blog", "state": "hidden", "person": "ann"}
        begun = moderator.post(BATCHES_PATH, **wanted).json
    assert workers.drain() == 0

    clock.advance(minutes=5)
    jobs.run_due(runtime)
    workers.drain()

    assert read(moderator, begun["id"])["status"] == "done"


def test_a_batch_that_runs_is_not_undone(client: Client, moderator: Client) -> None:
    write(client, "ann")
    begun = moderator.post(BATCHES_PATH, site="blog", state="hidden", person="ann").json

    assert moderator.post(f"{BATCHES_PATH}/{begun['id']}/undo").code == "batch_running"


def test_only_moderators_of_the_site_begin_read_and_undo(
    client: Client, moderator: Client, workers: Workers
) -> None:
    write(client, "ann")
    done = begin(moderator, workers, state="hidden", person="ann")
    other = client.as_("ody", roles=["moderator"], sites=["sea"])

    wanted = {"site": "blog", "state": "hidden", "person": "ann"}
    assert other.post(BATCHES_PATH, **wanted).code == "forbidden"
    assert other.get(f"{BATCHES_PATH}/{done['id']}").code == "forbidden"
    assert other.post(f"{BATCHES_PATH}/{done['id']}/undo").code == "forbidden"
    assert moderator.get(f"{BATCHES_PATH}/aaneGAECAwQFBgcI").code == "unknown_batch"
    assert moderator.post(f"{BATCHES_PATH}/aaneGAECAwQFBgcI/undo").code == "unknown_batch"


COMMENT = {"node_id": "blog:moon", "comment_id": "0123456789"}


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"comments": []},
        {"comments": [COMMENT], "person": "ann"},
        {"comments": [COMMENT, {**COMMENT, "edited_at": None}]},
        {"comments": [{**COMMENT, "node_id": "sea:moon"}]},
        {"comments": [COMMENT], "since": "2026-03-01T00:00:00Z"},
        {"comments": [{**COMMENT, "comment_id": f"{n:010}"} for n in range(201)]},
        {"person": {"$ne": None}},
        {"person": "ann", "state": "deleted"},
    ],
    ids=["none", "empty", "both", "twice", "of another site", "since", "201", "operator", "state"],
)
def test_what_is_no_batch_is_refused(
    moderator: Client, runtime: Runtime, wanted: dict[str, Any]
) -> None:
    refused = moderator.post(BATCHES_PATH, **{"site": "blog", "state": "hidden", **wanted})

    assert refused.code == "invalid_request"
    assert BATCHES.of(runtime.database).find_one({}) is None


def test_200_comments_are_taken(client: Client, moderator: Client, workers: Workers) -> None:
    ids = write(client, "ann", 2)
    nowhere = [f"{number:010}" for number in range(198)]

    done = begin(moderator, workers, state="hidden", comments=named(*nowhere, *ids))

    assert figures(done) == (200, 2, 0, 198)


def test_a_batch_of_somebody_who_is_erased_stops(
    client: Client, moderator: Client, workers: Workers, runtime: Runtime
) -> None:
    (comment,) = write(client, "ann")
    begun = moderator.post(BATCHES_PATH, site="blog", state="hidden", person="ann").json
    erase_moderator(runtime)

    workers.drain()

    assert read(moderator, begun["id"])["status"] == "stopped"
    assert states(moderator, comment) == ["visible"]


UNNAMED = {"$set": {"by": None, "by_name": None}}


def erase_moderator(runtime: Runtime) -> None:
    BATCHES.of(runtime.database).update_many({}, UNNAMED)
    LOG.of(runtime.database).update_many({}, UNNAMED)


def test_a_moderator_who_is_erased_while_their_batch_runs_is_in_no_later_act(
    client: Client,
    moderator: Client,
    workers: Workers,
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids = write(client, "ann", 3)
    begun = moderator.post(BATCHES_PATH, site="blog", state="hidden", person="ann").json
    decide = decisions.set_state

    def erase_then_decide(given: Runtime, *rest: Any) -> PlacedComment:
        erase_moderator(given)
        return decide(given, *rest)

    monkeypatch.setattr(decisions, "set_state", erase_then_decide)
    workers.drain()

    assert read(moderator, begun["id"])["status"] == "stopped"
    assert states(moderator, *ids).count("hidden") == 1
    assert [act["by"] for act in LOG.of(runtime.database).find()] == [None]


@pytest.mark.parametrize("state", ["visible", "hidden", "spam"])
def test_a_batch_settles_the_flags_of_its_comments(
    client: Client, moderator: Client, workers: Workers, state: str
) -> None:
    (comment,) = write(client, "ann")
    assert client.as_("ben").put(f"{NODE}/comments/{comment}/flag", reason="abuse").status == 204

    done = begin(moderator, workers, state=state, comments=named(comment))

    assert figures(done) == (1, 1, 0, 0)
    assert states(moderator, comment) == [state]
    assert moderator.get("/moderation/comments?queue=flagged").json["comments"] == []
    (flag,) = moderator.get(f"{NODE}/comments/{comment}/flags").json["flags"]
    assert flag["outcome"] == ("wrong" if state == "visible" else "right")


def test_a_batch_that_holds_comments_back_leaves_what_flags_hold_back(
    client: Client, moderator: Client, workers: Workers
) -> None:
    (comment,) = write(client, "ann")
    assert moderator.put(f"{NODE}/comments/{comment}/flag", reason="abuse").status == 204
    assert states(moderator, comment) == ["pending"]

    done = begin(moderator, workers, state="pending", comments=named(comment))

    assert figures(done) == (1, 0, 1, 0)
    (row,) = moderator.get("/moderation/comments?queue=flagged").json["comments"]
    assert row["reasons"] == ["flagged"]


def test_a_flagged_comment_that_was_edited_since_is_not_approved(
    client: Client, moderator: Client, workers: Workers
) -> None:
    (comment,) = write(client, "ann")
    client.as_("ben").put(f"{NODE}/comments/{comment}/flag", reason="abuse")
    client.as_("ann").patch(f"{NODE}/comments/{comment}", text="Another text")
    as_shown = {"state": "visible", "edited_at": None}

    done = begin(
        moderator,
        workers,
        state="visible",
        comments=[{**each, "as_shown": as_shown} for each in named(comment)],
    )

    assert figures(done) == (1, 0, 0, 1)
    assert len(moderator.get("/moderation/comments?queue=flagged").json["comments"]) == 1


def test_rows_go_after_two_years(runtime: Runtime) -> None:
    indexes = BATCHES.of(runtime.database).index_information().values()

    expiring = [each["expireAfterSeconds"] for each in indexes if "expireAfterSeconds" in each]
    assert expiring == [int(KEPT / timedelta(seconds=1))]
