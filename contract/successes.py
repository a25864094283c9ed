"""Calls that succeed: for each operation one, with all that it needs in the server's database.

The calls are those of the access matrix, and some that need what the matrix leaves out. The fuzz
begins with them, and varies them afterwards.
"""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, NamedTuple, TypedDict
from urllib.parse import parse_qsl, urlsplit

from app import create_app
from bench.stage import Stage
from chalicelib.ads.tracking import conversion_keys
from chalicelib.comments.batches import running
from chalicelib.comments.people.links import (
    CONFIRMATIONS,
    LIFETIME,
    Confirmation,
    LinkKind,
    token_hash,
)
from chalicelib.comments.people.rows import PEOPLE, new_person
from chalicelib.comments.providers import flow
from chalicelib.notifications import mail_links, mailing
from chalicelib.notifications.mailing import NEVER
from chalicelib.shop.carts.shapes import CARTS
from chalicelib.social.activity.actions.actions import ACTIONS
from chalicelib.social.posts.posts import POSTS
from local import recruiting as _recruiting  # noqa: F401 - registers types
from local.tokens import mint
from tests.ads.support.factories import BANNER, ad_unit, campaign_body, html
from tests.assets.support.uploading import Uploader, digest
from tests.security.support import world as worlds
from tests.security.support.callers import OWN_ADVERTISER, OWN_SITE
from tests.security.support.matrix import FEATURES
from tests.security.support.row import Row, expected_of
from tests.security.support.rows.notifications import SUBSCRIPTION
from tests.security.support.world import PICTURE, World, made
from tests.shop.support.stripe_stand_in import signature
from tests.support.http_client import Client
from tests.support.workers import Workers

WEBHOOK_SECRET = "a secret of the contract's webhook"  # noqa: S105 - it guards nothing
_SOURCE = "a-cart-of-before-the-1"
_NEW_VERSION = {"type": "image/png", "length": len(PICTURE), "sha256": digest(PICTURE)}


class Success(TypedDict):
    """A call of an operation; `path` has the values of its parameters in their order."""

    path: list[str]
    query: dict[str, str]
    headers: dict[str, str]
    body: Any
    is_picture: bool


class Prepared(NamedTuple):
    """The calls that succeed for a caller by `GET /nodes/{}`, and the caller's token."""

    successes: dict[str, Success]
    token: str | None


def prepare(stage: Stage, caller: str) -> Prepared:
    """Make in the stage's database all that a caller's calls need."""
    runtime = stage.runtime

    def token(sub: str, **claims: Any) -> str:
        return mint(runtime.settings, runtime.now(), sub, **claims)

    # The server's own workers do the work that messages ask for; no call waits for it.
    workers = Workers([], lambda _: False)
    world = worlds.build(Client(create_app(runtime), token), runtime, workers)
    rows = [*_FURTHER, *(row for rows in FEATURES.values() for row in rows)]
    found: dict[str, Success] = {}
    for row in rows:
        operation = operation_of(row.call)
        if operation not in found and _is_success(expected_of(row).get(caller)):
            found[operation] = _success(world, row)
    found[operation_of(_WEBHOOK)] = _sign_event(world)
    found[operation_of(_CALLBACK)] = _come_back(world)
    bearer = world.as_(caller).headers.get("Authorization", "")
    return Prepared(found, bearer.removeprefix("Bearer ") or None)


def operation_of(call: str) -> str:
    """Return a method and a path with its parameters made alike."""
    return re.sub(r"{[^}]+}", "{}", call)


def _is_success(status: int | None) -> bool:
    return status is not None and status < HTTPStatus.BAD_REQUEST


def _success(world: World, row: Row) -> Success:
    names = {**world.names, **(row.made(world) if row.made else {}), **row.path}
    path = row.call.split(" ", 1)[1]
    headers = {"If-Match": f'"{row.version}"'} if row.version is not None else {}
    return {
        "path": [names[name] for name in re.findall(r"{([^}]+)}", path)],
        "query": dict(parse_qsl(row.query.format(**names).removeprefix("?"))),
        "headers": headers,
        "body": row.body,
        "is_picture": bool(row.data),
    }


def _sign_event(world: World) -> Success:
    """Return the call of a signed event without a body, of which Plaza needs nothing."""
    signed = signature(b"", int(world.runtime.now().timestamp()), WEBHOOK_SECRET)
    headers = {"Stripe-Signature": signed}
    return {"path": [], "query": {}, "headers": headers, "body": None, "is_picture": False}


def _own_asset(world: World) -> dict[str, str]:
    return {"asset": _own(world).upload(PICTURE, "image/png")["id"]}


def _own_upload(world: World) -> dict[str, str]:
    begun = made(_own(world).begin(PICTURE, "image/png"))
    _own(world).send(begun, PICTURE)
    return {"upload": begun["id"], "number": "1"}


def _own(world: World) -> Uploader:
    return Uploader(world.as_("admin"), "/users/me")


def _frame(world: World) -> dict[str, str]:
    """Show an HTML creative; return its token."""
    admin, zone = world.as_("admin"), world.fresh()
    made(admin.put(f"/sites/{OWN_SITE}/zones/{zone}", size=BANNER, can_hold_html=True))
    name = f"{OWN_ADVERTISER}:{world.fresh()}"
    units = [ad_unit(creative=html("<b>Spring</b>"))]
    flight = worlds.flight(world.runtime.now())
    body = campaign_body(f"{OWN_SITE}/{zone}", ad_units=units, flight=flight)
    made(admin.put(f"/campaigns/{name}", **body))
    made(admin.post(f"/campaigns/{name}/activate"))
    (ad,) = made(world.client.get(f"/ads/{OWN_SITE}/{zone}"))["ads"]
    return {"token": ad["creative"]["frame_url"].rpartition("/")[2]}


def _signature(world: World) -> dict[str, str]:
    """Sign a conversion by a key of the advertiser."""
    path = f"/advertisers/{OWN_ADVERTISER}/conversion-key"
    secret = made(world.as_("admin").post(path))["keys"][0]["secret"]
    return {"signature": conversion_keys.sign(secret, OWN_ADVERTISER, "A-1", 5)}


def _preview(world: World) -> dict[str, str]:
    """Make a preview of a draft."""
    node = worlds.content(world)["content"]
    reply = world.as_("admin").post(f"/content/{OWN_SITE}/nodes/{node}/preview")
    return {"token": made(reply)["url"].rpartition("/")[2]}


def _two_carts(world: World) -> dict[str, str]:
    """Make a cart, and the cart whose lines it takes, with the id that the call names."""
    names = worlds.cart(world)
    rows = CARTS.of(world.runtime.database)
    other = rows.find_one({"_id": worlds.cart(world)["cart"]})
    if other is None:
        raise LookupError(names["cart"])
    rows.replace_one({"_id": _SOURCE}, {**other, "_id": _SOURCE}, upsert=True)
    return names


def _end_batch(world: World) -> dict[str, str]:
    names = worlds.batch(world)
    running.run(world.runtime, names["batch"])
    return names


def _fail_post(world: World) -> dict[str, str]:
    names = worlds.post(world)
    _fail(world, POSTS.name, names["post"])
    return names


def _fail_action(world: World) -> dict[str, str]:
    names = worlds.action(world)
    _fail(world, ACTIONS.name, names["action"])
    return names


def _fail(world: World, collection: str, thing: str) -> None:
    failed = {"$set": {"fan_out.state": "failed", "fan_out.reason": "OSError"}}
    if not world.runtime.database[collection].update_one({"_id": thing}, failed).matched_count:
        raise LookupError(thing)


def _link(world: World) -> dict[str, str]:
    """Make the link of a letter to a guest."""
    token = world.fresh().ljust(43, "A")
    link: Confirmation = {
        "_id": token_hash(token),
        "site": OWN_SITE,
        "person": f"g_{'a' * 22}",
        "name": "Ferry passenger",
        "email_key": "k" * 43,
        "return_to": "https://alpha.example/",
        "language": "en",
        "expires": world.runtime.now() + LIFETIME,
    }
    CONFIRMATIONS.of(world.runtime.database).insert_one(link)
    return {"token": token}


def _ask_for_addresses(world: World) -> dict[str, str]:
    """Make a site whose guests confirm an address."""
    site = world.fresh()
    settings = {"guests": "email", "origins": ["https://alpha.example"]}
    made(world.as_("admin").put(f"/sites/{site}/comments/settings", **settings))
    return {"site": site}


def _code(kind: LinkKind, user: str, token: str) -> Callable[[World], dict[str, str]]:
    """Return what makes the code of a person who comes back to their site."""

    def make(world: World) -> dict[str, str]:
        names, name = _ask_for_addresses(world), "Ferry passenger"
        PEOPLE.of(world.runtime.database).insert_one(new_person(names["site"], user, name))
        code: Confirmation = {
            "_id": token_hash(token),
            "site": names["site"],
            "person": user,
            "name": name,
            "email_key": "k" * 43,
            "return_to": "https://alpha.example/",
            "language": "en",
            "expires": world.runtime.now() + LIFETIME,
            "kind": kind,
        }
        CONFIRMATIONS.of(world.runtime.database).insert_one(code)
        return names

    return make


def _transfer(make: Callable[..., dict[str, str]], **given: Any) -> Callable[[World], Any]:
    """Make a transfer at a site of its own, since a site has one at a time."""
    return lambda world: make(world, world.fresh(), **given)


_IMPORT = "/sites/{site}/imports/{transfer}"
_EXPORT = "/sites/{site}/exports/{transfer}"


def _offer(world: World) -> dict[str, str]:
    """Make a site whose readers sign in by GitHub."""
    names = _ask_for_addresses(world)
    made(world.as_("admin").put(f"/sites/{names['site']}/providers/own", **worlds.PROVIDER))
    return {**names, "provider": "own"}


def _come_back(world: World) -> Success:
    """Return the answer of a provider that refuses, in the browser that began."""
    site = _offer(world)["site"]
    led = flow.begin(world.runtime, site, "own", "https://alpha.example/")
    asked = dict(parse_qsl(urlsplit(led.address).query))
    return {
        "path": [site, "own"],
        "query": {"state": asked["state"], "error": "access_denied"},
        "headers": {"Cookie": led.cookie.partition(";")[0]},
        "body": None,
        "is_picture": False,
    }


def _letters(url_of: Callable[[World], str]) -> Callable[[World], dict[str, str]]:
    """Return what has a reader ask for letters, and takes the token of a link in a letter."""

    def make(world: World) -> dict[str, str]:
        daily = NEVER._replace(every="daily")
        mailing.choose(world.runtime, _READER, daily, "ann@plaza.example", sure=False)
        return {"token": url_of(world).partition("token=")[2]}

    return make


_READER = "reader-of-letters"
_confirms = _letters(
    lambda world: mail_links.confirm_url(world.runtime, _READER, "ann@plaza.example")
)
_stops = _letters(lambda world: mail_links.stop_url(world.runtime, _READER))
_OF_LINK = "?token={token}"
_LETTERS = tuple(
    Row(f"{method} /notifications/mail/{link}", {200: "anonymous"}, query=_OF_LINK, made=made_by)
    for link, made_by in (("confirmation", _confirms), ("stop", _stops))
    for method in ("GET", "POST")
)

# Calls that succeed where those of the matrix are refused, or need a worker before.
_FURTHER = (
    *_LETTERS,
    # The server has a key.
    Row("GET /notifications/push/key", {200: "*"}),
    Row("PUT /notifications/push", {200: "admin"}, body=SUBSCRIPTION),
    Row("GET /users/me/assets/{asset}", {200: "admin"}, made=_own_asset),
    Row("DELETE /users/me/assets/{asset}", {204: "admin"}, made=_own_asset),
    Row(
        "POST /users/me/assets/{asset}/versions", {201: "admin"}, body=_NEW_VERSION, made=_own_asset
    ),
    Row(
        "DELETE /users/me/assets/{asset}/versions/{number}",
        {204: "admin"},
        made=_own_asset,
        path={"number": "1"},
    ),
    Row("GET /users/me/uploads/{upload}", {200: "admin"}, made=_own_upload),
    Row(
        "PUT /users/me/uploads/{upload}/parts/{number}",
        {204: "admin"},
        data=PICTURE,
        made=_own_upload,
    ),
    Row("POST /users/me/uploads/{upload}/finish", {200: "admin"}, made=_own_upload),
    Row("GET /creatives/{token}", {200: "anonymous"}, made=_frame),
    Row(
        "GET /ads/conversions/{advertiser}/pixel",
        {204: "anonymous"},
        query="?order=A-1&value_micros=5&signature={signature}",
        made=_signature,
    ),
    Row("POST /carts/{cart}/merge", {200: "*"}, body={"source": _SOURCE}, made=_two_carts),
    Row("PUT /users/me/blocked/{user}", {204: "admin"}, path={"user": "mo-none"}),
    Row("POST /posts/{post}/fan-out", {204: "admin"}, made=_fail_post),
    Row("POST /actions/{action}/fan-out", {204: "admin"}, made=_fail_action),
    Row("POST /moderation/batches/{batch}/undo", {202: "admin"}, made=_end_batch),
    Row("GET /previews/{token}", {200: "anonymous"}, made=_preview),
    Row(
        f"PUT {_IMPORT}/parts/{{number}}",
        {204: "admin"},
        data=PICTURE,
        made=_transfer(worlds.upload_of_import, content=PICTURE),
    ),
    Row(f"POST {_IMPORT}/start", {202: "admin"}, made=_transfer(worlds.upload_of_import)),
    Row(f"POST {_IMPORT}/apply", {202: "admin"}, made=_transfer(worlds.tried_import)),
    Row(f"DELETE {_IMPORT}", {202: "admin"}, made=_transfer(worlds.upload_of_import)),
    Row(f"GET {_IMPORT}", {200: "admin"}, made=_transfer(worlds.tried_import)),
    Row(f"GET {_EXPORT}", {200: "admin"}, made=_transfer(worlds.export)),
    Row(
        f"GET {_EXPORT}/files/{{number}}/pieces/{{piece}}",
        {200: "admin"},
        made=_transfer(worlds.export),
    ),
    Row(
        "POST /sites/{site}/sign-in",
        {202: "anonymous"},
        body={"email": "ann@plaza.example", "return_to": "https://alpha.example/"},
        made=_ask_for_addresses,
    ),
    Row(
        "POST /sites/{site}/sign-in/token",
        {200: "anonymous"},
        body={"code": "A" * 43},
        made=_code("code", f"g_{'a' * 22}", "A" * 43),
    ),
    Row("POST /sites/{site}/people/me/joined", {202: "admin"}, body={}),
    Row(
        "GET /sites/{site}/providers/{provider}/sign-in",
        {302: "anonymous"},
        query="?return_to=https://alpha.example/",
        made=_offer,
    ),
    Row(
        "POST /sites/{site}/sign-in/account",
        {200: "anonymous"},
        body={"code": "B" * 43},
        made=_code("account", f"p_{'a' * 22}", "B" * 43),
    ),
    *(
        Row(
            f"{method} /sites/{{site}}/guests/confirmation",
            {status: "anonymous"},
            query="?token={token}",
            made=_link,
        )
        for method, status in (("GET", 200), ("POST", 302))
    ),
)
# The answer of a provider, which counts in the browser that began.
_CALLBACK = "GET /sites/{site}/providers/{provider}/callback"
# Signed by Stripe over a body that the document does not describe.
_WEBHOOK = "POST /payments/stripe/webhook"
