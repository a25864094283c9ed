"""The settings of a site's discussions, and what a node has of its own."""

from typing import Any

import pytest

from chalicelib.comments.sites import settings
from chalicelib.comments.sites.forms import CommentSettings
from chalicelib.comments.sites.settings import SITES
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client

PATH = "/sites/blog/comments/settings"
PAGE = {"title": "Moon", "url": "https://blog.example/moon"}
DEFAULTS = {
    "site": "blog",
    "votes": "off",
    "votes_shown": "always",
    "votes_shown_after_minutes": 60,
    "reactions": [],
    "order": "oldest",
    "moderation": "after",
    "phrases": [],
    "max_links": None,
    "approve_first": 0,
    "repeats": "allow",
    "limits": {
        "posts": [
            {"burst": 3, "every_seconds": 60},
            {"burst": 5, "every_seconds": 20},
            {"burst": 10, "every_seconds": 5},
        ],
        "votes_per_minute": 60,
        "flags_per_hour": 10,
    },
    "close_after_days": None,
    "slow_seconds": 0,
    "flags_hold": 3,
    "first_visits": [],
    "guests": "off",
    "guests_vote": True,
    "origins": [],
    "search": False,
    "notifications": False,
    "spam_check_url": None,
    "avatar_hosts": None,
}
HEART = {"key": "heart", "emoji": "\N{HEAVY BLACK HEART}"}


@pytest.fixture
def publisher(client: Client) -> Client:
    return client.as_("paula", roles=["publisher"], sites=["blog"])


@pytest.fixture
def node(publisher: Client) -> str:
    assert publisher.put("/nodes/blog:moon", **PAGE).status == 201
    return "/nodes/blog:moon"


def test_a_site_that_has_set_nothing_has_the_defaults(publisher: Client) -> None:
    assert publisher.get(PATH).json == DEFAULTS


def test_settings_come_back_as_they_were_set(publisher: Client) -> None:
    wanted = {
        "votes": "up_down",
        "votes_shown": "after_minutes",
        "votes_shown_after_minutes": 15,
        "reactions": [HEART],
        "order": "newest",
        "moderation": "before",
        "phrases": [{"phrase": "casino*", "action": "reject"}],
        "max_links": 2,
        "approve_first": 3,
        "repeats": "judge",
        "limits": {
            "posts": [{"burst": 1, "every_seconds": 90}] * 3,
            "votes_per_minute": 30,
            "flags_per_hour": 5,
        },
        "close_after_days": 14,
        "slow_seconds": 30,
        "flags_hold": 7,
        "first_visits": ["https://blog.example/", "http://localhost:8000/articles/2026/"],
        "guests": "email",
        "guests_vote": False,
        "origins": ["https://blog.example", "http://localhost:8000"],
        "search": True,
        "notifications": True,
        "spam_check_url": "https://blog.example/",
        "avatar_hosts": ["pictures.example"],
    }

    put = publisher.put(PATH, **wanted)

    assert (put.status, put.json) == (200, {"site": "blog", **wanted})
    assert publisher.get(PATH).json == put.json


def test_what_is_left_out_is_the_default_again(publisher: Client) -> None:
    publisher.put(PATH, votes="up")

    assert publisher.put(PATH).json == DEFAULTS


@pytest.mark.parametrize(
    "wrong",
    [
        {"votes": "down"},
        {"votes_shown": "never"},
        {"votes_shown_after_minutes": 0},
        {"order": "random"},
        {"moderation": "during"},
        {"reactions": [HEART, HEART]},
        {"reactions": [{**HEART, "key": "Heart"}]},
        {"reactions": [{**HEART, "emoji": ""}]},
        {"reactions": [{**HEART, "emoji": "123456789"}]},
        {"reactions": [{**HEART, "key": f"k{n}"} for n in range(13)]},
        {"phrases": [{"phrase": "casino", "action": "explode"}]},
        {"phrases": [{"phrase": "***"}]},
        {"phrases": [{"phrase": "ca*no"}]},
        {"phrases": [{"phrase": "a" * 101}]},
        {"phrases": [{"phrase": f"word {n}"} for n in range(501)]},
        {"max_links": -1},
        {"first_visits": ["blog.example/"]},
        {"first_visits": ["https://blog.example"]},
        {"first_visits": ["https://user:pw@blog.example/"]},
        {"first_visits": ["https://blog.example/articles"]},
        {"first_visits": ["https://blog.example/../"]},
        {"first_visits": ["https://blog.example/?page=/"]},
        {"first_visits": ["javascript://blog.example/"]},
        {"first_visits": [f"https://blog.example/{n}/" for n in range(11)]},
        {"guests": "mail"},
        {"origins": ["https://blog.example/"]},
        {"origins": ["blog.example"]},
        {"origins": [f"https://blog{n}.example" for n in range(21)]},
        {"search": "yes, please"},
        {"colour": "red"},
    ],
    ids=lambda wrong: str(wrong)[:60],
)
def test_settings_that_mean_nothing_are_refused(publisher: Client, wrong: dict[str, Any]) -> None:
    assert publisher.put(PATH, **wrong).status == 422
    assert publisher.get(PATH).json == DEFAULTS


def test_another_container_goes_by_new_settings_within_five_seconds(
    runtime: Runtime, publisher: Client, clock: Clock
) -> None:
    publisher.put(PATH, votes="up")
    assert settings.of(runtime, "blog")["votes"] == "up"
    # As another container writes them: this one does not know.
    SITES.of(runtime.database).update_one({"_id": "blog"}, {"$set": {"votes": "off"}})

    assert settings.of(runtime, "blog")["votes"] == "up"
    clock.advance(seconds=5)

    assert settings.of(runtime, "blog")["votes"] == "off"


def test_who_may_change_settings_reads_what_is_stored(runtime: Runtime, publisher: Client) -> None:
    """A console sends back what it has read: a former value would undo another's change."""
    publisher.put(PATH, origins=["https://blog.example"])
    assert settings.of(runtime, "blog")["origins"] == ["https://blog.example"]
    # As another container writes them: this one does not know.
    provider = {"key": "google", "name": "Google", "kind": "oidc", "client_id": "c1"}
    provider |= {"issuer": "https://accounts.example", "client_secret": ""}
    changed = {"origins": [], "providers": [provider]}
    SITES.of(runtime.database).update_one({"_id": "blog"}, {"$set": changed})

    assert publisher.get(PATH).json["origins"] == []
    listed = publisher.get("/sites/blog/providers").json["providers"]
    assert [each["key"] for each in listed] == ["google"]


def test_a_node_has_what_its_site_has_until_it_has_its_own(publisher: Client, node: str) -> None:
    publisher.put(PATH, votes="up", order="newest", moderation="before")
    of_the_site = publisher.get(node).json

    own = publisher.put(node, **PAGE, votes="up_down", order="oldest", moderation="after").json
    kept = publisher.put(node, **PAGE).json
    back = publisher.put(node, **PAGE, votes=None, order=None, moderation=None).json

    names = ("votes", "order", "moderation")
    assert [of_the_site[name] for name in names] == ["up", "newest", "before"]
    assert [own[name] for name in names] == ["up_down", "oldest", "after"]
    assert kept == own
    assert [back[name] for name in names] == ["up", "newest", "before"]


def test_comments_wait_where_the_site_says_so(publisher: Client, client: Client, node: str) -> None:
    ann = client.as_("ann")
    publisher.put(PATH, moderation="before")

    waiting = ann.post(f"{node}/comments", text="first").json
    publisher.put(node, **PAGE, moderation="after")
    shown = ann.post(f"{node}/comments", text="second").json

    assert (waiting["state"], shown["state"]) == ("pending", "visible")


def test_an_edit_waits_where_the_site_says_so(publisher: Client, client: Client, node: str) -> None:
    ann = client.as_("ann")
    comment = ann.post(f"{node}/comments", text="first").json["id"]
    publisher.put(PATH, moderation="before")

    edited = ann.patch(f"{node}/comments/{comment}", text="second").json

    assert edited["state"] == "pending"


def test_a_page_comes_in_the_order_of_its_site_and_says_what_holds(
    publisher: Client, client: Client, node: str
) -> None:
    for text in "ab":
        client.as_("ann").post(f"{node}/comments", text=text)
    publisher.put(PATH, order="newest", votes="up", reactions=[HEART])

    page = client.get(f"{node}/comments").json

    assert [each["text"] for each in page["comments"]] == ["b", "a"]
    holds = {name: page["node"][name] for name in ("votes", "order", "reactions")}
    assert holds == {"votes": "up", "order": "newest", "reactions": [HEART]}
    asked = client.get(f"{node}/comments?order=oldest").json
    assert [each["text"] for each in asked["comments"]] == ["a", "b"]


def test_a_page_that_is_held_is_old_once_the_settings_change(
    publisher: Client, client: Client, node: str
) -> None:
    tag = client.get(f"{node}/comments").headers["ETag"]
    again = client.request("GET", f"{node}/comments", headers={"If-None-Match": tag})

    publisher.put(PATH, votes="up")
    changed = client.request("GET", f"{node}/comments", headers={"If-None-Match": tag})

    assert (again.status, changed.status) == (304, 200)


def test_a_node_takes_its_own_settings_to_another_id(
    publisher: Client, client: Client, node: str
) -> None:
    publisher.put(node, **PAGE, votes="up", order="newest", moderation="before")

    moved = client.as_("adam", roles=["admin"]).post(f"{node}/move", to="blog:sun").json

    names = ("votes", "order", "moderation")
    assert [moved[name] for name in names] == ["up", "newest", "before"]


def test_the_defaults_are_those_of_an_empty_body(runtime: Runtime) -> None:
    stored = settings.put(runtime, "blog", CommentSettings())

    assert settings.of(runtime, "shop") == {**stored, "_id": "shop"}


def test_a_change_leaves_all_other_settings(publisher: Client) -> None:
    url = "https://blog.example/"
    limits = {"votes_per_minute": 7, "flags_per_hour": 8}
    assert publisher.put(PATH, spam_check_url=url, votes="up", limits=limits).status == 200
    before = publisher.get(PATH).json

    changed = publisher.patch(PATH, max_links=2, limits={"flags_per_hour": 9})

    after = {**before, "max_links": 2, "limits": {**before["limits"], "flags_per_hour": 9}}
    assert changed.json == publisher.get(PATH).json == after
    assert publisher.patch(PATH).json == after
    assert publisher.patch(PATH, max_links=None, spam_check_url=None).json == {
        **after,
        "max_links": None,
        "spam_check_url": None,
    }


def test_a_change_of_a_site_without_settings_makes_them(publisher: Client) -> None:
    changed = publisher.patch(PATH, limits={"flags_per_hour": 9}).json

    assert changed == {**DEFAULTS, "limits": {**DEFAULTS["limits"], "flags_per_hour": 9}}  # type: ignore[dict-item]
    assert publisher.get(PATH).json == changed
    assert publisher.patch(PATH, reactions=[HEART, HEART]).status == 422
    assert publisher.patch(PATH, no_setting=1).status == 422


def test_a_moderator_reads_settings_and_changes_phrases_and_limits(
    client: Client, publisher: Client
) -> None:
    moderator = client.as_("mo", roles=["moderator"], sites=["blog"])
    phrases = [{"phrase": "casino", "action": "hold"}]
    assert publisher.put(PATH, votes="up").status == 200

    changed = moderator.patch(PATH, phrases=phrases, limits={"flags_per_hour": 9})

    assert changed.status == 200
    assert moderator.get(PATH).json == changed.json == publisher.get(PATH).json
    assert (changed.json["votes"], changed.json["phrases"]) == ("up", phrases)
    for refused in (
        moderator.patch(PATH, phrases=[], votes="off"),
        moderator.patch(PATH, avatar_hosts=None),
        moderator.put(PATH, phrases=[]),
        client.as_("other", roles=["moderator"], sites=["news"]).patch(PATH, phrases=[]),
        client.as_("other", roles=["moderator"], sites=["news"]).get(PATH),
    ):
        assert refused.code == "forbidden"
    assert publisher.get(PATH).json == changed.json
