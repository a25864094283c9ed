"""A small world in which everything that a route names exists, and things that may be used up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from chalicelib.runtime import Runtime
from tests.ads.support.factories import BANNER, campaign_body
from tests.security.support.callers import CALLERS, OTHER_SITE, OWN_ADVERTISER, OWN_SITE, client_of
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

Names = Mapping[str, str]
SITE_NODE = f"{OWN_SITE}:page"


@dataclass(frozen=True)
class World:
    """The world, and the names of its things by the placeholders of the matrix."""

    client: Client
    runtime: Runtime
    workers: Workers
    names: dict[str, str]
    numbers: "count[int]"

    def as_(self, caller: str) -> Client:
        """Return a client of one of the matrix's callers."""
        return client_of(self.client, caller)

    def fresh(self) -> str:
        """Return an unused name."""
        return f"n{next(self.numbers)}"


def made(reply: Reply, *statuses: int) -> Any:
    """Return the JSON of a call that must have worked."""
    assert reply.status in (statuses or (200, 201, 202, 204)), reply.body
    return reply.json if reply.body else {}


def build(client: Client, runtime: Runtime, workers: Workers) -> World:
    """Make the people, a discussion, a campaign with its zone, posts and actions."""
    world = World(client, runtime, workers, {}, count())
    for caller in CALLERS:
        if caller != "anonymous":
            made(world.as_(caller).put("/users/me"))
    _comments(world)
    _ads(world)
    _social(world)
    workers.drain()
    return world


def _comments(world: World) -> None:
    made(world.as_("admin").put(f"/nodes/{SITE_NODE}", title="Page", url="https://alpha.example/"))
    world.names.update({"node": SITE_NODE, "site": OWN_SITE})
    world.names["comment"] = comment(world)["comment"]


def _ads(world: World) -> None:
    admin = world.as_("admin")
    made(admin.put(f"/sites/{OWN_SITE}/zones/banner", size=BANNER))
    world.names.update({"zone": "banner", "advertiser": OWN_ADVERTISER, "visitor": "v" * 22})
    world.names.update(campaign(world))
    for account in (f"advertiser:{OWN_ADVERTISER}", f"site:{OWN_SITE}"):
        key = {"Idempotency-Key": world.fresh(), "Content-Type": "application/json"}
        body = f'{{"to": "{account}", "amount_micros": 1000000000}}'.encode()
        made(admin.request("POST", "/accounts/bank/transfers", body=body, headers=key))
    world.names["account"] = f"advertiser:{OWN_ADVERTISER}"
    made(admin.post(f"/campaigns/{world.names['campaign']}/activate"))
    ads = made(world.client.get(f"/ads/{OWN_SITE}/banner"))["ads"]
    world.names.update(token_names(ads[0]))


def token_names(ad: Mapping[str, Any]) -> dict[str, str]:
    """Return the tokens in the addresses of an ad."""
    impression = next(str(value) for name, value in ad.items() if "impression" in name)
    click = str(ad["click_url"])
    return {
        "event": impression.split("/events/")[1].split("/")[0],
        "click": click.rpartition("/")[2],
    }


def _social(world: World) -> None:
    owner = world.as_("owner")
    made(owner.put("/users/me/circles/club", name="Club"))
    made(owner.put("/users/me/circles/club/members/peer"))
    made(owner.put("/users/me/blocked/blocked"))
    made(world.as_("peer").put("/users/me/circles/read", name="Read"))
    made(world.as_("peer").put("/users/me/circles/read/members/ann"))
    for user in ("ann", "peer"):
        made(world.as_("admin").put(f"/users/{user}/org", team="red", department="colours"))
    world.names.update({"user": "ann", "circle": "club", "ref": "thing:one", "tag": "new"})
    made(world.as_("admin").put("/refs/thing:one", name="One"))
    world.names.update({**post(world), **action(world)})


def comment(world: World) -> dict[str, str]:
    """Make a comment of the owner."""
    posted = world.as_("owner").post(f"/nodes/{SITE_NODE}/comments", text="So it is")
    return {"comment": made(posted)["id"]}


def pending_comment(world: World) -> dict[str, str]:
    """Make a comment of the owner that waits for a moderator."""
    names = comment(world)
    path = f"/nodes/{SITE_NODE}/comments/{names['comment']}/state"
    made(world.as_("admin").post(path, state="pending"))
    return names


def hidden_comment(world: World) -> dict[str, str]:
    """Make a comment of the owner that a moderator has hidden."""
    names = comment(world)
    path = f"/nodes/{SITE_NODE}/comments/{names['comment']}/state"
    made(world.as_("admin").post(path, state="hidden"))
    return names


def node(world: World) -> dict[str, str]:
    """Make a page of the site with a comment."""
    name = f"{OWN_SITE}:{world.fresh()}"
    made(world.as_("admin").put(f"/nodes/{name}", title="Page", url="https://alpha.example/"))
    made(world.as_("owner").post(f"/nodes/{name}/comments", text="So it is"))
    return {"node": name}


def moved_node(world: World) -> dict[str, str]:
    """Make a page of the site and move it to another one; name the id that it had."""
    names = node(world)
    to = f"{OTHER_SITE}:{world.fresh()}"
    made(world.as_("admin").post(f"/nodes/{names['node']}/move", to=to))
    return names


def new_node(world: World) -> dict[str, str]:
    """Name a page of the site that is not there yet."""
    return {"node": f"{OWN_SITE}:{world.fresh()}"}


def campaign(world: World) -> dict[str, str]:
    """Make a campaign that is a draft."""
    name = f"{OWN_ADVERTISER}:{world.fresh()}"
    body = campaign_body(f"{OWN_SITE}/banner")
    made(world.as_("admin").put(f"/campaigns/{name}", **body))
    return {"campaign": name}


def zone(world: World) -> dict[str, str]:
    """Make a zone without ads."""
    name = world.fresh()
    made(world.as_("admin").put(f"/sites/{OWN_SITE}/zones/{name}", size=BANNER))
    return {"zone": name}


def post(world: World) -> dict[str, str]:
    """Make a public post of the owner."""
    return _post(world, ["*public*"])


def circle_post(world: World) -> dict[str, str]:
    """Make a post of the owner to the circle that the peer is in."""
    return _post(world, ["club"])


def wall_post(world: World) -> dict[str, str]:
    """Make a stranger's public post on the owner's wall."""
    return _post(world, ["*public*"], "stranger", wall="ann")


def _post(world: World, circles: list[str], author: str = "owner", **given: str) -> dict[str, str]:
    detail = {"text": "Hello"}
    body: dict[str, Any] = {"type": "status", "detail": detail, "circles": circles, **given}
    return {"post": made(world.as_(author).post("/posts", **body))["id"]}


def action(world: World) -> dict[str, str]:
    """Make an action of the owner, for the owner's team."""
    return {"action": made(world.as_("owner").post("/actions", **action_body()))["id"]}


def hidden_action(world: World) -> dict[str, str]:
    """Make an action that a social moderator has hidden."""
    names = action(world)
    path = f"/actions/{names['action']}/hidden"
    made(world.as_("social_moderator").put(path, hidden=True))
    return names


def action_body() -> dict[str, Any]:
    """Return the body of an action that names nobody but things."""
    return {
        "scope": "team",
        "refs": [{"id": "thing:one", "type": "applicant", "name": "One"}],
        "descriptor": {
            "type": "new_applicant",
            "applicant_id": "thing:one",
            "applicant_name": "One",
            "position_id": "thing:two",
            "position_name": "Two",
            "tags": ["new"],
        },
    }


def circle_of_caller(world: World) -> dict[str, str]:
    """Give every caller a circle of this name with the peer's friend in it."""
    for caller in CALLERS:
        if caller != "anonymous":
            made(world.as_(caller).put("/users/me/circles/mine", name="Mine"))
    return {"circle": "mine"}


Maker = Callable[[World], Names]
