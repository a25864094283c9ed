"""A site's hooks: its publisher registers them, and nobody reads their secrets."""

import base64
import dataclasses
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any, get_args

import orjson
import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.comments.sites import settings as comment_settings
from chalicelib.http.idempotency import KEYS
from chalicelib.memory import Memory
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.webhooks import hooks
from chalicelib.webhooks import rows as webhook_rows
from chalicelib.webhooks.errors import TooManyHooks
from chalicelib.webhooks.hooks import HookTarget
from chalicelib.webhooks.kinds import KINDS, Kind
from chalicelib.webhooks.signatures import PREFIX, SECRET_BYTES
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.webhooks.conftest import ALL, HOOKS, SITE, Desk
from tests.webhooks.support.receiver import Receiver

URL = "https://harbour.example/events"


def test_a_secret_is_shown_once_and_sealed_at_rest(desk: Desk) -> None:
    made = desk.publisher.post(HOOKS, url=URL, kinds=ALL)
    assert made.status == 201
    secret = made.json["secret"]

    listed = desk.publisher.get(HOOKS).json["webhooks"]
    assert listed == [{name: x for name, x in made.json.items() if name != "secret"}]
    stored = webhook_rows.HOOKS.of(desk.runtime.database).find_one({})
    assert secret.removeprefix("whsec_") not in str(stored)


def test_a_call_that_is_repeated_with_its_key_makes_one_hook(desk: Desk) -> None:
    """The first answer was lost, and the secret with it."""
    body = orjson.dumps({"url": URL, "kinds": ALL})
    headers = {"Content-Type": "application/json", "Idempotency-Key": "my-first-hook"}

    first, again = (
        desk.publisher.request("POST", HOOKS, body=body, headers=headers) for _ in range(2)
    )

    assert (first.status, again.status) == (201, 201)
    assert again.json == first.json
    row = KEYS.of(desk.runtime.database).find_one()
    assert row is not None
    numbers = random.Random(row["seed"])
    drawn = {numbers.randbytes(size) for size in (8, SECRET_BYTES, SECRET_BYTES)}
    secret = base64.b64decode(first.json["secret"].removeprefix(PREFIX))
    assert secret not in drawn
    assert len(desk.publisher.get(HOOKS).json["webhooks"]) == 1
    assert desk.publisher.delete(f"{HOOKS}/{first.json['id']}").status == 204
    gone = desk.publisher.request("POST", HOOKS, body=body, headers=headers)
    assert (gone.status, gone.code) == (404, "unknown_hook")


def test_a_key_is_of_one_body_and_of_one_call_at_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Content-Type": "application/json", "Idempotency-Key": "my-first-hook"}

    def create(url: str) -> Reply:
        body = orjson.dumps({"url": url, "kinds": ALL})
        return desk.publisher.request("POST", HOOKS, body=body, headers=headers)

    register = hooks.register

    def register_during_a_repeat(*given: Any) -> Any:
        monkeypatch.setattr(hooks, "register", register)
        assert create(URL).code == "request_in_progress"
        return register(*given)

    monkeypatch.setattr(hooks, "register", register_during_a_repeat)

    assert create(URL).status == 201
    assert create(f"{URL}/others").code == "idempotency_key_reused"


def test_a_hook_is_changed_and_removed(desk: Desk) -> None:
    path = f"{HOOKS}/{desk.hook(URL)['id']}"
    changed = desk.publisher.patch(path, kinds=["comment.created"], state="off")
    assert changed.status == 200
    assert (changed.json["kinds"], changed.json["state"]) == (["comment.created"], "off")
    assert changed.json["url"] == URL
    assert desk.publisher.delete(path).status == 204
    assert desk.publisher.delete(path).status == 204
    assert desk.publisher.get(HOOKS).json == {"webhooks": []}
    for refused in (
        desk.publisher.patch(path, state="on"),
        desk.publisher.post(f"{path}/secret"),
        desk.publisher.post(f"{path}/trials"),
        desk.publisher.get(f"{path}/deliveries"),
    ):
        assert (refused.status, refused.code) == (404, "unknown_hook")


def test_a_container_that_remembers_a_removed_hook_notes_the_next_one(
    desk: Desk, runtime: Runtime, clock: Clock
) -> None:
    """A script removes the old hook by one container, and registers the new one by another."""
    first = desk.hook(URL)["id"]
    other = dataclasses.replace(runtime, memory=Memory())
    assert comment_settings.has_hooks(runtime, SITE)
    caller = desk.publisher
    elsewhere = Client(create_app(other, LocalChalice), caller.token, caller.headers)
    assert elsewhere.delete(f"/sites/{SITE}/webhooks/{first}").status == 204

    desk.hook(URL)

    clock.advance(seconds=6)
    assert comment_settings.has_hooks(runtime, SITE)
    assert comment_settings.has_hooks(other, SITE)


def test_a_hook_of_another_site_is_unknown(desk: Desk) -> None:
    hook = desk.hook(URL)["id"]
    other = desk.client.as_("eve", roles=["publisher"], sites=["elsewhere"])
    path = f"/sites/elsewhere/webhooks/{hook}"
    delivery = f"x:{hook}"

    assert other.patch(path, state="off").code == "unknown_hook"
    assert other.post(f"{path}/secret").code == "unknown_hook"
    assert other.post(f"{path}/deliveries/{delivery}/replay").code == "unknown_hook"
    assert other.delete(path).status == 204
    assert [each["state"] for each in desk.publisher.get(HOOKS).json["webhooks"]] == ["on"]


def test_twenty_calls_at_once_make_no_twenty_first(desk: Desk) -> None:
    for _ in range(15):
        hooks.register(desk.runtime, "harbour", HookTarget(URL, ["comment.created"]), "paul")

    def register(_: int) -> bool:
        try:
            hooks.register(desk.runtime, "harbour", HookTarget(URL, ["comment.created"]), "paul")
        except TooManyHooks:
            return False
        return True

    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(register, range(20))) == 5
    refused = desk.publisher.post(HOOKS, url=URL, kinds=ALL)
    assert (refused.status, refused.code) == (409, "too_many_hooks")


@pytest.mark.parametrize(
    "body",
    [
        {"url": URL, "kinds": []},
        {"url": URL, "kinds": ["comment.nothing"]},
        {"url": URL, "kinds": ["webhook.trial"]},
        {"url": "", "kinds": ALL},
        {"url": URL, "kinds": ALL, "secret": "mine"},
    ],
    ids=str,
)
def test_a_hook_that_makes_no_sense_is_refused(desk: Desk, body: dict[str, Any]) -> None:
    refused = desk.publisher.post(HOOKS, **body)
    assert (refused.status, refused.code) == (422, "invalid_request")


def test_a_trial_is_sent_even_to_a_hook_that_is_off(desk: Desk, receiver: Receiver) -> None:
    path = f"{HOOKS}/{desk.hook(receiver.url)['id']}"
    assert desk.publisher.patch(path, state="off").status == 200
    tried = desk.publisher.post(f"{path}/trials")
    assert tried.status == 202
    desk.workers.drain()

    assert receiver.kinds == ["webhook.trial"]
    (shown,) = desk.publisher.get(f"{path}/deliveries").json["deliveries"]
    assert (shown["id"], shown["state"]) == (tried.json["delivery"], "sent")


def test_deliveries_are_paged_from_the_newest(desk: Desk, receiver: Receiver) -> None:
    path = f"{HOOKS}/{desk.hook(receiver.url)['id']}"
    made = []
    for number in range(5):
        desk.clock.advance(seconds=number % 2)
        made.append(desk.publisher.post(f"{path}/trials").json["delivery"])
    found, cursor = [], ""
    while True:
        page = desk.publisher.get(f"{path}/deliveries?limit=2{cursor}").json
        found += [each["id"] for each in page["deliveries"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"

    assert sorted(found) == sorted(made)
    unknown = desk.publisher.post(f"{path}/deliveries/x:{'a' * 16}/replay")
    assert (unknown.status, unknown.code) == (404, "unknown_delivery")


def test_the_table_has_every_kind_that_a_hook_can_choose() -> None:
    chosen = [name for union in get_args(Kind) for name in get_args(union) or (union,)]
    assert [*chosen, "webhook.trial"] == list(KINDS)


class TestOnTheInternet:
    """A deployment that is not on its own machine."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"public_url": "https://plaza.example/api"})

    @pytest.mark.parametrize(
        "url", ["http://harbour.example/", "https://10.0.0.1/", "https://localhost/"]
    )
    def test_an_address_that_is_not_public_is_refused_without_a_reason(
        self, desk: Desk, url: str
    ) -> None:
        refused = desk.publisher.post(HOOKS, url=url, kinds=ALL)
        assert (refused.status, refused.code) == (422, "address_refused")
        assert "detail" not in refused.json
        path = f"{HOOKS}/{desk.hook(URL)['id']}"
        assert desk.publisher.patch(path, url=url).code == "address_refused"


def test_of_two_rotations_at_once_neither_secret_is_lost(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = desk.hook(receiver.url)["id"]
    find, others = hooks.find, list[str]()

    def find_before_another(*given: Any) -> Any:
        found = find(*given)
        if not others:
            others.append("begun")
            others[0] = hooks.rotate(desk.runtime, SITE, hook)[1]
        return found

    monkeypatch.setattr(hooks, "find", find_before_another)
    _, secret = hooks.rotate(desk.runtime, SITE, hook)
    desk.post()
    desk.workers.drain()

    (call,) = receiver.calls
    assert call.is_signed_with(secret)
    assert call.is_signed_with(others[0])
