"""A small town's newspaper as demo data, written through the API like any other client's."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

from chalice.local import LocalChalice
from pymongo.errors import AutoReconnect

from chalicelib.database import Document
from chalicelib.database.migration import migrate
from chalicelib.runtime import Runtime
from chalicelib.wiring import schema
from local import demo_articles, demo_shop
from local.gateway import Gateway
from local.tokens import mint

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "demo_data.json").read_text())
# The demo's texts were written over the last days, a quarter of an hour apart.
STEP = timedelta(minutes=15)
LOOK_BACK = timedelta(days=2)
# The newspaper's own address in the data; readers have that of this server.
_PRINTED = "https://harbour-post.example"
# Credit lines of the town's advertisers: many times the budgets of their campaigns.
DEMO_CREDIT = 10_000_000_000
# Plaza counts readers with a browser, and no programs.
_BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
_MARK = {"_id": "demo"}
_LOCAL = "local.state"


def load_once(runtime: Runtime, address: str, *, may_start_over: bool) -> None:
    """Load the demo of a server's address into a database that has never held anything.

    The mark says that a load has begun, and then that it is done. If the database is our own, an
    interrupted load is dropped and started again, since nobody could have used it yet; in another
    database it is left as it is.
    """
    state = runtime.database[_LOCAL]
    mark = state.find_one(_MARK)
    if mark is None:
        if any(runtime.database[each.name].find_one() for each in schema.COLLECTIONS):
            return
    elif mark["loading"] and may_start_over:
        runtime.database.client.drop_database(runtime.database)
        migrate(runtime.database, schema.collections(runtime.settings), schema.FAMILIES)
    else:
        return
    state.replace_one(_MARK, {"loading": True}, upsert=True)
    load(runtime, address)
    state.replace_one(_MARK, {"loading": False})


def is_loaded(runtime: Runtime) -> bool:
    """Return whether the database holds the whole demo."""
    mark = runtime.database[_LOCAL].find_one(_MARK)
    return mark is not None and not mark["loading"]


def load(runtime: Runtime, address: str) -> None:
    """Write the demo data, with times over the last days."""
    api = _Api(runtime, address)
    path = f"/sites/{DATA['site']}/comments/settings"
    first_visits = [f"{address}/{demo_articles.PREFIX}"]
    discussions = {**DATA["discussions"], "first_visits": first_visits, "guests": "name"}
    discussions |= {"search": True, "notifications": True}
    api.call("PUT", path, discussions, sub="editor", roles=["admin"])
    for node in DATA["nodes"]:
        _load_node(api, node)
    for comment in DATA["waiting"]:
        _load_waiting(api, comment)
    _load_ads(api)
    _load_people(api)
    for post in DATA["posts"]:
        _load_post(api, post)
    _load_office(api)
    demo_articles.load(api.call, DATA["site"], address)
    demo_shop.load(partial(api.call, sub="editor", roles=["admin"]), DATA["site"])


class RefusedCall(Exception):
    """The API refused a call of the demo, which is a defect in one of the two."""


class _Api:
    """Calls to an app of our own, as any of the demo's people."""

    def __init__(self, runtime: Runtime, address: str) -> None:
        # Late: `app` reads the environment when it is imported.
        from app import create_app

        self._address = address
        self._latest = runtime.now()
        self._time = self._latest - LOOK_BACK
        # The person with whom marks begin: another person for each thing.
        self._first = 0
        # A week's writing goes in at once.
        settings = runtime.settings.model_copy(update={"limits": None})
        self._runtime = dataclasses.replace(runtime, now=lambda: self._time, settings=settings)
        self._gateway = Gateway(create_app(self._runtime, LocalChalice))

    def mark(self, path: str, marks: Mapping[str, int], author: str) -> None:
        """Vote on a thing and react to it as other people than its author; `marks` has counts."""
        everybody = [*DATA["people"]]
        self._first = (self._first + 5) % len(everybody)
        turned = everybody[self._first :] + everybody[: self._first]
        people = [each for each in turned if each != author]
        # Votes against begin at the other end, so that no person votes twice.
        down = dict.fromkeys(people[len(people) - marks.get("down", 0) :], -1)
        for voter, value in {**dict.fromkeys(people[: marks.get("up", 0)], 1), **down}.items():
            self._made("PUT", f"{path}/vote", {"value": value}, sub=voter)
        for key in marks.keys() - {"up", "down"}:
            for reader in people[: marks[key]]:
                self._made("PUT", f"{path}/reactions/{key}", {}, sub=reader)

    def call(
        self, method: str, path: str, body: Document | bytes, *, sub: str, roles: Sequence[str] = ()
    ) -> Document:
        """Make a call, a little later than the last; return its JSON answer.

        A body of bytes is sent as it is. Raises RefusedCall for any failure but an outage.
        """
        self._time = min(self._time + STEP, self._latest)
        return self._made(method, path, body, sub=sub, roles=roles)

    def _made(
        self, method: str, path: str, body: Document | bytes, *, sub: str, roles: Sequence[str] = ()
    ) -> Document:
        token = mint(
            self._runtime.settings,
            self._runtime.now(),
            sub,
            name=DATA["people"].get(sub),
            roles=roles,
        )
        kind = "octet-stream" if isinstance(body, bytes) else "json"
        headers = {
            "authorization": f"Bearer {token}",
            "content-type": f"application/{kind}",
            "user-agent": _BROWSER,
        }
        text = "" if isinstance(body, bytes) else json.dumps(body)
        sent = body if isinstance(body, bytes) else text.replace(_PRINTED, self._address).encode()
        answer = self._gateway.handle(method, path, headers, sent)
        if answer.status == HTTPStatus.SERVICE_UNAVAILABLE:
            # The API has caught an outage of the database, after which the demo is loaded again.
            raise AutoReconnect(answer.body.decode())
        if answer.status >= HTTPStatus.BAD_REQUEST:
            raise RefusedCall(f"{method} {path}: {answer.body.decode()}")
        parsed: Document = json.loads(answer.body or b"{}")
        return parsed


def _load_node(api: _Api, node: Document) -> None:
    settings: Document = {
        each: node[each] for each in ("title", "url", "threaded", "order") if each in node
    }
    path = f"/nodes/{node['id']}"
    api.call("PUT", path, settings, sub="editor", roles=["admin"])
    api.mark(path, node["reactions"], author="")
    _load_comments(api, f"{path}/comments", node["comments"], None)


def _load_waiting(api: _Api, comment: Document) -> None:
    """Post a comment that waits for a moderator: for its words, or since readers flagged it."""
    path = f"/nodes/{comment['node']}/comments"
    made = api.call("POST", path, {"text": comment["text"]}, sub=comment["by"])
    path = f"{path}/{made['id']}"
    if "edited" in comment:
        api.call("PATCH", path, {"text": comment["edited"]}, sub=comment["by"])
    for reader, reason in comment.get("flags", {}).items():
        # Flags of newcomers hide nothing, and nobody is long in the town yet.
        roles = ["admin"] if reader == "editor" else []
        api.call("PUT", f"{path}/flag", {"reason": reason}, sub=reader, roles=roles)


def _load_comments(api: _Api, path: str, comments: list[Any], parent: str | None) -> None:
    for author, text, *rest in comments:
        named = [who for who, name in DATA["people"].items() if f"@{name}" in text]
        body = {"text": text, "mentions": named} | ({"parent": parent} if parent else {})
        comment = api.call("POST", path, body, sub=author)
        for each in rest:
            if isinstance(each, dict):
                api.mark(f"{path}/{comment['id']}", each, author)
            else:
                _load_comments(api, path, each, comment["id"])


def _load_ads(api: _Api) -> None:
    site = DATA["site"]
    for zone in DATA["zones"]:
        size = {"width": zone["width"], "height": zone["height"]}
        settings = {"size": size, "can_hold_html": zone.get("can_hold_html", False)}
        path = f"/sites/{site}/zones/{zone['id']}"
        api.call("PUT", path, settings, sub="editor", roles=["admin"])
    for advertiser in sorted({each["id"].partition(":")[0] for each in DATA["campaigns"]}):
        path, credit = f"/accounts/advertiser:{advertiser}/credit", {"credit_micros": DEMO_CREDIT}
        api.call("PUT", path, credit, sub="editor", roles=["admin"])
    for campaign in DATA["campaigns"]:
        path = f"/campaigns/{campaign['id']}"
        api.call("PUT", path, campaign_body(campaign, site), sub="sales", roles=["admin"])
        api.call("POST", f"{path}/activate", {}, sub="sales", roles=["admin"])


def campaign_body(campaign: Document, site: str) -> Document:
    """Return the body that makes a demo campaign: one ad, from 2026 to 2036."""
    return {
        "flight": {"starts_at": "2026-01-01T00:00:00Z", "ends_at": "2036-01-01T00:00:00Z"},
        "time_zone": "Europe/Copenhagen",
        "pricing": {"type": "cpm", "bid_micros": campaign["bid_micros"]},
        "budget": {"total_micros": 500_000_000},
        "targets": [{"site_id": site, "zone_id": zone} for zone in campaign["zones"]],
        "ad_units": [
            {
                "id": "html" if "html" in campaign else "text",
                "keywords": campaign["keywords"],
                "creative": _creative(campaign),
            }
        ],
    }


def _creative(campaign: Document) -> Document:
    landing_url = campaign["landing_url"]
    if "html" in campaign:
        return {"type": "html", "html": campaign["html"], "landing_url": landing_url}
    texts = {"headline": campaign["headline"], "body": campaign["text"]}
    return {"type": "text", **texts, "landing_url": landing_url}


def _load_people(api: _Api) -> None:
    for person, name in DATA["people"].items():
        profile = {"location": "The harbour"}
        api.call("PUT", "/users/me", {"name": name, "profile": profile}, sub=person)
    for circle in DATA["circles"]:
        path = f"/users/me/circles/{circle['id']}"
        api.call("PUT", path, {"name": circle["name"]}, sub=circle["owner"])
        for member in circle["members"]:
            api.call("PUT", f"{path}/members/{member}", {}, sub=circle["owner"])


def _load_post(api: _Api, post: Document) -> None:
    body = {name: post[name] for name in ("circles", "type", "detail")}
    posted = api.call("POST", "/posts", body, sub=post["by"])
    for author, text in post["comments"]:
        api.call("POST", f"/posts/{posted['id']}/comments", {"text": text}, sub=author)
    for voter, option in post.get("votes", {}).items():
        api.call("PUT", f"/posts/{posted['id']}/vote", {"option": option}, sub=voter)


def _load_office(api: _Api) -> None:
    """Have the newspaper look for a photographer."""
    for place in DATA["places"]:
        settings = {name: value for name, value in place.items() if name != "id"}
        api.call("PUT", f"/users/{place['id']}/org", settings, sub="editor", roles=["admin"])
    for action in DATA["actions"]:
        # As the newspaper's own software would, which may also address people who follow nobody.
        told = {"sub": action["by"], "roles": ["application"]}
        conducted = api.call("POST", "/actions", action_body(action), **told)
        for author, text in action["comments"]:
            path = f"/actions/{conducted['id']}/comments"
            api.call("POST", path, {"text": text}, sub=author)


def action_body(action: Document) -> Document:
    """Return the body of a demo action: what happened to an application for a position."""
    applicant, position = action["applicant"], action["position"]
    names = {**DATA["applicants"], **DATA["positions"]}
    descriptor = {
        "type": action["type"],
        "applicant_id": applicant,
        "applicant_name": names[applicant],
        "position_id": position,
        "position_name": names[position],
        **action["detail"],
    }
    refs = [
        {"id": applicant, "type": "applicant", "name": names[applicant]},
        {"id": position, "type": "position", "name": names[position]},
    ]
    audience = {"audience": action["audience"]} if "audience" in action else {}
    return {"scope": action["scope"], **audience, "descriptor": descriptor, "refs": refs}
