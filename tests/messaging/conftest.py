"""A queue of greetings with its poller."""

from typing import Any

import pytest
from chalice.app import Chalice

from chalicelib.messaging import (
    Queues,
    consume,
)
from deploy.declared import declared_queues
from local.queues import Poller, create_queues
from tests.messaging.support.greetings import MESSAGES, Handler
from tests.support.sending import PATIENCE_SECONDS


def app_that(handle: Handler, **mapping: Any) -> Chalice:
    """Return an app with one queue whose messages go to `handle`."""
    app = Chalice("plaza", configure_logs=False)

    @app.on_sqs_message(queue="t-greetings", **mapping)
    def greet(event: Any) -> dict[str, Any]:
        return consume(event.to_dict(), MESSAGES, handle)

    return app


@pytest.fixture
def mapping(sqs: Any) -> Any:
    """Return a function that makes a queue with its poller, and a sender to it."""

    def make(handle: Handler, visibility_timeout_seconds: int = 600, **options: Any) -> Any:
        app = app_that(handle, **options)
        create_queues(sqs, app, lambda _: visibility_timeout_seconds)
        return Poller(app, sqs, declared_queues(app)[0]), Queues(
            "t-", client=sqs, seconds=PATIENCE_SECONDS
        )

    yield make
    for url in sqs.list_queues(QueueNamePrefix="t-").get("QueueUrls", []):
        sqs.delete_queue(QueueUrl=url)
