"""A Stripe that accepts calls and never answers: a batch of orders ends in its function's time."""

import dataclasses
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from chalice.local import LocalChalice
from pydantic import SecretStr

from app import create_app
from chalicelib.messaging import consuming
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.shop.orders.messages import ResumeOrder
from tests.shop.support.buying import cart_of, ordered, stocked, stored_order
from tests.shop.support.stripe_stand_in import KEY, Stripe, running
from tests.support import failing_server
from tests.support.failing_server import FailingServer
from tests.support.http_client import Client

pytestmark = pytest.mark.usefixtures("workers")
ORDERS = 6
# A fifth of what the worker has: two seconds of it are kept to answer, and two to store.
LEFT_MS = 5_500
LEAST_SECONDS = 3.0


@pytest.fixture
def stripe() -> Iterator[Stripe]:
    with running() as stand_in:
        yield stand_in


@pytest.fixture
def settings(settings: Settings, stripe: Stripe) -> Settings:
    chosen = {
        "payments": "stripe",
        "stripe_sites": ("*",),
        "stripe_url": stripe.url,
        "stripe_key": SecretStr(KEY),
    }
    return settings.model_copy(update=chosen)


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[FailingServer]:
    with failing_server.running("hangs", monkeypatch) as server:
        yield server


def test_orders_that_no_time_is_left_for_come_again(
    client: Client, runtime: Runtime, silent: FailingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, ORDERS, payments="stripe")
    orders = [ordered(client, cart_of(client, MOBY_HARD=1)) for _ in range(ORDERS)]
    changed = runtime.settings.model_copy(update={"stripe_url": silent.url})
    app = create_app(dataclasses.replace(runtime, settings=changed), LocalChalice)
    records = [
        {"messageId": order, "body": ResumeOrder(order=order).model_dump_json()} for order in orders
    ]
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: LEFT_MS)
    monkeypatch.setattr(consuming, "LEAST_MESSAGE_SECONDS", LEAST_SECONDS)

    answer = app.handler_map["resume_orders"]({"Records": records}, context)

    assert [each["itemIdentifier"] for each in answer["batchItemFailures"]] == orders
    assert silent.connections == 1
    assert {stored_order(runtime, order)["state"] for order in orders} == {"paying"}
