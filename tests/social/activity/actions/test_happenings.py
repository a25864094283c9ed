"""Plaza's own happenings as actions of the activity feed: comments and posts, where switched on."""

import random
from typing import Any

import pytest

from chalicelib.comments import happened
from chalicelib.happenings import Happened
from chalicelib.jobs import outbox
from chalicelib.settings import Settings
from chalicelib.social import jobs as social_jobs
from chalicelib.social.activity.actions import happenings
from chalicelib.social.messages import JOB
from chalicelib.wiring import errands
from chalicelib.wiring import happenings as wiring_happenings
from tests.social.activity.support.office import Office
from tests.social.support.drivers import publish, settle
from tests.social.support.mortal_workers import Died, Mortal, living

NODE = "blog:page"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"action_sites": ("blog", "default")})


@pytest.fixture
def site(office: Office) -> Office:
    """A page of the blog, and one of a site that has not switched happenings on."""
    settle(office.client, "ann", "bob")
    for node in (NODE, "quiet:page"):
        made = admin(office).put(f"/nodes/{node}", title="A page", url="https://blog.example/")
        assert made.status == 201, made.body
    return office


def admin(office: Office) -> Any:
    return office.client.as_("root", roles=["admin"])


def comment(office: Office, node: str = NODE, author: str = "ann") -> str:
    posted = office.client.as_(author).post(f"/nodes/{node}/comments", text="So it is")
    assert posted.status == 201, posted.body
    return str(posted.json["id"])


def feed(office: Office, reader: str = "bob") -> list[Any]:
    return list(office.client.as_(reader).get("/feed").json["actions"])


def let_all_end(office: Office) -> None:
    """Let what runs twice run again, when nothing can be under way any more."""
    office.workers.drain()
    office.clock.time += outbox.OUTLIVES_ALL
    social_jobs.resend_overdue(office.runtime)
    office.workers.drain()


def jobs(office: Office) -> int:
    return office.runtime.database["social.errand"].count_documents({"errand.type": "happened"})


def test_a_site_that_is_taken_off_loses_its_actions(
    site: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        comment(site)
    kept = publish(site.client, "ann")
    let_all_end(site)
    assert len(feed(site)) == 3
    monkeypatch.setitem(vars(site.runtime.settings), "action_sites", ("default",))

    first = wiring_happenings.settle_again(site.runtime, most_actions=2)
    rest = wiring_happenings.settle_again(site.runtime, first["next"], most_actions=2)
    site.workers.drain()

    assert (first["settled"], rest) == (2, {"settled": 1, "next": None})
    assert [each["descriptor"]["post_id"] for each in feed(site)] == [kept]


def test_a_site_that_is_taken_off_gets_no_new_action(
    site: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    comment(site)
    assert jobs(site) == 1
    monkeypatch.setitem(vars(site.runtime.settings), "action_sites", ("default",))
    let_all_end(site)

    assert (feed(site), jobs(site)) == ([], 0)


def test_a_comment_on_a_site_that_wants_it_is_an_action(site: Office) -> None:
    posted = comment(site)
    comment(site, "quiet:page")
    site.workers.drain()

    (action,) = feed(site)
    assert action["actor"] == {"id": "ann", "name": "Ann"}
    assert action["scope"] == "department"
    assert action["descriptor"] == {
        "type": "comment_posted",
        "tags": [],
        "comment_id": posted,
        "page_id": NODE,
        "page_name": "A page",
        "url": "https://blog.example/",
    }
    assert action["refs"] == [{"id": NODE, "type": "page", "name": "A page"}]
    about = site.client.as_("bob").get(f"/refs/{NODE}/actions").json["actions"]
    assert [each["id"] for each in about] == [action["id"]]
    done = site.client.as_("bob").get("/users/ann/actions?type=comment_posted").json["actions"]
    assert [each["id"] for each in done] == [action["id"]]
    let_all_end(site)
    assert len(feed(site)) == 1
    assert jobs(site) == 0


def test_a_public_post_is_an_action_and_goes_with_its_post(site: Office) -> None:
    post = publish(site.client, "ann")
    publish(site.client, "ann", ["*circles*"])
    site.workers.drain()
    (action,) = feed(site)
    assert action["descriptor"] == {"type": "post_published", "tags": [], "post_id": post}

    site.client.as_("ann").delete(f"/posts/{post}")
    site.workers.drain()

    assert feed(site) == []


@pytest.mark.parametrize("ends", ["deleted", "hidden", "pending", "with its page"])
def test_an_action_goes_when_its_comment_does(site: Office, ends: str) -> None:
    path = f"/nodes/{NODE}/comments/{comment(site)}"
    comment(site, author="bob")
    site.workers.drain()
    assert len(feed(site)) == 2

    if ends == "deleted":
        assert site.client.as_("ann").delete(path).status == 204
    elif ends == "with its page":
        assert admin(site).delete(f"/nodes/{NODE}").status == 204
    else:
        assert admin(site).post(f"{path}/state", state=ends).status == 200
    site.workers.drain()

    left = [] if ends == "with its page" else ["bob"]
    assert [each["actor"]["id"] for each in feed(site, "ann")] == left


def test_a_comment_that_waits_is_told_of_once_it_is_approved(site: Office) -> None:
    admin(site).put(f"/nodes/{NODE}", title="A page", url="https://b.example/", moderation="before")
    path = f"/nodes/{NODE}/comments/{comment(site)}"
    site.workers.drain()
    assert feed(site) == []

    assert admin(site).post(f"{path}/state", state="visible").status == 200
    site.workers.drain()

    assert len(feed(site)) == 1


def test_an_action_that_its_actor_deleted_is_not_told_again(site: Office) -> None:
    comment(site)
    site.workers.drain()
    (action,) = feed(site)
    site.delete("ann", action["id"])

    let_all_end(site)

    assert feed(site) == []


def test_who_has_no_department_tells_nobody(site: Office) -> None:
    settle(site.client, "eve")
    comment(site, author="stranger")
    let_all_end(site)

    assert site.runtime.database["feed.action"].count_documents({}) == 0


def test_an_erased_author_leaves_no_action(site: Office) -> None:
    comment(site)
    publish(site.client, "ann")
    site.client.as_("ann").delete("/users/me")
    let_all_end(site)

    assert site.client.as_("ann").get("/users/me/erasure").json["remaining"] == 0
    actions = site.runtime.database["feed.action"].find()
    assert [each for each in actions if "'ann'" in str(each)] == []
    assert feed(site) == []


def test_a_comment_on_a_page_that_moved_is_found(site: Office) -> None:
    thing = happened.name_of(NODE, comment(site))
    assert admin(site).post(f"/nodes/{NODE}/move", to="blog:moved").status == 200
    let_all_end(site)

    cause = happened.find(site.runtime, thing)
    assert cause is not None
    assert cause.page_id == "blog:moved"
    assert len(feed(site)) == 1


def test_messages_twice_and_a_worker_that_dies_at_any_step_tell_once(site: Office) -> None:
    runtime, courier = site.with_courier()
    posted = comment(site)
    site.forget_messages()
    job = Happened(kind="comment", thing=happened.name_of(NODE, posted))
    steps, is_done = 0, False
    while not is_done:
        try:
            with living(Mortal(steps)):
                wiring_happenings.run(runtime, job)
            is_done = True
        except Died:
            steps += 1
    for _ in range(2):
        wiring_happenings.run(runtime, job)
    courier.deliver(runtime, random.Random(7), twice=True)
    site.sweep_expired()

    assert steps > 3
    assert len(feed(site)) == 1


def test_a_happening_whose_request_died_is_told_when_it_is_looked_at_again(site: Office) -> None:
    """The comment is stored between the worker's two looks, and its request dies after that."""
    runtime, _courier = site.with_courier()
    posted = comment(site)
    site.forget_messages()
    noted = site.runtime.database["social.errand"].find_one({"errand.type": "happened"})
    assert noted is not None
    find = wiring_happenings.CAUSES["comment"]
    wiring_happenings.CAUSES["comment"] = lambda _runtime, _thing: None
    try:
        errands.run(runtime, JOB.validate_python(noted["errand"]))
    finally:
        wiring_happenings.CAUSES["comment"] = find
    assert feed(site) == []

    let_all_end(site)

    (action,) = feed(site)
    assert action["descriptor"]["comment_id"] == posted


def test_nobody_tells_of_plazas_own_happenings_but_plaza(site: Office) -> None:
    forged = {
        "type": "comment_posted",
        "comment_id": "x",
        "page_id": NODE,
        "page_name": "A page",
    }
    reply = site.try_action("ann", roles=["application"], descriptor=forged)
    assert reply.code == "invalid_request"
    assert "comment_posted" not in str(reply.json["errors"])


def test_a_page_has_a_ref_whatever_its_id() -> None:
    assert happenings.ref_of("blog:page") == "blog:page"
    for strange in ("blog:~page", "blog:" + "a" * 100):
        ref = happenings.ref_of(strange)
        assert ref.startswith("page:")
        assert happenings.ref_of(ref) == ref
    assert happenings.id_of("comment", "a/b") != happenings.id_of("post", "a/b")
