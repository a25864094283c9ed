"""The package in Lambda's own runtime: every route, every queue, every schedule."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from app import app as declared_app
from chalicelib.ads.tracking.events import AdEvent
from chalicelib.analytics.hits import Hits
from chalicelib.assets.promotion import MoveAssets
from chalicelib.comments import nodes
from chalicelib.comments.batches.running import RunBatch
from chalicelib.comments.stores.promotion import MoveNode
from chalicelib.content.publishing.discussions import TellDiscussion
from chalicelib.database import Document, open_database
from chalicelib.jobs.schedules import event_of
from chalicelib.mail.messages import SendLetter
from chalicelib.marks.messages import CountMark
from chalicelib.messaging import Message
from chalicelib.shop.categories.messages import Relist
from chalicelib.shop.orders.messages import ResumeOrder
from chalicelib.social.messages import Deliver, Propagate, Rerank, Trim
from chalicelib.webhooks.messages import SendEvent
from chalicelib.wiring.functions import SCHEDULES as DECLARED
from deploy.declared import declared_queues
from local.gateway import lambda_event
from local.lambda_runtime import Function, FunctionFailed, lambda_function, link_runtime

pytestmark = pytest.mark.processes

ROUTES = [(path, method) for path, methods in declared_app.routes.items() for method in methods]
QUEUES = [source.name for source in declared_queues(declared_app)]
SCHEDULES = [
    (function, schedule.name) for function, declared in DECLARED.items() for schedule in declared
]
DATABASE = "plaza-lambda"
SECRET = "a secret of the tests long enough for HS256"
# For each worker, a message that it can read and has nothing to do for.
GOOD_MESSAGES: dict[str, Message] = {
    "fan_out": Deliver(post_id="gone"),
    "comment_spread": Propagate(post_id="gone"),
    "activity_feed": Rerank(action_id="gone", event_id="gone"),
    "social_errands": Trim(user_id="gone"),
    "move_nodes": MoveNode(node_id="settled"),
    "run_batches": RunBatch(batch="gone"),
    "move_assets": MoveAssets(owner="settled"),
    "count_hits": Hits(site="gone", kind="view", hits=()),
    "count_marks": CountMark(mark_id="post:gone@gone"),
    "send_letters": SendLetter(letter="gone"),
    "send_webhooks": SendEvent(delivery="gone:aaneGAECAwQFBgcI"),
    "content": TellDiscussion(site="gone", node_id="gone"),
    "resume_orders": ResumeOrder(order="gone"),
    "catalogue": Relist(site="gone", category="gone"),
    "count_ad_events": AdEvent(
        type="impression",
        decision="d",
        slot=0,
        campaign_id="gone:gone",
        ad_unit_id="gone",
        site_id="gone",
        zone_id="gone",
        visitor=None,
        price_micros=0,
        lease_id=None,
        ts=datetime(2026, 3, 1, tzinfo=UTC),
    ),
}


@pytest.fixture(scope="module")
def function(
    package: Path, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Function]]:
    """Return a function that gives the Lambda function of a handler, started once."""
    runtime = tmp_path_factory.mktemp("runtime")
    link_runtime(runtime)
    started: dict[str, Function] = {}
    with ExitStack() as stack:

        def start(handler: str) -> Function:
            if handler not in started:
                started[handler] = stack.enter_context(
                    lambda_function(
                        package / "content",
                        runtime,
                        handler,
                        PLAZA_MONGODB_URI=mongodb_uri,
                        PLAZA_DATABASE=DATABASE,
                        PLAZA_JWT_SECRET=SECRET,
                        PLAZA_SIGNING_KEYS=SECRET,
                    )
                )
            return started[handler]

        start("app.command").invoke({"command": "init_db"})
        settled_node(mongodb_uri)
        yield start


def settled_node(mongodb_uri: str) -> None:
    with MongoClient[Document](mongodb_uri) as client:
        nodes.insert(open_database(client, DATABASE), nodes.new_node("settled"))


def http_event(method: str, path: str) -> dict[str, Any]:
    """Return API Gateway's event for a call with `x` in the place of every parameter."""
    event = lambda_event(method, re.sub(r"{\w+}", "x", path), {"Host": "plaza.example"})
    event["requestContext"]["requestId"] = "r"
    return event


@pytest.mark.parametrize(("path", "method"), ROUTES)
def test_every_route_answers(function: Any, path: str, method: str) -> None:
    answer = function("app.app").invoke(http_event(method, path))

    assert answer["statusCode"] < 500, answer
    if answer["statusCode"] >= 400 and method != "HEAD":
        assert answer["headers"]["Content-Type"] == "application/problem+json"
        assert json.loads(answer["body"])["status"] == answer["statusCode"]


def test_an_unknown_path_and_method_are_answered(function: Any) -> None:
    unknown, wrong = (
        function("app.app").invoke(http_event(method, path))
        for method, path in (("GET", "/nothing"), ("PATCH", "/feed"))
    )

    assert (unknown["statusCode"], json.loads(unknown["body"])["code"]) == (404, "unknown_route")
    assert (wrong["statusCode"], wrong["headers"]["Allow"]) == (405, "GET, HEAD, OPTIONS")


def record(message_id: str, body: str) -> dict[str, Any]:
    return {"messageId": message_id, "receiptHandle": "r", "body": body, "attributes": {}}


@pytest.mark.parametrize("queue", QUEUES)
def test_a_poison_message_among_nine_good_ones_is_the_only_one_that_fails(
    function: Any, queue: str
) -> None:
    bodies = [GOOD_MESSAGES[queue].model_dump_json()] * 10
    bodies[4] = "poison"

    event = {"Records": [record(f"m{number}", body) for number, body in enumerate(bodies)]}

    assert function(f"app.{queue}").invoke(event) == {
        "batchItemFailures": [{"itemIdentifier": "m4"}]
    }


@pytest.mark.parametrize(("name", "schedule"), SCHEDULES)
def test_every_schedule_runs(function: Any, name: str, schedule: str) -> None:
    function(f"app.{name}").invoke(event_of(schedule))


@pytest.mark.parametrize("event", [{}, [], {"schedule": "tend_shop"}, {"schedule": 1}], ids=repr)
def test_an_event_that_names_no_schedule_of_its_function_fails(function: Any, event: Any) -> None:
    with pytest.raises(FunctionFailed, match=r"social_schedules: .*sweep_marks.*UnknownSchedule"):
        function("app.social_schedules").invoke(event)


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({}, "the event has no command"),
        ({"command": "drop_db"}, "there is no command 'drop_db'; the commands are init_db, .*"),
        ({"command": "init_db", "contracts": True}, "init_db: contracts is unknown"),
    ],
)
def test_a_command_with_a_fault_fails(function: Any, event: Any, told: str) -> None:
    with pytest.raises(FunctionFailed, match=rf"{told}.*InvalidCommand"):
        function("app.command").invoke(event)


def test_a_handler_that_is_not_there_is_noticed(function: Any) -> None:
    with pytest.raises(FunctionFailed):
        function("app.nobody").invoke({})
