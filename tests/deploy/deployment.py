"""The stack as CloudFormation makes it, in moto: its resources, and its functions running.

moto takes the template less the REST API, whose Swagger it cannot import, and less what its
CloudFormation does not know. Two things that CloudFormation and Lambda do and moto does not are
done here: a dynamic reference is resolved, and a mapping polls its queue.
"""

import ast
import base64
import contextlib
import io
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
from chalice.app import Chalice, SQSEventConfig

from local.lambda_runtime import DEADLINE_SECONDS, Function, lambda_function
from local.queues import Poller
from tests.deploy.sam import BUCKET, KEY

REGION = "us-east-1"
STACK = "plaza-prod"
NOT_IN_MOTO = frozenset(
    {
        *("AWS::ApiGateway::RestApi", "AWS::ApiGateway::Deployment", "AWS::ApiGateway::Stage"),
        *("AWS::ApiGateway::UsagePlan", "AWS::ApiGateway::Account"),
        *("AWS::WAFv2::WebACL", "AWS::WAFv2::WebACLAssociation", "AWS::SQS::QueuePolicy"),
        *("AWS::CloudWatch::Alarm", "AWS::Lambda::EventInvokeConfig"),
        *("AWS::CloudFront::Distribution", "AWS::CloudFront::CachePolicy"),
        *("AWS::CloudFront::OriginRequestPolicy", "AWS::S3::BucketPolicy"),
        *("AWS::SES::ConfigurationSet", "AWS::SES::ConfigurationSetEventDestination"),
        *("AWS::SNS::TopicPolicy", "AWS::SNS::Subscription"),
    }
)
# moto makes none of the alarms in one of them; cfn-lint reads them.
NESTED = "AWS::CloudFormation::Stack"
_REFERENCE = re.compile(
    r"{{resolve:secretsmanager:(?P<secret>[^:]+):SecretString:(?P<member>[^:]+)"
    r":(?P<stage>[^:]*):(?P<version>[^:]*)}}"
)


@contextlib.contextmanager
def moto(recording: Path) -> Iterator[str]:
    """Run AWS in a process of its own, where a call is written down; give its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        env={**os.environ, "MOTO_ENABLE_RECORDING": "1", "MOTO_RECORDER_FILEPATH": str(recording)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        assert process.poll() is None, "moto has ended"
        assert time.monotonic() < deadline, "moto does not answer"
        time.sleep(0.05)


def recorded_calls(recording: Path) -> set[tuple[str, str, str]]:
    """Return (key, action, queue) of every call to SQS."""
    calls = set()
    for entry in _entries(recording.read_text()):
        service, _, operation = entry["headers"].get("X-Amz-Target", "").partition(".")
        if service == "AmazonSQS":
            body = json.loads(base64.b64decode(entry["body"]))
            queue = body.get("QueueName") or body["QueueUrl"].rpartition("/")[2]
            key = entry["headers"]["Authorization"].partition("Credential=")[2].partition("/")[0]
            calls.add((key, f"sqs:{operation.removesuffix('Batch')}", queue))
    return calls


def _entries(text: str) -> Iterator[Any]:
    """Yield what moto recorded; requests at once may share a line."""
    text = text.replace("\n", "")
    decoder, end = json.JSONDecoder(), 0
    while end < len(text):
        entry, end = decoder.raw_decode(text, end)
        yield entry


def without_the_api(template: Any) -> dict[str, Any]:
    """Return a translated template less what moto cannot make, and what refers to it."""
    resources = {
        name: resource
        for name, resource in template["Resources"].items()
        if resource["Type"] not in {*NOT_IN_MOTO, NESTED}
    }
    gone = template["Resources"].keys() - resources.keys()

    def kept(part: dict[str, Any]) -> dict[str, Any]:
        return {name: each for name, each in part.items() if not _names(each) & gone}

    return {**template, "Resources": kept(resources), "Outputs": kept(template["Outputs"])}


def _names(part: Any) -> set[str]:
    """Return every name that a part of a template could refer to."""
    return set(re.findall(r"\w+", json.dumps(part)))


@dataclass
class Deployment:
    """A deployed stack."""

    endpoint: str
    package: Path
    runtime: Path
    stack: contextlib.ExitStack
    _functions: dict[str, Function] = field(default_factory=dict)

    def client(self, service: str, key: str = "test") -> Any:
        make: Any = boto3.client
        return make(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=key,
            aws_secret_access_key="test",
        )

    def deploy(self, template: dict[str, Any], secret: dict[str, str], **parameters: str) -> None:
        """Upload package and secret, and create the stack with these parameters."""
        s3 = self.client("s3")
        s3.create_bucket(Bucket=BUCKET)
        s3.upload_fileobj(io.BytesIO((self.package / KEY).read_bytes()), BUCKET, KEY)
        secrets = self.client("secretsmanager")
        made = secrets.create_secret(Name="plaza/prod", SecretString=json.dumps(secret))
        parameters["SecretVersion"] = made["VersionId"]
        # Of a resource that is not made, but that another names, moto keeps nothing to describe.
        parameters["MakeAssetBucket"] = "true"
        # Of a statement that is left out, moto makes an empty one.
        parameters["MailFrom"] = "plaza@plaza.example"
        s3.put_object(Bucket=BUCKET, Key="template.json", Body=json.dumps(template))
        self.client("cloudformation").create_stack(
            StackName=STACK,
            # A template of this size comes from S3.
            TemplateURL=f"https://s3.amazonaws.com/{BUCKET}/template.json",
            Parameters=[
                {"ParameterKey": name, "ParameterValue": value}
                for name, value in parameters.items()
            ],
            Capabilities=["CAPABILITY_IAM"],
        )
        for mapping in self.mappings():
            # moto would call the function in a container as soon as a message comes.
            switch = self.client("lambda").update_event_source_mapping
            switch(UUID=mapping["UUID"], FunctionName=mapping["FunctionArn"], Enabled=False)

    def resource(self, logical_id: str) -> str:
        """Return a resource's own name."""
        details = self.client("cloudformation").describe_stack_resource(
            StackName=STACK, LogicalResourceId=logical_id
        )
        return str(details["StackResourceDetail"]["PhysicalResourceId"])

    def configuration(self, logical_id: str) -> Any:
        name = self.resource(logical_id)
        return self.client("lambda").get_function_configuration(FunctionName=name)

    def statements(self, logical_id: str) -> list[Any]:
        """Return what the policies of a function's own role allow; moto knows of no others."""
        iam = self.client("iam")
        role = self.configuration(logical_id)["Role"].rpartition("/")[2]
        names = iam.list_role_policies(RoleName=role)["PolicyNames"]
        documents = [
            iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"] for name in names
        ]
        # moto keeps a template's policy as Python would spell it.
        policies = [ast.literal_eval(document) for document in documents]
        return [each for policy in policies for each in policy["Statement"]]

    def mappings(self) -> list[Any]:
        found: list[Any] = self.client("lambda").list_event_source_mappings()["EventSourceMappings"]
        return found

    def environment(self, logical_id: str) -> dict[str, str]:
        """Return a deployed function's variables, as CloudFormation resolves them."""
        variables = self.configuration(logical_id)["Environment"]["Variables"]
        return {name: _REFERENCE.sub(self._secret, value) for name, value in variables.items()}

    def _secret(self, reference: re.Match[str]) -> str:
        version = {"VersionId": reference["version"]} if reference["version"] else {}
        secrets = self.client("secretsmanager")
        answer = secrets.get_secret_value(SecretId=reference["secret"], **version)
        return str(json.loads(answer["SecretString"])[reference["member"]])

    def function(self, logical_id: str) -> Function:
        """Return a deployed function, running under Lambda's own runtime client.

        Its calls to AWS go to moto, signed with its logical id in the place of a key.
        """
        if logical_id not in self._functions:
            environment = {
                "AWS_ENDPOINT_URL": self.endpoint,
                "AWS_ACCESS_KEY_ID": logical_id,
                **self.environment(logical_id),
            }
            given = self.configuration(logical_id)
            running = lambda_function(
                self.package / "content",
                self.runtime,
                given["Handler"],
                given["Timeout"],
                **environment,
            )
            self._functions[logical_id] = self.stack.enter_context(running)
        return self._functions[logical_id]

    def poller(self, logical_id: str) -> Poller:
        """Return what polls a worker's queue, as its deployed mapping says."""
        arn = self.configuration(logical_id)["FunctionArn"]
        (mapping,) = (each for each in self.mappings() if each["FunctionArn"] == arn)
        source = SQSEventConfig(
            name=logical_id,
            handler_string=self.configuration(logical_id)["Handler"],
            queue=mapping["EventSourceArn"].rpartition(":")[2],
            queue_arn=None,
            batch_size=mapping["BatchSize"],
            maximum_batching_window_in_seconds=mapping["MaximumBatchingWindowInSeconds"],
            maximum_concurrency=None,
        )
        app = Chalice("deployed", configure_logs=False)
        app.handler_map[logical_id] = self._called(logical_id, mapping)
        return Poller(app, self.client("sqs", key=f"{logical_id}-mapping"), source)

    def _called(self, logical_id: str, mapping: Any) -> Callable[[Any, object], Any]:
        reports = "ReportBatchItemFailures" in mapping.get("FunctionResponseTypes", [])

        def call(event: Any, _context: object) -> Any:
            answer = self.function(logical_id).invoke(event)
            # What a function answers has no meaning under a mapping without this.
            return answer if reports else None

        return call
