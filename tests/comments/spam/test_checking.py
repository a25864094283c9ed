"""A service is asked about comments by a worker, between their posting and their showing."""

import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from chalicelib.comments import jobs
from chalicelib.comments.people import changing
from chalicelib.comments.shapes import State
from chalicelib.comments.spam import checking
from chalicelib.comments.spam_check import origins as spam_origins
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.akismet_stand_in import KEY, AkismetStandIn, Mood, running
from tests.comments.support.checking import SITE_URL, Around, World, origins
from tests.comments.support.discussion import LAYOUTS, Layout
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

PAGE = {"title": "Moon", "url": "https://blog.example/moon"}
COMMENTS = "/nodes/blog:moon/comments"


@pytest.fixture
def akismet() -> Iterator[AkismetStandIn]:
    with running() as stand_in:
        yield stand_in


@pytest.fixture
def settings(settings: Settings, akismet: AkismetStandIn) -> Settings:
    changed = {"akismet_key": SecretStr(KEY), "akismet_url": akismet.url}
    return settings.model_copy(update=changed)


@pytest.fixture(params=LAYOUTS[:1], ids=str)
def layout(request: pytest.FixtureRequest) -> Layout:
    found: Layout = request.param
    return found


@pytest.fixture
def moderator(client: Client, layout: Layout) -> Client:
    staff = client.as_("mo", roles=["moderator", "publisher"], sites=["blog"])
    made = staff.put("/nodes/blog:moon", **PAGE, store=layout.store, threaded=layout.threaded)
    assert made.status == 201, made.body
    wanted = {"spam_check_url": SITE_URL, "phrases": [{"phrase": "casino"}]}
    assert staff.put("/sites/blog/comments/settings", **wanted).status == 200
    return staff


@pytest.fixture
def ann(client: Client) -> Client:
    return client.as_("ann")


@pytest.fixture
def world(client: Client, moderator: Client, akismet: AkismetStandIn, around: Around) -> World:
    return World(client, moderator, client.as_("ann"), akismet, *around)


@pytest.fixture
def around(workers: Workers, runtime: Runtime, clock: Clock) -> Around:
    return workers, runtime, clock


def posted(ann: Client, text: str = "hello") -> str:
    """Return the path of a comment that waits for the service's answer."""
    reply = ann.post(COMMENTS, text=text)
    assert (reply.status, reply.json["state"]) == (201, "pending"), reply.body
    return f"{COMMENTS}/{reply.json['id']}"


def reasons(moderator: Client, queue: str = "pending") -> list[list[str]]:
    rows = moderator.get(f"/moderation/comments?queue={queue}").json["comments"]
    return [row["reasons"] for row in rows]


def state_of(client: Client, path: str) -> str | None:
    reply = client.get(path)
    state: str | None = reply.json["state"] if reply.status == 200 else None
    return state


@pytest.mark.parametrize("layout", LAYOUTS, indirect=True, ids=str)
def test_a_comment_is_shown_once_the_service_has_answered(world: World) -> None:
    path = posted(world.ann)
    assert (world.akismet.asked, state_of(world.client, path)) == ([], None)
    assert reasons(world.moderator) == [["checking"]]

    world.workers.drain()

    assert state_of(world.client, path) == "visible"
    assert reasons(world.moderator) == []
    assert world.akismet.operations() == [("comment-check", "hello")]
    (row,) = origins(world.runtime)
    assert (row["answer"], "task" in row) == ("ham", False)
    assert row["expires"] == world.runtime.now() + timedelta(days=1)


@pytest.mark.parametrize("layout", LAYOUTS, indirect=True, ids=str)
def test_spam_is_filed_and_its_author_not_told(
    moderator: Client, ann: Client, client: Client, akismet: AkismetStandIn, workers: Workers
) -> None:
    akismet.spam.add("buy")
    path = posted(ann, "buy")

    workers.drain()

    assert state_of(moderator, path) == "spam"
    assert (state_of(ann, path), state_of(client, path)) == ("pending", None)
    assert reasons(moderator, "spam") == [["spam_check"]]


@pytest.mark.parametrize("layout", LAYOUTS, indirect=True, ids=str)
def test_what_nobody_has_to_look_at_is_removed(
    moderator: Client, ann: Client, akismet: AkismetStandIn, workers: Workers, runtime: Runtime
) -> None:
    akismet.discarded.add("buy")
    path = posted(ann, "buy")

    workers.drain()

    assert (state_of(moderator, path), state_of(ann, path)) == (None, None)
    assert moderator.get(COMMENTS).json["comments"] == []
    assert origins(runtime) == []


def test_what_something_else_holds_goes_on_waiting_for_that(
    moderator: Client, ann: Client, akismet: AkismetStandIn, workers: Workers
) -> None:
    path = posted(ann, "casino")
    assert reasons(moderator) == [["phrase", "checking"]]

    workers.drain()

    assert (state_of(moderator, path), reasons(moderator)) == ("pending", [["phrase"]])
    assert akismet.operations() == [("comment-check", "casino")]


@pytest.mark.parametrize("layout", LAYOUTS, indirect=True, ids=str)
def test_a_shadowed_person_waits_for_the_answer_as_anybody(world: World) -> None:
    changing.store(world.runtime, "blog", "troll", {"status": "shadowed"})
    troll = world.client.as_("troll")
    world.akismet.spam.add("buy")
    paths = [posted(troll, text) for text in ("hello", "buy", "casino")]
    assert [state_of(troll, path) for path in paths] == ["pending"] * 3

    world.workers.drain()

    assert sorted(world.akismet.operations()) == [
        ("comment-check", text) for text in ("buy", "casino", "hello")
    ]
    assert [state_of(troll, path) for path in paths] == ["visible", "pending", "pending"]
    assert [state_of(world.client, path) for path in paths] == [None] * 3
    states = [state_of(world.moderator, path) for path in paths]
    assert states == ["hidden", "spam", "hidden"]
    edited = troll.patch(paths[0], text="hello again").json
    assert edited["state"] == "pending"
    world.workers.drain()
    assert (state_of(troll, paths[0]), state_of(world.client, paths[0])) == ("visible", None)


def test_an_answer_ends_no_decision_on_a_concealed_comment(world: World) -> None:
    changing.store(world.runtime, "blog", "troll", {"status": "shadowed"})
    troll = world.client.as_("troll")
    path = posted(troll)
    assert world.moderator.post(f"{path}/state", state="hidden").status == 200

    world.workers.drain()

    assert (state_of(troll, path), state_of(world.moderator, path)) == (None, "hidden")


def test_nobody_is_asked_about_moderators_and_programs(world: World) -> None:
    assert world.moderator.post(COMMENTS, text="from mo").json["state"] == "visible"
    world.client.as_("bob").post(COMMENTS, text="from a program", website="https://spam.example")

    world.workers.drain()

    assert (world.akismet.asked, origins(world.runtime)) == ([], [])


def test_a_site_that_wants_nobody_asked_waits_for_nobody(
    runtime: Runtime, moderator: Client, ann: Client
) -> None:
    assert moderator.put("/sites/blog/comments/settings").status == 200

    assert ann.post(COMMENTS, text="hello").json["state"] == "visible"
    assert origins(runtime) == []


def test_a_comment_of_a_site_that_wants_it_no_more_is_left_to_moderators(world: World) -> None:
    posted(world.ann)
    world.moderator.put("/sites/blog/comments/settings")

    for _ in range(checking.MOST_TRIES):
        world.workers.drain()
        world.clock.advance(minutes=5)
        jobs.run_due(world.runtime)

    assert reasons(world.moderator) == [["unchecked"]]


@pytest.mark.parametrize("mood", ["garbage", "failing", "hanging up"])
def test_a_service_that_is_down_leaves_it_to_moderators_after_three_tries(
    world: World, mood: Mood
) -> None:
    world.akismet.mood = mood
    path = posted(world.ann)

    for _ in range(checking.MOST_TRIES + 2):
        world.workers.drain()
        world.clock.advance(minutes=5)
        jobs.run_due(world.runtime)

    assert len(world.akismet.asked) == checking.MOST_TRIES
    assert (state_of(world.ann, path), reasons(world.moderator)) == ("pending", [["unchecked"]])


def test_a_service_that_is_back_is_asked_again(world: World) -> None:
    world.akismet.mood = "failing"
    path = posted(world.ann)
    world.workers.drain()
    assert reasons(world.moderator) == [["checking"]]
    world.akismet.mood = "well"
    world.clock.advance(minutes=5)

    jobs.run_due(world.runtime)
    world.workers.drain()

    assert state_of(world.ann, path) == "visible"


def test_an_edit_is_checked_again(
    moderator: Client, ann: Client, akismet: AkismetStandIn, workers: Workers
) -> None:
    path = posted(ann)
    workers.drain()
    akismet.spam.add("buy")

    assert ann.patch(path, text="buy").json["state"] == "pending"
    workers.drain()

    assert (state_of(moderator, path), state_of(ann, path)) == ("spam", "pending")


def test_who_decides_first_is_not_overruled(
    moderator: Client, ann: Client, akismet: AkismetStandIn, workers: Workers
) -> None:
    akismet.spam.add("buy")
    path = posted(ann, "buy")
    moderator.post(f"{path}/state", state="visible")

    workers.drain()

    assert (state_of(ann, path), akismet.asked) == ("visible", [])


@pytest.mark.parametrize(
    ("text", "states", "told"),
    [
        ("buy", ["visible"], ["submit-ham"]),
        ("buy", ["hidden"], []),
        ("buy", ["spam"], []),
        ("hello", ["spam"], ["submit-spam"]),
        ("hello", ["hidden", "visible"], []),
        ("hello", ["spam", "visible"], ["submit-spam", "submit-ham"]),
    ],
)
def test_the_service_is_told_once_what_is_decided_against_it(
    world: World, text: str, states: list[State], told: list[str]
) -> None:
    world.akismet.spam.add("buy")
    path = posted(world.ann, text)
    world.workers.drain()

    for state in states:
        assert world.moderator.post(f"{path}/state", state=state).status == 200
        world.workers.drain()
        world.moderator.post(f"{path}/state", state=state)
        world.clock.advance(minutes=5)
        jobs.run_due(world.runtime)
        world.workers.drain()

    assert [operation for operation, _ in world.akismet.asked[1:]] == told


def test_a_decision_that_is_undone_before_it_was_told_is_not_told(
    moderator: Client, ann: Client, akismet: AkismetStandIn, workers: Workers
) -> None:
    path = posted(ann)
    workers.drain()
    moderator.post(f"{path}/state", state="spam")
    (act,) = moderator.get("/moderation/log?site=blog").json["acts"]
    moderator.post(f"/moderation/log/{act['id']}/undo")

    workers.drain()

    assert [operation for operation, _ in akismet.asked] == ["comment-check"]


def test_a_decision_that_is_undone_before_the_answer_leaves_it_to_moderators(
    moderator: Client, ann: Client, akismet: AkismetStandIn, workers: Workers
) -> None:
    path = posted(ann)
    moderator.post(f"{path}/state", state="visible")
    (act,) = moderator.get("/moderation/log?site=blog").json["acts"]
    moderator.post(f"/moderation/log/{act['id']}/undo")

    workers.drain()

    (row,) = moderator.get("/moderation/comments").json["comments"]
    assert row["reasons"] == ["unchecked"]
    assert akismet.asked == []


@pytest.mark.parametrize("state", ["spam", "visible"])
def test_a_refused_decision_leaves_the_check(
    world: World, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    path = posted(world.ann)
    note = spam_origins.note_decision

    def note_then_edit(*given: Any) -> bool:
        is_noted: bool = note(*given)
        assert world.ann.patch(path, text="hello, all").status == 200
        # As if the edit had noted its check before the decision did.
        spam_origins.ORIGINS.of(world.runtime.database).update_one({}, {"$set": {"task": "spam"}})
        return is_noted

    with monkeypatch.context() as patch:
        patch.setattr(spam_origins, "note_decision", note_then_edit)
        as_shown = {"state": "pending", "edited_at": None}
        refused = world.moderator.post(f"{path}/state", state=state, as_shown=as_shown)
    assert refused.code == "comment_changed"

    world.workers.drain()

    assert state_of(world.client, path) == "visible"


def test_a_message_that_comes_twice_asks_once(world: World) -> None:
    posted(world.ann)
    world.workers.drain()
    (row,) = origins(world.runtime)

    checking.run(world.runtime, row["_id"])

    assert len(world.akismet.asked) == 1


def test_no_log_says_who_it_was(world: World, caplog: pytest.LogCaptureFixture) -> None:
    headers = {"User-Agent": "Quaint/1.0", "Content-Type": "application/json"}
    log.addHandler(caplog.handler)
    try:
        with caplog.at_level(logging.INFO, logger=log.name):
            sent = world.ann.request("POST", COMMENTS, body=b'{"text": "hello"}', headers=headers)
            world.workers.drain()
    finally:
        log.removeHandler(caplog.handler)

    assert sent.status == 201
    logged = [str(vars(record)) for record in caplog.records]
    (row,) = origins(world.runtime)
    assert (row["address"], row["agent"]) == ("127.0.0.1", "Quaint/1.0")
    assert any("comment checked" in each for each in logged)
    assert not [each for each in logged if "127.0.0.1" in each or "Quaint" in each]
