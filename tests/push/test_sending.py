"""A message at a push service: its headers, its signature, and the service's answers."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from pydantic import SecretStr

from chalicelib.push import browsers, sending
from chalicelib.push.sending import PushMessage
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.push.support.browser import CURVE, BrowserStandIn, decode
from tests.push.support.keys import KEYS, OTHER_KEY
from tests.support.clock import Clock
from tests.support.failing_server import Failure
from tests.support.failing_server import running as running_failing
from tests.test_destinations import HOSTILE
from tests.webhooks.support.receiver import Receiver, running

MESSAGE = PushMessage(b'{"title":"Hello"}', "topic-1", "normal", timedelta(days=1))


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Plaza is on its own machine, where a service may be, too."""
    return settings.model_copy(update={**KEYS, "public_url": "http://127.0.0.1:8000"})


@pytest.fixture
def service() -> Iterator[Receiver]:
    with running() as started:
        yield started


def changed(runtime: Runtime, **fields: Any) -> Runtime:
    return replace(runtime, settings=runtime.settings.model_copy(update=fields))


def test_a_service_gets_what_the_standards_ask_for(
    runtime: Runtime, service: Receiver, clock: Clock
) -> None:
    ann = BrowserStandIn(service.url)
    assert sending.send(runtime, ann.browser, MESSAGE) == ("sent", 204, None)

    (call,) = service.calls
    assert call.path == "/hook?of=plaza"
    assert ann.decrypt(call.body) == MESSAGE.body
    assert call.headers["content-encoding"] == "aes128gcm"
    assert call.headers["content-length"] == str(len(call.body))
    heads = [call.headers[each] for each in ("ttl", "topic", "urgency")]
    assert heads == ["86400", "topic-1", "normal"]
    scheme, signed = call.headers["authorization"].split(" ", 1)
    parts = dict(each.strip().split("=", 1) for each in signed.split(","))
    assert (scheme, parts["k"]) == ("vapid", KEYS["vapid_public_key"])
    key: Any = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, decode(parts["k"]))
    # PyJWT looks at the time of this machine.
    claims = jwt.decode(
        parts["t"],
        key,
        algorithms=["ES256"],
        audience=service.url.partition("/hook")[0],
        options={"verify_exp": False},
    )
    assert claims["sub"] == "mailto:plaza@plaza.example"
    assert clock().timestamp() < claims["exp"] <= clock().timestamp() + 86_400
    assert jwt.get_unverified_header(parts["t"]) == {"alg": "ES256", "typ": "JWT"}


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, "sent"),
        (201, "sent"),
        (202, "sent"),
        (301, "refused"),
        (307, "refused"),
        (400, "refused"),
        (401, "refused"),
        (403, "refused"),
        (404, "gone"),
        (410, "gone"),
        (413, "refused"),
        (429, "later"),
        (500, "later"),
        (503, "later"),
    ],
)
def test_the_outcome_of_an_answer(
    runtime: Runtime, service: Receiver, status: int, outcome: str
) -> None:
    service.status = lambda: status
    service.headers = {"Location": service.url}

    assert sending.send(runtime, BrowserStandIn(service.url).browser, MESSAGE).outcome == outcome
    assert len(service.calls) == 1, "no redirect is followed"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        ("9" * 400, 86_400),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
        ("-5", None),
        ("1.5", None),
        ("\u00b2", None),
        ("soon", None),
        ("Thu, 01 Jan 1970 00:00:00", None),
        ("Thu, 99 Jan 1970 00:00:00 GMT", None),
        ("Thu, 01 Jan 99999999999999999999 00:00:00 GMT", None),
    ],
)
def test_a_service_says_how_long_to_wait(
    runtime: Runtime, service: Receiver, text: str, seconds: int | None
) -> None:
    service.status, service.headers = (lambda: 429), {"Retry-After": text}

    answer = sending.send(runtime, BrowserStandIn(service.url).browser, MESSAGE)

    assert answer.wait == (None if seconds is None else timedelta(seconds=seconds))


@pytest.mark.parametrize("failure", ["does not accept", "hangs", "drips"])
def test_a_service_without_an_answer_may_have_the_message(
    runtime: Runtime, failure: Failure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SECONDS", 0.3)
    with running_failing(failure, monkeypatch) as server:
        answer = sending.send(runtime, BrowserStandIn(server.url).browser, MESSAGE)

    assert answer == ("unknown", 0, None)


def test_a_service_that_is_not_there_has_no_message(runtime: Runtime) -> None:
    for url in ("http://127.0.0.1:9/push", "http://unresolved.invalid/push"):
        assert sending.send(runtime, BrowserStandIn(url).browser, MESSAGE).outcome == "later"


def test_keys_that_are_no_pair_send_nothing(runtime: Runtime, service: Receiver) -> None:
    for key in (None, SecretStr(OTHER_KEY)):
        here = changed(runtime, vapid_private_key=key)
        answer = sending.send(here, BrowserStandIn(service.url).browser, MESSAGE)
        assert answer == ("refused", 0, None)
    assert service.calls == []


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://fcm.googleapis.com/fcm/send/a:b",
        "https://updates.push.services.mozilla.com/wpush/v2/a",
        "https://web.push.apple.com/a",
        "https://wns2-par02p.notify.windows.com/w/?token=a",
    ],
)
def test_the_services_of_browsers_are_known(runtime: Runtime, endpoint: str) -> None:
    assert browsers.is_served(changed(runtime, public_url="https://plaza.example"), endpoint)


@pytest.mark.parametrize(
    "endpoint",
    [
        *HOSTILE,
        "http://fcm.googleapis.com/a",
        "https://fcm.googleapis.com:8443/a",
        "https://fcm.googleapis.com.evil.example/a",
        "https://notfcm.googleapis.com/a",
        "https://fcm.googleapis.com@evil.example/a",
        "https://fcm.googleapis.com\\@evil.example/a",
        "https://fcm.googleapis.com#.evil.example/a",
        "https://plaza.example/a",
        "javascript:alert(1)",
    ],
)
def test_plaza_sends_to_no_other_server(runtime: Runtime, endpoint: str) -> None:
    assert not browsers.is_served(changed(runtime, public_url="https://plaza.example"), endpoint)
