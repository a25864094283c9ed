"""What a deployment may choose: a network, a key, concurrency of its own."""

import contextlib
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app import app as declared_app
from deploy.declared import Api, Command, Scheduled, Worker, declared_functions
from tests.deploy.deployment import Deployment, moto, without_the_api
from tests.deploy.sam import translated

pytestmark = pytest.mark.processes

KEY_ARN = "arn:aws:kms:us-east-1:123456789012:key/plaza"
FUNCTIONS = declared_functions(declared_app, "prod")


@pytest.fixture(scope="module")
def deployment(
    package: Path, template: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """A stack in a VPC, with a key of its own, that reserves concurrency."""
    folder = tmp_path_factory.mktemp("options")
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        endpoint = stack.enter_context(moto(folder / "calls"))
        deployed = Deployment(endpoint, package, folder, stack)
        ec2 = deployed.client("ec2")
        subnets = [each["SubnetId"] for each in ec2.describe_subnets()["Subnets"]]
        (group, *_) = ec2.describe_security_groups()["SecurityGroups"]
        deployed.deploy(
            without_the_api(translated(copy.deepcopy(template))),
            {"mongodb_uri": "mongodb://db.example/"},
            SubnetIds=",".join(subnets[:2]),
            SecurityGroupIds=group["GroupId"],
            KmsKeyArn=KEY_ARN,
            ReserveConcurrency="true",
            ApiConcurrency="50",
            ApiMemoryMegabytes="1769",
            PublicUrl="https://plaza.example/api",
        )
        yield deployed


def test_every_function_is_in_the_subnets(deployment: Deployment) -> None:
    for function in FUNCTIONS:
        network = deployment.configuration(function.resource)["VpcConfig"]
        assert len(network["SubnetIds"]) == 2
        assert len(network["SecurityGroupIds"]) == 1


def test_every_queue_is_encrypted_with_the_key_and_every_function_may_use_it(
    deployment: Deployment,
) -> None:
    sqs = deployment.client("sqs")
    for function in FUNCTIONS:
        assert {
            "Effect": "Allow",
            "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
            "Resource": KEY_ARN,
        } in deployment.statements(function.resource)
        if isinstance(function, Worker):
            for name in ("Queue", "DeadLetters"):
                queue = deployment.resource(f"{function.resource}{name}")
                asked = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["All"])
                assert asked["Attributes"]["KmsMasterKeyId"] == KEY_ARN


def test_each_function_reserves_what_it_may_need(deployment: Deployment) -> None:
    asked = deployment.client("lambda").get_function_concurrency
    for function in FUNCTIONS:
        name = deployment.resource(function.resource)
        reserved = asked(FunctionName=name).get("ReservedConcurrentExecutions")
        match function:
            case Api():
                assert reserved == 50
            case Worker():
                assert reserved == 10
            case Scheduled(name="analytics_schedules"):
                # Three runs of five minutes within 15 minutes, and another job's.
                assert reserved == 4
            case Scheduled():
                assert reserved == len(function.schedules)
            case Command():
                assert reserved is None


def test_the_api_alone_has_the_memory_that_is_chosen(deployment: Deployment) -> None:
    for function in FUNCTIONS:
        memory = deployment.configuration(function.resource)["MemorySize"]
        assert memory == (1_769 if isinstance(function, Api) else 512)


def test_a_parameter_becomes_a_variable(deployment: Deployment) -> None:
    environment = deployment.environment("CountAdEvents")

    assert environment["PLAZA_PUBLIC_URL"] == "https://plaza.example/api"
    assert environment["PLAZA_JWT_ISSUER"] == ""
    assert environment["PLAZA_MONGODB_URI"] == "mongodb://db.example/"
    assert "PLAZA_SIGNING_KEYS" not in environment
