"""A service is asked about comments by a worker, between their posting and their showing."""

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from chalicelib.comments import schedules
from chalicelib.comments.discussion.posting import post_comment
from chalicelib.comments.models import NewComment
from chalicelib.comments.people import changing
from chalicelib.comments.shapes import State
from chalicelib.comments.sites import settings as site_settings
from chalicelib.comments.sites.models import CommentSettings
from chalicelib.comments.spam import checking
from chalicelib.comments.spam_check.origins import ORIGINS, Sender
from chalicelib.comments.spam_check.port import Answer, Correction, Facts
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.akismet_stand_in import KEY, AkismetStandIn, Mood, running
from tests.comments.support.crash_points import crash_everywhere
from tests.comments.support.discussion import LAYOUTS, PEOPLE, Discussion, Layout
from tests.comments.support.entries import NONE, difference
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

PAGE = {"title": "Moon", "url": "https://blog.example/moon"}
COMMENTS = "/nodes/blog:moon/comments"
SITE_URL = "https://blog.example/"
Around = tuple[Workers, Runtime, Clock]
SENDER = Sender("192.0.2.7", "A browser")


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
def discussion(runtime: Runtime, layout: Layout) -> Discussion:
    site_settings.put(runtime, "default", CommentSettings(spam_check_url=SITE_URL))
    return Discussion.make(runtime, layout)


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


@pytest.fixture
def world(client: Client, moderator: Client, akismet: AkismetStandIn, around: Around) -> World:
    return World(client, moderator, client.as_("ann"), akismet, *around)


@pytest.fixture
def around(workers: Workers, runtime: Runtime, clock: Clock) -> Around:
    return workers, runtime, clock


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


def origins(runtime: Runtime) -> list[Any]:
    return list(ORIGINS.of(runtime.database).find())


def write(runtime: Runtime, discussion: Discussion, text: str = "hello") -> str:
    """Return the id of a comment that waits for the service's answer."""
    author = PEOPLE["ann"]
    assert author is not None
    new = NewComment(text=text)
    return post_comment(runtime, discussion.node_id, new, author, SENDER).comment["id"]


def go_on(runtime: Runtime, clock: Clock, service: Service) -> None:
    """Do what is due, as the messages do that the schedule sends again."""
    clock.advance(milliseconds=runtime.settings.lease_ms + 1)
    for row in origins(runtime):
        checking.run(runtime, row["_id"], service)


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


def test_nobody_is_asked_about_moderators_programs_and_shadowed_people(world: World) -> None:
    changing.store(world.runtime.database, "blog", "troll", {"status": "shadowed"})
    assert world.moderator.post(COMMENTS, text="from mo").json["state"] == "visible"
    assert world.client.as_("troll").post(COMMENTS, text="from them").json["state"] == "visible"
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
        schedules.run_due(world.runtime)

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
        schedules.run_due(world.runtime)

    assert len(world.akismet.asked) == checking.MOST_TRIES
    assert (state_of(world.ann, path), reasons(world.moderator)) == ("pending", [["unchecked"]])


def test_a_service_that_is_back_is_asked_again(world: World) -> None:
    world.akismet.mood = "failing"
    path = posted(world.ann)
    world.workers.drain()
    assert reasons(world.moderator) == [["checking"]]
    world.akismet.mood = "well"
    world.clock.advance(minutes=5)

    schedules.run_due(world.runtime)
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
        schedules.run_due(world.runtime)
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


def test_workers_at_once_ask_once(runtime: Runtime, discussion: Discussion) -> None:
    write(runtime, discussion)
    (row,) = origins(runtime)
    meeting, service = threading.Barrier(4), Service("spam")

    def work(_number: int) -> None:
        meeting.wait()
        checking.run(runtime, row["_id"], service)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))

    assert service.asked == ["hello"]
    (comment,) = discussion.stored().values()
    assert comment["state"] == "spam"


@pytest.mark.parametrize("answer", ["ham", "spam"])
def test_a_check_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock, answer: Answer
) -> None:
    state = "visible" if answer == "ham" else "spam"
    service, last = Service(answer), write(runtime, discussion)

    def call(ending: Runtime) -> None:
        checking.run(ending, f"{discussion.node_id}/{last}", service)

    for _ in crash_everywhere(runtime, mongodb_uri, call):
        go_on(runtime, clock, service)
        # What ended within a change, the schedule makes agree.
        clock.advance(minutes=16)
        schedules.run_due(runtime)
        assert discussion.stored()[last]["state"] == state
        assert difference(discussion) == NONE
        assert not [row for row in origins(runtime) if "task" in row]
        last = write(runtime, discussion)


def test_a_post_that_is_checked_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock
) -> None:
    service = Service("ham")

    for _ in crash_everywhere(runtime, mongodb_uri, lambda ending: write(ending, discussion)):
        go_on(runtime, clock, service)
        clock.advance(minutes=16)
        schedules.run_due(runtime)
        assert {each["state"] for each in discussion.stored().values()} <= {"visible"}
        assert difference(discussion) == NONE


def test_a_correction_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock
) -> None:
    service = Service("ham")

    def filed() -> str:
        comment = write(runtime, discussion)
        go_on(runtime, clock, service)
        discussion.set_state(comment, "spam")
        service.asked.clear()
        return comment

    last = filed()

    def call(ending: Runtime) -> None:
        checking.run(ending, f"{discussion.node_id}/{last}", service)

    for _ in crash_everywhere(runtime, mongodb_uri, call):
        go_on(runtime, clock, service)
        # Twice at most, if the call was made and not noted.
        assert service.asked in (["spam hello"], ["spam hello"] * 2)
        (row,) = ORIGINS.of(runtime.database).find({"comment_id": last})
        assert (row["answer"], "task" in row) == ("spam", False)
        last = filed()
