"""Trying the mail of a deployment, by its admins."""

import dataclasses

import pytest
from pydantic import SecretStr

from app import create_app
from chalicelib.mail import addressing, events
from chalicelib.mail.events import MailEvent
from chalicelib.runtime import Runtime
from tests.mail.support.stand_in import StandIn
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers


def trial(client: Client, email: str = "ann@plaza.example", **body: object) -> Reply:
    return client.as_("root", roles=["admin"]).post("/mail/trials", email=email, **body)


def refuse(runtime: Runtime, key: str) -> None:
    told = {
        "eventType": "Bounce",
        "bounce": {"bounceType": "Permanent"},
        "mail": {"tags": {"address": [key]}},
    }
    events.apply(runtime, MailEvent.model_validate(told))


def test_a_trial_is_a_letter(client: Client, workers: Workers, courier: StandIn) -> None:
    reply = trial(client)
    workers.drain()

    (sent,) = courier.carried
    assert (reply.status, reply.json["letter"]) == (202, sent.id)
    assert sent.to == "ann@plaza.example"


def test_a_deployment_without_a_sender_says_so(runtime: Runtime, client: Client) -> None:
    silent = runtime.settings.model_copy(update={"mail_from": ""})
    app = create_app(dataclasses.replace(runtime, settings=silent))

    reply = trial(Client(app, client.token))

    assert (reply.status, reply.code) == (409, "mail_off")
    assert runtime.database["mail.letter"].count_documents({}) == 0


def test_a_domain_of_other_letters_is_written_in_ascii(
    client: Client, workers: Workers, courier: StandIn
) -> None:
    assert trial(client, "ann@bücher.example").status == 202
    workers.drain()

    assert courier.carried[0].to == "ann@xn--bcher-kva.example"


@pytest.mark.parametrize(
    "email",
    [
        "änn@plaza.example",
        "ann@plaza.example\r\nBcc: bob@plaza.example",
        "ann@plaza.example, bob@plaza.example",
        "Ann <ann@plaza.example>",
        f"{'a' * 64}@{'b' * 251}.example",
        "ann@[127.0.0.1]",
        "ann@localhost",
        "ann@",
        "",
    ],
)
def test_no_letter_goes_to_what_is_no_address(runtime: Runtime, client: Client, email: str) -> None:
    reply = trial(client, email)

    assert (reply.status, reply.code) == (422, "invalid_request")
    assert runtime.database["mail.letter"].count_documents({}) == 0


def test_an_address_that_refuses_is_tried_again_by_name_alone(
    runtime: Runtime, client: Client, workers: Workers, courier: StandIn
) -> None:
    (key,) = addressing.address_keys("ann@plaza.example", runtime.settings.signing_keys)
    refuse(runtime, key)

    reply = trial(client, "Ann@Plaza.example")
    assert (reply.status, reply.code) == (409, "mail_unwanted")
    assert trial(client, "Ann@Plaza.example", again=True).status == 202
    workers.drain()

    assert len(courier.carried) == 1


def test_an_address_still_refuses_after_a_new_key_has_come(
    runtime: Runtime, client: Client
) -> None:
    old = runtime.settings.signing_keys
    (key,) = addressing.address_keys("ann@plaza.example", old)
    refuse(runtime, key)
    keys = (SecretStr("another signing key, as long as it has to be"), *old)
    rotated = runtime.settings.model_copy(update={"signing_keys": keys})
    app = create_app(dataclasses.replace(runtime, settings=rotated))

    assert trial(Client(app, client.token)).code == "mail_unwanted"
