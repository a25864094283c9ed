"""The template deployed by CloudFormation: its queues drive its functions, and nothing is lost."""

import contextlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from pymongo import MongoClient

from app import app as declared_app
from chalicelib.comments import nodes
from chalicelib.database import Document, open_database
from chalicelib.messaging import MAX_RECEIVES
from deploy.declared import Api, Scheduled, Worker, declared_functions, visibility_timeout_seconds
from deploy.functions import rate
from local.lambda_runtime import link_runtime
from tests.deploy.deployment import (
    NOT_IN_MOTO,
    Deployment,
    moto,
    recorded_calls,
    without_the_api,
)
from tests.deploy.sam import translated
from tests.deploy.test_lambda import GOOD_MESSAGES, http_event
from tests.webhooks.support.receiver import running

pytestmark = pytest.mark.processes

DATABASE = "plaza"
SECRET = "a secret of the deployment long enough for HS256"
FUNCTIONS = declared_functions(declared_app, "prod")
WORKERS = [each for each in FUNCTIONS if isinstance(each, Worker)]
SCHEDULED = [each for each in FUNCTIONS if isinstance(each, Scheduled)]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("moto") / "calls"


@pytest.fixture(scope="module")
def deployment(
    package: Path,
    recording: Path,
    mongodb_uri: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Deployment]:
    """The stack of prod, deployed, with its database made."""
    runtime = tmp_path_factory.mktemp("runtime")
    link_runtime(runtime)
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        sam = json.loads((package / "sam.json").read_text())
        deployed = Deployment(stack.enter_context(moto(recording)), package, runtime, stack)
        deployed.deploy(
            without_the_api(translated(sam)),
            {"mongodb_uri": mongodb_uri, "jwt_secret": SECRET, "signing_keys": SECRET},
            FanOutConcurrency="7",
            # Of this machine, as the receiver of webhooks is.
            PublicUrl="http://127.0.0.1:8000",
        )
        with MongoClient[Document](mongodb_uri) as client:
            client.drop_database(DATABASE)
            deployed.function("Command").invoke({"command": "init_db"})
            nodes.insert(open_database(client, DATABASE), nodes.new_node("settled"))
            yield deployed
            client.drop_database(DATABASE)


def call(deployment: Deployment, user: str, method: str, path: str, body: Any = None) -> Any:
    """Call the deployed API's function as API Gateway would; return the answer's JSON."""
    expiry = datetime.now(UTC) + timedelta(hours=1)
    roles = ["admin"] if user == "root" else []
    token = jwt.encode({"sub": user, "exp": expiry, "roles": roles}, SECRET, "HS256")
    event = http_event(method, path)
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    event["headers"] |= headers
    event["multiValueHeaders"] = {name: [value] for name, value in event["headers"].items()}
    event["body"] = None if body is None else json.dumps(body)
    answer = deployment.function("APIHandler").invoke(event)
    assert answer["statusCode"] < 300, answer
    return json.loads(answer["body"] or "null")


def counts(deployment: Deployment, queue: str) -> tuple[int, int]:
    """Return how many messages of a queue wait, and how many are with a worker."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    sqs = deployment.client("sqs")
    attributes = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
    return int(attributes[names[0]]), int(attributes[names[1]])


def test_moto_still_cannot_make_what_is_left_out() -> None:
    from moto.cloudformation.parsing import get_model_map

    known = get_model_map().keys() - {"AWS::ApiGateway::RestApi", "AWS::ApiGateway::Deployment"}
    assert not known & NOT_IN_MOTO


def test_the_stack_has_every_function_of_the_app(deployment: Deployment) -> None:
    for function in FUNCTIONS:
        configuration = deployment.configuration(function.resource)
        handler = "app.app" if isinstance(function, Api) else f"app.{function.name}"
        assert configuration["Handler"] == handler
        assert configuration["Timeout"] == function.timeout_seconds


@pytest.mark.parametrize("worker", WORKERS, ids=lambda each: each.name)
def test_each_worker_is_mapped_to_its_queue(deployment: Deployment, worker: Worker) -> None:
    queue = deployment.resource(f"{worker.resource}Queue")
    dead = deployment.resource(f"{worker.resource}DeadLetters")
    sqs = deployment.client("sqs")
    attributes = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["All"])["Attributes"]
    dead_arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])
    function = deployment.configuration(worker.resource)
    (mapping,) = (
        each for each in deployment.mappings() if each["FunctionArn"] == function["FunctionArn"]
    )

    assert mapping["EventSourceArn"] == attributes["QueueArn"]
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["ScalingConfig"]["MaximumConcurrency"] == (7 if worker.name == "fan_out" else 10)
    assert int(attributes["VisibilityTimeout"]) == visibility_timeout_seconds(worker.source, "prod")
    assert json.loads(attributes["RedrivePolicy"]) == {
        "deadLetterTargetArn": dead_arn["Attributes"]["QueueArn"],
        "maxReceiveCount": MAX_RECEIVES,
    }
    assert attributes["SqsManagedSseEnabled"] == "true"


@pytest.mark.parametrize("function", SCHEDULED, ids=lambda each: each.name)
def test_each_schedule_has_a_rule_that_names_it(
    deployment: Deployment, function: Scheduled
) -> None:
    events = deployment.client("events")
    arn = deployment.configuration(function.resource)["FunctionArn"]
    rules = events.list_rule_names_by_target(TargetArn=arn)["RuleNames"]
    rates = {}
    for rule in rules:
        (target,) = events.list_targets_by_rule(Rule=rule)["Targets"]
        expression = events.describe_rule(Name=rule)["ScheduleExpression"]
        rates[json.loads(target["Input"])["schedule"]] = expression
        answer = deployment.function(function.resource).invoke(json.loads(target["Input"]))
        assert answer is None or all(isinstance(count, int) for count in answer.values())

    assert rates == {each.name: rate(each.every) for each in function.schedules}


@pytest.mark.parametrize("worker", WORKERS, ids=lambda each: each.name)
def test_a_message_in_a_deployed_queue_is_handled_by_its_function(
    deployment: Deployment, worker: Worker
) -> None:
    message = GOOD_MESSAGES[worker.name]
    # The queue is found as the functions find it: by the prefix in their environment.
    prefix = deployment.environment("APIHandler")["PLAZA_QUEUE_PREFIX"]
    sqs = deployment.client("sqs")
    queue = sqs.get_queue_url(QueueName=prefix + message.queue)["QueueUrl"]
    sqs.send_message(QueueUrl=queue, MessageBody=message.model_dump_json())

    assert deployment.poller(worker.resource).poll_once() == 1
    assert counts(deployment, queue) == (0, 0)


def test_a_post_reaches_its_reader_through_the_deployed_queues(deployment: Deployment) -> None:
    for user in ("ann", "bob"):
        call(deployment, user, "PUT", "/users/me", {})
    for author, reader in (("ann", "bob"), ("bob", "ann")):
        call(deployment, author, "PUT", "/users/me/circles/friends", {"name": "Friends"})
        members = "/users/me/circles/friends/members"
        call(deployment, author, "PUT", f"{members}/{reader}")
    post = {"type": "status", "detail": {"text": "Tasting on Friday."}, "circles": ["friends"]}
    published = call(deployment, "ann", "POST", "/posts", post)
    fan_out = deployment.poller("FanOut")

    while fan_out.poll_once():
        pass

    news = call(deployment, "bob", "GET", "/users/me/news")
    assert [each["id"] for each in news["posts"]] == [published["id"]]


def test_an_event_reaches_its_receiver_signed_by_the_deployed_worker(
    deployment: Deployment,
) -> None:
    """The worker opens the secret that the API has sealed, with the variables of its own."""
    with running() as receiver:
        wanted = {"url": receiver.url, "kinds": ["comment.created"]}
        hook = call(deployment, "root", "POST", "/sites/default/webhooks", wanted)
        trials = f"/sites/default/webhooks/{hook['id']}/trials"
        call(deployment, "root", "POST", trials)

        assert deployment.poller("SendWebhooks").poll_once() == 1

    (received,) = receiver.calls
    assert received.is_signed_with(hook["secret"])


def test_a_poison_message_ends_among_the_dead_letters_and_takes_no_other_along(
    deployment: Deployment,
) -> None:
    queue = deployment.resource("FanOutQueue")
    dead = deployment.resource("FanOutDeadLetters")
    sqs = deployment.client("sqs")
    # Six minutes pass at once.
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": "0"})
    for body in ("poison", GOOD_MESSAGES["fan_out"].model_dump_json()):
        sqs.send_message(QueueUrl=queue, MessageBody=body)
    fan_out = deployment.poller("FanOut")

    received = [fan_out.poll_once() for _ in range(MAX_RECEIVES + 1)]

    assert received == [2, *[1] * (MAX_RECEIVES - 1), 0]
    assert counts(deployment, queue) == (0, 0)
    (letter,) = sqs.receive_message(QueueUrl=dead)["Messages"]
    assert letter["Body"] == "poison"


def allowed(statements: list[Any]) -> set[tuple[str, str]]:
    """Return (action, resource) of everything that statements allow."""
    return {
        (action, resource)
        for statement in statements
        for action in as_list(statement["Action"])
        for resource in as_list(statement["Resource"])
    }


def as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


_QUEUES = r"arn:aws:sqs:us-east-1:\d+:plaza-prod-[a-z-]+"
_SES = (
    r"arn:aws:ses:us-east-1:\d+:(identity/(plaza@)?plaza\.example|configuration-set/plaza-prod-.+)"
)
_BUCKET = r"arn:aws:s3:::plaza-prod-assetbucket-[a-z0-9]+(/\*)?"


@pytest.mark.parametrize("name", [each.resource for each in FUNCTIONS])
def test_a_policy_names_its_actions_and_resources(deployment: Deployment, name: str) -> None:
    log_group = deployment.resource(f"{name}Log")

    for action, resource in allowed(deployment.statements(name)):
        assert "*" not in action
        if action.startswith("xray:"):
            assert resource == "*"
        elif action.startswith("logs:"):
            assert resource.removesuffix(":*").endswith(f":log-group:{log_group}")
        else:
            assert re.fullmatch(rf"{_QUEUES}|{_BUCKET}|{_SES}", resource)


def test_a_worker_reads_its_own_queue_alone(deployment: Deployment) -> None:
    for function in FUNCTIONS:
        read = {
            resource.rpartition(":")[2]
            for action, resource in allowed(deployment.statements(function.resource))
            if action in {"sqs:ReceiveMessage", "sqs:DeleteMessage"}
        }
        queues = set()
        if isinstance(function, Worker):
            queues = {deployment.resource(f"{function.resource}Queue").rpartition("/")[2]}
        assert read == queues


def test_what_the_functions_did_here_is_what_their_policies_allow(
    deployment: Deployment, recording: Path
) -> None:
    """The last test of this file: it judges what the others made the functions do."""
    calls = {each for each in recorded_calls(recording) if each[0] != "test"}

    assert {("APIHandler", "sqs:SendMessage"), ("FanOut-mapping", "sqs:ReceiveMessage")} <= {
        (key, action) for key, action, _ in calls
    }
    for key, action, queue in calls:
        name, _, mapping = key.partition("-")
        if mapping and action == "sqs:GetQueueUrl":
            # Lambda itself knows a queue by its ARN.
            continue
        own = {(each, arn.rpartition(":")[2]) for each, arn in allowed(deployment.statements(name))}
        assert (action, queue) in own, f"{name} may not {action} on {queue}"
