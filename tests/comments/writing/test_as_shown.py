"""Edits and decisions with the comment as it was shown: they undo no change since."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from chalicelib.comments.errors import CommentChanged
from chalicelib.comments.forms import CommentEdit, StateChange
from chalicelib.comments.log.acts import Actor
from chalicelib.comments.writing import decisions, edit
from chalicelib.identity import Principal
from tests.comments.support.discussion import Discussion
from tests.support.http_client import Client
from tests.support.workers import Workers

pytestmark = pytest.mark.usefixtures("passing_time")
NODE = "/nodes/blog:moon"
NEVER_EDITED = {"state": "visible", "edited_at": None}


@pytest.fixture
def moderators(client: Client) -> tuple[Client, Client]:
    mo, mia = (
        client.as_(name.lower(), name=name, roles=["moderator"], sites=["blog"])
        for name in ("Mo", "Mia")
    )
    assert mo.put(NODE, title="Moon", url="https://blog.example/moon").status == 201
    return mo, mia


@pytest.fixture
def ann(client: Client, moderators: tuple[Client, Client]) -> Client:
    del moderators
    return client.as_("ann", name="Ann")


@pytest.fixture
def comment(ann: Client) -> str:
    made = ann.post(f"{NODE}/comments", text="Full of abuse")
    return f"{NODE}/comments/{made.json['id']}"


def shown(caller: Client, comment: str) -> dict[str, Any]:
    found = caller.get(comment).json
    return {"state": found["state"], "edited_at": found["edited_at"]}


def test_an_open_form_does_not_restore_what_a_moderator_removed(
    ann: Client, moderators: tuple[Client, Client], comment: str
) -> None:
    mo, _ = moderators
    opened = shown(ann, comment)
    assert mo.patch(comment, text="Clean", as_shown=opened).status == 200

    refused = ann.patch(comment, text="Full of abuse, and more", as_shown=opened)

    assert (refused.status, refused.code) == (409, "comment_changed")
    now = ann.get(comment).json
    assert refused.json["facts"] == {
        "state": "visible",
        "edited_at": now["edited_at"],
        "text": "Clean",
    }
    assert ann.patch(comment, text="Fine", as_shown=shown(ann, comment)).status == 200
    assert ann.get(comment).json["text"] == "Fine"


def test_a_moderator_is_told_who_decided_already(
    moderators: tuple[Client, Client], comment: str
) -> None:
    mo, mia = moderators
    queued = shown(mo, comment)
    assert mia.post(f"{comment}/state", state="hidden", as_shown=queued).status == 200

    for wanted in ("visible", "hidden"):
        refused = mo.post(f"{comment}/state", state=wanted, as_shown=queued)
        assert (refused.status, refused.code) == (409, "comment_changed")
        facts = refused.json["facts"]
        assert (facts["state"], facts["text"]) == ("hidden", "Full of abuse")
        assert facts["act"]["by"] == {"id": "mia", "name": "Mia"}
        assert facts["act"]["action"] == "state"

    assert shown(mo, comment)["state"] == "hidden"
    assert len(mo.get("/moderation/log?site=blog").json["acts"]) == 1


def test_an_edit_since_stops_a_decision(
    ann: Client, moderators: tuple[Client, Client], comment: str
) -> None:
    mo, _ = moderators
    queued = shown(mo, comment)
    ann.patch(comment, text="Another text")

    refused = mo.post(f"{comment}/state", state="visible", as_shown=queued)

    assert refused.code == "comment_changed"
    assert (refused.json["facts"]["text"], refused.json["facts"]["act"]) == ("Another text", None)


def test_callers_that_say_nothing_change_it_as_before(
    ann: Client, moderators: tuple[Client, Client], comment: str
) -> None:
    mo, mia = moderators
    assert mia.patch(comment, text="Clean").status == 200
    assert ann.patch(comment, text="Mine").status == 200
    assert mia.post(f"{comment}/state", state="hidden").status == 200
    assert mo.post(f"{comment}/state", state="visible", as_shown=None).status == 200
    assert mo.get(comment).json["text"] == "Mine"


@pytest.mark.parametrize(
    "wrong",
    [{}, {"state": "visible"}, {"edited_at": None}, {"state": "deleted", "edited_at": None}],
)
def test_half_of_what_was_shown_is_refused(ann: Client, comment: str, wrong: Any) -> None:
    assert ann.patch(comment, text="x", as_shown=wrong).code == "invalid_request"


def test_a_batch_leaves_what_is_not_as_it_was_shown(
    ann: Client, moderators: tuple[Client, Client], comment: str, workers: Workers
) -> None:
    mo, mia = moderators
    other = ann.post(f"{NODE}/comments", text="Second").json["id"]
    places = [
        {"node_id": "blog:moon", "comment_id": each, "as_shown": NEVER_EDITED}
        for each in (comment.rpartition("/")[2], other)
    ]
    assert mia.post(f"{comment}/state", state="pending").status == 200

    begun = mo.post("/moderation/batches", site="blog", state="hidden", comments=places)
    workers.drain()

    batch = mo.get(f"/moderation/batches/{begun.json['id']}").json
    assert (batch["changed"], batch["left"]) == (1, 1)
    assert shown(mo, comment)["state"] == "pending"
    assert shown(mo, f"{NODE}/comments/{other}")["state"] == "hidden"


def test_an_act_is_not_undone_after_a_later_decision_to_the_same_state(
    moderators: tuple[Client, Client], comment: str
) -> None:
    mo, mia = moderators
    mo.post(f"{comment}/state", state="hidden")
    (act,) = mo.get("/moderation/log?site=blog").json["acts"]
    mia.post(f"{comment}/state", state="visible")
    mia.post(f"{comment}/state", state="hidden")

    refused = mo.post(f"/moderation/log/{act['id']}/undo")

    assert (refused.status, refused.code) == (409, "changed_since")
    assert refused.json["facts"]["act"]["by"]["name"] == "Mia"
    assert shown(mo, comment)["state"] == "hidden"


def test_a_shadowed_author_edits_what_they_are_shown(
    client: Client, moderators: tuple[Client, Client]
) -> None:
    mo, _ = moderators
    troll = client.as_("troll", name="Troll")
    troll.post(f"{NODE}/comments", text="First")
    changed = mo.patch("/sites/blog/people/troll", status="shadowed")
    assert changed.status == 200, changed.body
    made = troll.post(f"{NODE}/comments", text="Second").json
    path = f"{NODE}/comments/{made['id']}"

    edited = troll.patch(path, text="Third", as_shown=NEVER_EDITED)

    assert (edited.status, edited.json["state"]) == (200, "visible")
    refused = troll.patch(path, text="Fourth", as_shown=NEVER_EDITED)
    assert refused.json["facts"].keys() == {"state", "edited_at", "text"}
    assert refused.json["facts"]["state"] == "visible"


def at_once(calls: Sequence[Callable[[], object]]) -> int:
    """Make calls at once; return how many were not refused."""

    def refusal_of(call: Callable[[], object]) -> CommentChanged | None:
        try:
            call()
        except CommentChanged as refused:
            return refused
        return None

    with ThreadPoolExecutor(len(calls)) as pool:
        refusals = list(pool.map(refusal_of, calls))
    assert all(each.facts for each in refusals if each is not None)
    return refusals.count(None)


def edit_text(discussion: Discussion, comment: str, who: Principal) -> object:
    wanted = CommentEdit.model_validate({"text": f"by {who.id}", "as_shown": NEVER_EDITED})
    return edit.edit_comment(discussion.runtime, discussion.node_id, comment, wanted, who)


def decide(discussion: Discussion, comment: str, who: Principal) -> object:
    wanted = StateChange.model_validate({"state": "pending", "as_shown": NEVER_EDITED})
    return decisions.set_state(discussion.runtime, discussion.node_id, comment, wanted, Actor(who))


@pytest.mark.parametrize("kinds", [(edit_text, edit_text), (decide, decide), (edit_text, decide)])
def test_of_writers_at_once_one_changes_what_was_shown(
    discussion: Discussion, kinds: tuple[Callable[..., object], ...]
) -> None:
    moderators = [Principal(f"mo{n}", f"Mo {n}", frozenset({"moderator"})) for n in range(4)]

    for _ in range(5):
        comment = discussion.post("as it was shown")["id"]
        calls = [
            partial(kinds[number % 2], discussion, comment, who)
            for number, who in enumerate(moderators)
        ]
        assert at_once(calls) == 1
