"""A reader's browsers by the API: whose they are, how many, and which Plaza sends to."""

from typing import Any

import pytest

from chalicelib.notifications import personal_data
from chalicelib.notifications.push_rows import SUBSCRIPTIONS
from chalicelib.notifications.subscriptions import MAX_BROWSERS
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.notifications.support.mailbox import tell
from tests.push.support.browser import BrowserStandIn, encode
from tests.push.support.keys import KEYS
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.test_destinations import HOSTILE

PUSH, BROWSERS = "/notifications/push", "/notifications/push/browsers"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update=KEYS)


@pytest.fixture
def ann(client: Client) -> Client:
    return client.as_("ann", name="Ann")


@pytest.fixture
def bo(client: Client) -> Client:
    return client.as_("bo", name="Bo")


def form(number: int = 1, **changes: Any) -> dict[str, Any]:
    made = BrowserStandIn(f"https://fcm.googleapis.com/fcm/send/{number}", number)
    return {"endpoint": made.endpoint, "keys": made.keys, **changes}


def id_of(number: int = 1) -> str:
    return BrowserStandIn(form(number)["endpoint"]).browser.id


def ids(reader: Client) -> list[str]:
    return [each["id"] for each in reader.get(BROWSERS).json["browsers"]]


def rows(runtime: Runtime) -> list[dict[str, Any]]:
    return [dict(each) for each in SUBSCRIPTIONS.of(runtime.database).find()]


def test_a_reader_registers_a_browser_and_removes_it(ann: Client, clock: Clock) -> None:
    assert ann.get(f"{PUSH}/key").json == {"key": KEYS["vapid_public_key"]}
    assert ann.get(BROWSERS).json == {"browsers": []}
    made = ann.put(PUSH, **form(language="de", time_zone="Europe/Berlin"))
    shown = {
        "id": id_of(),
        "service": "fcm.googleapis.com",
        "language": "de",
        "time_zone": "Europe/Berlin",
        "made": clock().isoformat().replace("+00:00", "Z"),
        "seen": clock().isoformat().replace("+00:00", "Z"),
    }
    assert (made.status, made.json) == (200, shown)
    assert ann.get(BROWSERS).json == {"browsers": [shown]}

    for _ in range(2):
        assert ann.delete(f"{BROWSERS}/{id_of()}").status == 204
    assert ids(ann) == []


def test_no_answer_has_the_keys_or_the_address_of_a_browser(ann: Client) -> None:
    made = ann.put(PUSH, **form())
    for body in (made.body, ann.get(BROWSERS).body):
        assert b"/fcm/send/" not in body
        for secret in form()["keys"].values():
            assert secret.encode() not in body


def test_a_repeat_is_one_browser(ann: Client, runtime: Runtime, clock: Clock) -> None:
    ann.put(PUSH, **form())
    tell(runtime)
    (before,) = rows(runtime)
    clock.advance(seconds=1)
    ann.put(PUSH, **form())

    (after,) = rows(runtime)
    assert after == {**before, "seen": clock()}
    assert after["due"]


def test_the_next_reader_at_a_browser_has_it_alone(
    ann: Client, bo: Client, runtime: Runtime
) -> None:
    ann.put(PUSH, **form())
    tell(runtime)
    bo.put(PUSH, **form())

    assert (ids(ann), ids(bo)) == ([], [id_of()])
    (row,) = rows(runtime)
    assert row.keys().isdisjoint({"next", "due", "taken_by"}), "it owes nothing of the last reader"


def test_nobody_removes_the_browser_of_another_reader(ann: Client, bo: Client) -> None:
    ann.put(PUSH, **form())
    assert bo.delete(f"{BROWSERS}/{id_of()}").status == 204

    assert ids(ann) == [id_of()]


def test_of_too_many_browsers_the_one_that_registered_longest_ago_goes(
    ann: Client, bo: Client, runtime: Runtime, clock: Clock
) -> None:
    bo.put(PUSH, **form(99))
    for number in range(1, MAX_BROWSERS + 1):
        ann.put(PUSH, **form(number))
        clock.advance(seconds=1)
    ann.put(PUSH, **form(1))
    clock.advance(seconds=1)
    ann.put(PUSH, **form(11))

    assert ids(ann) == [id_of(number) for number in (11, 1, 10, 9, 8, 7, 6, 5, 4, 3)]
    assert ids(bo) == [id_of(99)]
    # A list shows no more in any case; messages go to every row.
    assert len(rows(runtime)) == MAX_BROWSERS + 1


@pytest.mark.parametrize("endpoint", [*HOSTILE, "https://plaza.example/push"])
def test_plaza_sends_to_services_of_browsers_alone(
    ann: Client, runtime: Runtime, endpoint: str
) -> None:
    refused = ann.put(PUSH, **form(endpoint=endpoint))

    assert refused.status == 422
    assert refused.code in {"unknown_push_service", "invalid_request"}
    assert rows(runtime) == []


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"p256dh": form()["keys"]["p256dh"]},
        {**form()["keys"], "auth": encode(bytes(15))},
        {**form()["keys"], "auth": encode(bytes(17))},
        {**form()["keys"], "auth": "é" * 22},
        {**form()["keys"], "p256dh": encode(b"\x04" + bytes(64))},
        {**form()["keys"], "p256dh": encode(b"\x02" + bytes(32))},
        {**form()["keys"], "p256dh": form()["keys"]["p256dh"] + "A"},
        {**form()["keys"], "more": "x"},
        {"p256dh": None, "auth": 5},
        "keys",
    ],
)
def test_keys_of_another_form_are_refused(ann: Client, runtime: Runtime, keys: Any) -> None:
    assert ann.put(PUSH, **form(keys=keys)).status == 422
    assert rows(runtime) == []


def test_a_deployment_without_a_key_takes_no_browser(
    ann: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(runtime.settings), "vapid_public_key", "")

    for reply in (ann.get(f"{PUSH}/key"), ann.put(PUSH, **form())):
        assert (reply.status, reply.code) == (409, "push_off")
    assert ann.get(BROWSERS).json == {"browsers": []}


def test_an_erasure_forgets_the_browsers_of_a_reader(
    ann: Client, bo: Client, runtime: Runtime, clock: Clock
) -> None:
    ann.put(PUSH, **form(1))
    bo.put(PUSH, **form(2))
    until = clock()
    clock.advance(seconds=1)
    ann.put(PUSH, **form(3))
    personal_data.erase(runtime, "ann", until)
    assert ids(ann) == [id_of(3)]
    personal_data.erase(runtime, "ann")

    assert (ids(ann), ids(bo)) == ([], [id_of(2)])


def test_a_reader_chooses_the_kinds_of_push_messages(ann: Client) -> None:
    path = "/notifications/preferences"
    shown = ann.put(path, kinds={"follow": {"push": False}}).json["kinds"]
    assert shown["follow"] == {"in_app": True, "email": True, "push": False}
    assert shown["post.comment"] == {"in_app": True, "email": True, "push": True}
    shown = ann.put(path, kinds={"follow": {"in_app": False}}).json["kinds"]
    assert shown["follow"] == {"in_app": False, "email": False, "push": False}

    assert ann.put(path, kinds={"follow": {"in_app": False, "push": True}}).status == 422
