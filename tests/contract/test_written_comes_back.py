"""All that a resource takes can be read back, and writing what was read changes nothing.

The resources are those of the document with a GET and a PUT: settings of all features among them.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest

from chalicelib.notifications.preferences import KINDS
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from contract.compatibility import resolve
from deploy.openapi.files import KEPT
from tests.security.support.matrix import FEATURES
from tests.security.support.row import Row
from tests.security.support.world import World, build, stranger_followed
from tests.support.http_client import Client
from tests.support.workers import Workers

SETTINGS = "/sites/blog/comments/settings"
DOCUMENT = orjson.loads(KEPT.read_bytes())
# A write that is not read back, and the reason.
NOT_READ = {
    ("putProduct", "currency"): "the shop's, which each price has",
}
SKU = {"sku": "NEW-SKU", "price_micros": 7_000_000, "options": {"binding": "hardcover"}}
# Of each resource beside the settings of comments, all fields with a value that is no default.
FULL: dict[str, tuple[str, dict[str, Any]]] = {
    "putAnalytics": (
        "/sites/delta/analytics",
        {
            "origins": ["https://delta.example"],
            "keep_days": 30,
            "log": "rotating",
            "layout": "flat",
            "user_reports": True,
            "public": True,
            "time_zone": "Asia/Tokyo",
        },
    ),
    "putCampaign": (
        "/campaigns/acme:full",
        {
            "flight": {"starts_at": "2026-04-01T00:00:00Z", "ends_at": "2026-05-01T00:00:00Z"},
            "time_zone": "Asia/Tokyo",
            "pricing": {"type": "cpc", "bid_micros": 70_000},
            "budget": {"total_micros": 9_000_000, "daily_micros": 800_000, "pacing": "asap"},
            "caps": [{"scope": "campaign", "event": "click", "limit": 2, "window_seconds": 60}],
            "targets": [{"site_id": "alpha", "zone_id": "banner"}],
            "ad_units": [
                {
                    "id": "one",
                    "keywords": ["boats"],
                    "creative": {
                        "type": "text",
                        "headline": "Boats",
                        "body": "Sail today",
                        "landing_url": "https://boats.example/",
                    },
                }
            ],
        },
    ),
    "putCategory": (
        "/shops/alpha/categories/short",
        {"name": "Short novels", "slug": "short-novels", "parent": "novels"},
    ),
    "putContentSettings": (
        "/content/alpha/settings",
        {
            "title": "The Alpha",
            "base_url": "https://alpha.example/news",
            "language": "nl",
            "author": "Ann",
            "comments": "off",
            "feed_items": 7,
            "notifications": True,
        },
    ),
    "putMe": (
        "/users/me",
        {
            "name": "Ruth",
            "profile": {
                "location": "Delft",
                "about": "Sails",
                "age": 40,
                "interests": ["boats"],
                "picture": "https://pictures.example/ruth.png",
            },
            "profile_circles": {"location": ["*circles*"], "age": ["*circles*"]},
        },
    ),
    "putNode": (
        "/nodes/alpha:full",
        {
            "title": "Full",
            "url": "https://alpha.example/full",
            "site": "alpha",
            "store": "embedded",
            "threaded": True,
            "max_depth": 3,
            "locked": True,
            "moderation": "before",
            "votes": "up",
            "order": "newest",
            "slow_seconds": 9,
            "opens_at": "2026-03-02T00:00:00Z",
            "closes_at": "2026-03-03T00:00:00Z",
        },
    ),
    "putNotificationPreferences": (
        "/notifications/preferences",
        {
            "kinds": {
                **{kind: {"in_app": True, "email": False, "push": True} for kind in KINDS},
                "comment.reply": {"in_app": True, "email": True, "push": False},
                "follow": {"in_app": False, "email": False, "push": False},
            },
            "quiet": {"from": 22, "to": 7},
        },
    ),
    "putAuthorWatch": ("/users/stranger/watch", {"level": "watching"}),
    "putWatch": ("/nodes/alpha:page/watch", {"level": "muted"}),
    "putNotificationMail": (
        "/notifications/mail",
        {
            "every": "daily",
            "hour": 7,
            "weekday": 3,
            "time_zone": "Asia/Tokyo",
            "language": "ar",
            "email": "admin@plaza.example",
        },
    ),
    "putProduct": (
        "/shops/alpha/products/full",
        {
            "type": "book",
            "title": "Moby-Dick",
            "text": "A whale",
            "state": "active",
            "currency": "EUR",
            "skus": [SKU],
            "categories": ["novels"],
            "tags": ["whales"],
            "assets": [],
            "details": {
                "author": ["Melville"],
                "language": "en",
                "binding": "hardcover",
                "publisher": "Harper",
                "isbn": "9780142437247",
                "pages": 720,
            },
        },
    ),
    "putShop": (
        "/shops/delta",
        {
            "currency": "JPY",
            "hold_seconds": 600,
            "hold_percent": 20,
            "payments": "fake",
            "order_page": "https://shop.example/orders/{order}",
        },
    ),
    "putSite": ("/sites/alpha", {"revenue_share": 0.25}),
    "putUserOrg": (
        "/users/peer/org",
        {
            "team": "green",
            "department": "plants",
            "manager_id": "ann",
            "assigned_ref_ids": ["thing:one"],
        },
    ),
    "putZone": (
        "/sites/alpha/zones/full",
        {
            "size": {"width": 300, "height": 250},
            "floor_ecpm_micros": 5_000,
            "count_on": "decision",
            "can_hold_html": True,
            "allowed_advertisers": ["acme"],
            "blocked_advertisers": ["globex"],
        },
    ),
}
# Values that are defaults, since the others need more than a call.
USUAL = {("putShop", "payments"), ("putProduct", "assets")}
# Fields that tell of the write itself.
OF_THE_WRITE = {"version", "updated_at", "changed_at"}


def _resources() -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the path of each resource with its GET and its PUT."""
    for path, methods in DOCUMENT["paths"].items():
        if "get" in methods and "requestBody" in methods.get("put", {}):
            yield path, methods["get"], methods["put"]


RESOURCES = {put["operationId"]: (path, get, put) for path, get, put in _resources()}


def _properties(schema: Any) -> dict[str, Any]:
    found = resolve(DOCUMENT, schema)
    parts = [part for name in ("allOf", "anyOf", "oneOf") for part in found.get(name, [])]
    properties: dict[str, Any] = {**found.get("properties", {})}
    for each in parts:
        properties |= _properties(each)
    return properties


def _written(put: Mapping[str, Any]) -> dict[str, Any]:
    body = resolve(DOCUMENT, put["requestBody"])
    return _properties(body["content"]["application/json"]["schema"])


def _read(get: Mapping[str, Any]) -> dict[str, Any]:
    answer = resolve(DOCUMENT, get["responses"]["200"])
    return _properties(answer["content"]["application/json"]["schema"])


def test_all_that_is_written_can_be_read() -> None:
    unread = {
        (name, field)
        for name, (_, get, put) in RESOURCES.items()
        for field in _written(put)
        # A secret is read as set or not.
        if not {field, f"{field}_set"} & _read(get).keys()
    }

    assert unread == NOT_READ.keys()


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Letters whose links lead to this machine, where they are read."""
    return settings.model_copy(update={"mail_folder": "letters"})


@pytest.fixture
def world(client: Client, runtime: Runtime, workers: Workers) -> World:
    return build(client, runtime, workers)


def _row_of(path: str, method: str) -> Row:
    call = f"{method} {re.sub(r'{[^}]+}', '{}', path)}"
    rows = (row for rows in FEATURES.values() for row in rows)
    return next(row for row in rows if re.sub(r"{[^}]+}", "{}", row.call) == call)


def test_writing_what_was_read_changes_nothing(world: World) -> None:
    admin, changed = world.as_("admin"), {}
    for name, (path, _, put) in RESOURCES.items():
        row = _row_of(path, "PUT")
        names = {**world.names, **(row.made(world) if row.made else {}), **row.path}
        target = row.call.split(" ", 1)[1].format(**names)
        # So that each has a value of its own, beside defaults.
        if row.body is not None:
            _write(admin, target, row.body)
        before = admin.get(target)
        assert before.status == 200, (name, before.body)
        taken = _written(put)
        given = {k: v for k, v in before.json.items() if k in taken}

        written = _write(admin, target, given)
        after = admin.get(target)

        differing = {k for k in before.json if before.json[k] != after.json.get(k)}
        if written.status not in {200, 204} or differing - OF_THE_WRITE:
            changed[name] = (written.status, written.body[:300], differing)
    assert changed == {}


def _write(client: Client, target: str, body: Mapping[str, Any]) -> Any:
    found = client.get(target)
    headers = {"Content-Type": "application/json"}
    if "ETag" in found.headers:
        headers["If-Match"] = found.headers["ETag"]
    return client.request("PUT", target, body=orjson.dumps(body), headers=headers)


def test_all_settings_of_comments_come_back(client: Client) -> None:
    """With a value for each that is not its default."""
    publisher, path = client.as_("paula", roles=["publisher"], sites=["blog"]), SETTINGS
    url = "https://blog.example/"
    given = {
        "votes": "up",
        "votes_shown": "after_vote",
        "votes_shown_after_minutes": 5,
        "reactions": [{"key": "heart", "emoji": "+"}],
        "order": "best",
        "moderation": "before",
        "phrases": [{"phrase": "casino", "action": "reject"}],
        "max_links": 3,
        "approve_first": 2,
        "repeats": "judge",
        "limits": {
            "posts": [{"burst": n, "every_seconds": n} for n in (1, 2, 3)],
            "votes_per_minute": 5,
            "flags_per_hour": 6,
        },
        "close_after_days": 7,
        "slow_seconds": 8,
        "flags_hold": 9,
        "spam_check_url": url,
        "first_visits": [url],
        "guests": "email",
        "guests_vote": False,
        "origins": ["https://harbour.example"],
        "search": True,
        "notifications": True,
        "avatar_hosts": ["pictures.example"],
    }
    assert given.keys() == _written(RESOURCES["putCommentSettings"][2]).keys()

    assert publisher.put(path, **given).status == 200

    read = publisher.get(path).json
    assert read == {"site": "blog", **given}
    read.pop("site")
    assert publisher.put(path, **read).json == {"site": "blog", **given}


@pytest.mark.parametrize("name", sorted(RESOURCES.keys() - {"putCommentSettings"}))
def test_each_field_of_a_resource_comes_back(world: World, name: str) -> None:
    target, given = FULL[name]
    _, _, put = RESOURCES[name]
    if name == "putAuthorWatch":
        stranger_followed(world)
    fields = _written(put)
    assert given.keys() == fields.keys()
    defaults = {(name, each) for each, value in given.items() if _is_default(fields[each], value)}
    assert defaults <= USUAL

    written = _write(world.as_("admin"), target, given)
    assert written.status in {200, 201, 204}, written.body

    read = world.as_("admin").get(target).json
    unread = {field for resource, field in NOT_READ if resource == name}
    assert {field: read[field] for field in given if field not in unread} == {
        field: value for field, value in given.items() if field not in unread
    }


def _is_default(field: Mapping[str, Any], value: object) -> bool:
    usual = field.get("default", [] if field.get("type") == "array" else None)
    return bool(usual == value)
