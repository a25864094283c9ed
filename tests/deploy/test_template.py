"""The template that deploys the package: its contents, and its names, which are the app's."""

import copy
import json
import re
import subprocess
import sys
import zipfile
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from app import app as declared_app
from chalicelib.messaging import MAX_RECEIVES
from chalicelib.settings import Settings
from deploy.declared import (
    CONFIG,
    Api,
    Command,
    Function,
    Scheduled,
    Worker,
    declared_functions,
)
from deploy.functions import rate
from deploy.mail import CONFIGURATION_SET_NAME
from deploy.parameters import SETTINGS
from deploy.permissions import SENDS
from deploy.queues import MAIL_QUEUE
from deploy.template import ALARMS, DASHBOARD
from tests.deploy.conftest import make_package
from tests.deploy.sam import translated
from tests.deploy.support.reading import attribute_of, deployed_with, properties

pytestmark = pytest.mark.processes

FUNCTIONS = declared_functions(declared_app, "prod")
WORKERS = [each for each in FUNCTIONS if isinstance(each, Worker)]
SCHEDULED = [each for each in FUNCTIONS if isinstance(each, Scheduled)]
PREFIX = CONFIG["stages"]["prod"]["environment_variables"]["PLAZA_QUEUE_PREFIX"]
NOTHING = {"Ref": "AWS::NoValue"}


@cache
def findings(template: str) -> str:
    """Return what cfn-lint finds in a template, which takes a quarter of a minute; else nothing."""
    linter = Path(sys.executable).with_name("cfn-lint")
    done = subprocess.run([linter], input=template, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not done.stdout), done.stderr
    return done.stdout


def plain_text(stage: str, template: Any) -> str:
    """Return a template as CloudFormation makes it, its stage's names written as those of prod.

    So a stage that differs in its names alone is not linted again: prod's are the longer ones.
    """
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        text = json.dumps(translated(copy.deepcopy(template)), sort_keys=True)
    own, prod = (CONFIG["stages"][each]["environment_variables"] for each in (stage, "prod"))
    for name in own.keys() & prod.keys():
        text = text.replace(own[name], prod[name])
    return text.replace(f"stage={stage}", "stage=prod").replace(f"plaza/{stage}", "plaza/prod")


@pytest.mark.parametrize("stage", CONFIG["stages"])
def test_each_stage_passes_cfn_lint(stage: str, template: Any, tmp_path: Path) -> None:
    if stage != "prod":
        make_package(stage, tmp_path)
        template = json.loads((tmp_path / "sam.json").read_text())

    assert findings(plain_text(stage, template)) == ""


def test_cloudformation_takes_what_it_makes_of_the_template(template: Any) -> None:
    assert findings(plain_text("prod", template)) == ""


@pytest.mark.parametrize("file", [ALARMS, DASHBOARD])
def test_cloudformation_takes_each_nested_stack(file: str, nested: Any) -> None:
    assert findings(json.dumps(nested[file])) == ""


@pytest.mark.parametrize(("stack", "file"), [("AlarmStack", ALARMS), ("DashboardStack", DASHBOARD)])
def test_a_nested_stack_is_given_each_of_its_parameters(
    template: Any, nested: Any, stack: str, file: str
) -> None:
    """Each is a parameter of the main stack, or a resource's name; the translator makes rules."""
    given = properties(template, stack)
    known = {*template["Parameters"], *translated_resources(template), "AWS::StackName"}

    assert given["TemplateURL"] == file
    assert given["Parameters"].keys() == nested[file]["Parameters"].keys()
    for value in given["Parameters"].values():
        assert (value.get("Ref") or value["Fn::GetAtt"][0]) in known
    names = re.findall(r'"(?:Ref|Condition)": "(\w+)"|\${(\w+)}', json.dumps(nested[file]))
    for name in {first or second for first, second in names}:
        assert name in {*nested[file]["Parameters"], *nested[file]["Conditions"]}, name


def test_a_nested_stack_takes_numbers_where_the_main_stack_does(nested: Any) -> None:
    kinds = {name: each["Type"] for name, each in nested[ALARMS]["Parameters"].items()}

    assert kinds.pop("ApiSlowMilliseconds") == kinds.pop("OldestMessageSeconds") == "Number"
    assert set(kinds.values()) == {"String"}


def test_no_name_of_a_nested_stack_is_one_of_release_0_3_0(template: Any, nested: Any) -> None:
    """CloudFormation makes what is new before it deletes what is gone, and refuses a second name.

    An alarm's name was the stack's, a hyphen and its own; the dashboard's was the stack's.
    """
    alarms = nested[ALARMS]["Resources"].values()
    (dashboard,) = nested[DASHBOARD]["Resources"].values()

    for alarm in alarms:
        name = alarm["Properties"]["AlarmName"]["Fn::Sub"]
        assert not name.startswith("${Deployment}-")
    assert dashboard["Properties"]["DashboardName"] == {"Fn::Sub": "${Deployment}-overview"}
    # A resource of this name was of another type, which no update changes.
    assert "Dashboard" not in template["Resources"]
    assert not [name for name in template["Resources"] if name.startswith("AlarmApi")]


def test_what_callers_depend_on_stays_in_the_main_stack(template: Any) -> None:
    """A moved one would be made anew: another address, messages left behind, no web ACL."""
    kinds = {each["Type"] for each in template["Resources"].values()}

    assert {"AWS::CloudFront::Distribution", "AWS::WAFv2::WebACLAssociation"} <= kinds
    assert {"AWS::SQS::Queue", "AWS::S3::Bucket", "AWS::Logs::LogGroup"} <= kinds


def translated_resources(template: Any) -> dict[str, Any]:
    """Return the resources that CloudFormation makes of a template."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        resources: dict[str, Any] = translated(copy.deepcopy(template))["Resources"]
    return resources


def test_the_linter_finds_a_fault(template: Any) -> None:
    queue = copy.deepcopy(template["Resources"]["FanOutQueue"])
    queue["Properties"] = {"RedrivePolicy": {"deadLetterTargetArn": attribute_of("Nobody")}}

    assert "Nobody" in findings(json.dumps({"Resources": {"Queue": queue}}))


def test_the_functions_are_those_of_the_app(template: Any) -> None:
    import app as module

    deployed = {
        name: resource["Properties"]["Handler"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::Serverless::Function"
    }

    assert deployed == {
        each.resource: "app.app" if isinstance(each, Api) else f"app.{each.name}"
        for each in FUNCTIONS
    }
    for handler in deployed.values():
        assert callable(getattr(module, handler.removeprefix("app.")))


def test_the_names_that_are_written_down_are_those_of_the_app() -> None:
    names = {each.name for each in FUNCTIONS}
    queues = {str(each.source.queue) for each in WORKERS}

    for stage in CONFIG["stages"].values():
        assert stage["lambda_functions"].keys() <= names
    assert SENDS.keys() <= names
    own_prefix = declared_app_prefix()
    for messages in SENDS.values():
        for message in messages:
            assert own_prefix + message.queue in queues
    assert SETTINGS.keys() <= Settings.model_fields.keys()


def declared_app_prefix() -> str:
    """Return the prefix of the queues of the app that this process has imported."""
    return str(Settings.from_environment({}).queue_prefix)


@pytest.mark.parametrize("worker", WORKERS, ids=lambda each: each.name)
def test_each_queue_has_dead_letters_and_time_enough(template: Any, worker: Worker) -> None:
    queue = properties(template, f"{worker.resource}Queue")
    dead = properties(template, f"{worker.resource}DeadLetters")

    assert queue["QueueName"].startswith(PREFIX)
    assert queue["VisibilityTimeout"] == 6 * properties(template, worker.resource)["Timeout"]
    assert queue["RedrivePolicy"] == {
        "maxReceiveCount": MAX_RECEIVES,
        "deadLetterTargetArn": attribute_of(f"{worker.resource}DeadLetters"),
    }
    assert dead["QueueName"] == f"{queue['QueueName']}-dead"
    # In seconds: two weeks, the longest that SQS offers.
    assert queue["MessageRetentionPeriod"] == dead["MessageRetentionPeriod"] == 1_209_600
    for name in ("Queue", "DeadLetters"):
        resource = template["Resources"][f"{worker.resource}{name}"]
        assert resource["UpdateReplacePolicy"] == "Retain"
        assert resource["DeletionPolicy"] == "RetainExceptOnCreate"


@pytest.mark.parametrize("worker", WORKERS, ids=lambda each: each.name)
def test_each_queue_is_encrypted_with_our_key_or_else_with_sqs_own(
    template: Any, worker: Worker
) -> None:
    for name in ("Queue", "DeadLetters"):
        queue = properties(template, f"{worker.resource}{name}")
        nothing = {"Ref": "AWS::NoValue"}
        assert queue["KmsMasterKeyId"] == {"Fn::If": ["HasKey", {"Ref": "KmsKeyArn"}, nothing]}
        assert queue["SqsManagedSseEnabled"] == {"Fn::If": ["HasKey", nothing, True]}


@pytest.mark.parametrize("worker", WORKERS, ids=lambda each: each.name)
def test_each_mapping_reports_failures_by_message_and_is_bounded(
    template: Any, worker: Worker
) -> None:
    """A handler that names its failures under a mapping without this loses messages."""
    function = template["Resources"][worker.resource]
    (mapping,) = (each["Properties"] for each in function["Properties"]["Events"].values())
    queue = properties(template, f"{worker.resource}Queue")["QueueName"]
    concurrency = f"{worker.resource}Concurrency"

    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BatchSize"] == worker.source.batch_size
    assert mapping["Queue"]["Fn::Sub"].endswith(f":{queue}")
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": {"Ref": concurrency}}
    assert 2 <= template["Parameters"][concurrency]["Default"] <= 1_000
    assert function["DependsOn"] == [f"{worker.resource}Queue"]


@pytest.mark.parametrize("scheduled", SCHEDULED, ids=lambda each: each.name)
def test_each_schedule_is_in_the_template_and_does_not_pile_up(
    template: Any, scheduled: Scheduled
) -> None:
    function = properties(template, scheduled.resource)
    events = [each["Properties"] for each in function["Events"].values()]
    most_frequent = min(each.every for each in scheduled.schedules)

    assert [(json.loads(each["Input"]), each["Schedule"]) for each in events] == [
        ({"schedule": each.name}, rate(each.every)) for each in scheduled.schedules
    ]
    assert function["EventInvokeConfig"] == {
        "DestinationConfig": {
            "OnFailure": {"Type": "SQS", "Destination": attribute_of("FailedSchedules")}
        },
        "MaximumRetryAttempts": 0,
        "MaximumEventAgeInSeconds": most_frequent.total_seconds(),
    }


@pytest.mark.parametrize(
    ("every", "expression"),
    [
        (timedelta(minutes=1), "rate(1 minute)"),
        (timedelta(minutes=2), "rate(2 minutes)"),
        (timedelta(hours=1), "rate(60 minutes)"),
    ],
)
def test_a_rate_is_in_minutes(every: timedelta, expression: str) -> None:
    assert rate(every) == expression


@pytest.mark.parametrize("every", [timedelta(0), timedelta(seconds=59), timedelta(seconds=90)])
def test_a_rate_that_eventbridge_does_not_know_is_refused(every: timedelta) -> None:
    with pytest.raises(ValueError, match="whole number of minutes"):
        rate(every)


@pytest.mark.parametrize("scheduled", SCHEDULED, ids=lambda each: each.name)
def test_no_run_of_a_schedule_waits_for_another(template: Any, scheduled: Scheduled) -> None:
    """As many as begin at every rate before the time-out of the first one."""
    timeout = properties(template, scheduled.resource)["Timeout"]
    begun = sum(
        len(range(0, timeout, round(each.every.total_seconds()))) for each in scheduled.schedules
    )
    reserved = properties(template, scheduled.resource)["ReservedConcurrentExecutions"]

    assert reserved == {"Fn::If": ["Reserves", begun, NOTHING]}


@pytest.mark.parametrize("name", [each.resource for each in FUNCTIONS])
def test_each_function_is_traced_and_logs_where_lines_expire(template: Any, name: str) -> None:
    function = properties(template, name)
    log_group = function["LoggingConfig"]["LogGroup"]["Ref"]

    assert function["Tracing"] == "Active"
    assert properties(template, log_group)["RetentionInDays"] == {"Ref": "LogRetentionDays"}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.name)
def test_each_function_joins_a_vpc_and_may_do_so_only_where_subnets_are_named(
    template: Any, function: Function
) -> None:
    network = properties(template, function.resource)["VpcConfig"]["Fn::If"]
    (condition, (policy,), otherwise) = properties(template, function.role)["ManagedPolicyArns"][
        "Fn::If"
    ]

    assert network[0] == condition == "InVpc"
    assert policy["Fn::Sub"].endswith(":iam::aws:policy/service-role/AWSLambdaENIManagementAccess")
    assert network[2] == otherwise == {"Ref": "AWS::NoValue"}


def test_what_is_reserved_is_what_the_parameters_say(template: Any) -> None:
    reserved = {
        each.name: properties(template, each.resource)["ReservedConcurrentExecutions"]
        for each in FUNCTIONS
    }

    assert template["Parameters"]["ReserveConcurrency"]["Default"] == "false"
    for function in FUNCTIONS:
        if isinstance(function, Command):
            assert reserved[function.name] == {"Ref": "AWS::NoValue"}
        else:
            assert reserved[function.name]["Fn::If"][0] == "Reserves"


def test_each_parameter_is_described_and_has_a_default(template: Any) -> None:
    for name, parameter in template["Parameters"].items():
        assert parameter["Description"], name
        assert "Default" in parameter, name


# Long ones: of a cluster with three hosts, and of keys and tokens as the docs make them.
SECRET_CHARACTERS = {
    "mongodb_uri": 250,
    "jwt_secret": 64,
    "signing_keys": 89,
    "stripe_key": 107,
    "stripe_webhook_secrets": 77,
    "akismet_key": 12,
    "vapid_private_key": 43,
}


OTHER_CHARACTERS = {"AWS::NoValue": 0, "AssetBucket": 63}
LONGEST_SITE_CHARACTERS = 64
# SES takes no longer name.
MOST_OF_A_CONFIGURATION_SET = 64
STACK_CHARACTERS = 36


def most_characters(template: Any, value: Any) -> int:
    """Return the length of a variable's longest value."""
    match value:
        case str():
            most = len(value)
        case {"Ref": str(name)} if name in OTHER_CHARACTERS:
            most = OTHER_CHARACTERS[name]
        case {"Ref": str(name)}:
            parameter = template["Parameters"][name]
            most = parameter.get("MaxLength") or max(map(len, parameter["AllowedValues"]))
        case {"Fn::If": [_, *choices]}:
            most = max(most_characters(template, each) for each in choices)
        case {"Fn::Sub": text} if text == CONFIGURATION_SET_NAME:
            most = MOST_OF_A_CONFIGURATION_SET
        case {"Fn::Sub": str(text)}:
            most = SECRET_CHARACTERS[text.split(":SecretString:")[1].split(":")[0]]
        case _:
            assert "AWS::StackId" in str(value)
            most = STACK_CHARACTERS
    return most


def test_the_longest_settings_fit_into_each_functions_environment(template: Any) -> None:
    """Or a deployment would fail after it has changed other resources."""
    shared = template["Globals"]["Function"]["Environment"]["Variables"]
    for function in FUNCTIONS:
        own = properties(template, function.resource)["Environment"]["Variables"]
        sizes = [
            len(name) + most_characters(template, value)
            for name, value in {**shared, **own}.items()
        ]

        assert sum(sizes) < 4_096, function.name


@pytest.mark.parametrize("name", ["ImageSites", "OpenNodes", "StripeSites"])
def test_a_list_of_sites_takes_the_longest_site(template: Any, name: str) -> None:
    assert template["Parameters"][name]["MaxLength"] >= LONGEST_SITE_CHARACTERS


def test_a_function_takes_the_longest_name_of_a_database(template: Any) -> None:
    longest = "d" * template["Parameters"]["Database"]["MaxLength"]
    pattern = Settings.model_json_schema()["properties"]["database"]["pattern"]

    assert re.fullmatch(pattern, longest)


def processors(out: Path) -> tuple[set[str], set[int]]:
    """Return the processors of a package's functions, and of its libraries (ELF's `e_machine`)."""
    resources = json.loads((out / "sam.json").read_text())["Resources"].values()
    functions = [each for each in resources if each["Type"] == "AWS::Serverless::Function"]
    with zipfile.ZipFile(out / "deployment.zip") as archive:
        libraries = [archive.read(each) for each in archive.namelist() if ".so" in each]
    (named,) = {tuple(each["Properties"]["Architectures"]) for each in functions}
    return set(named), {int.from_bytes(each[18:20], "little") for each in libraries}


def test_the_functions_run_on_the_processor_of_their_package(package: Path, tmp_path: Path) -> None:
    make_package("prod", tmp_path, "--architecture=arm64")

    assert processors(package) == ({"x86_64"}, {62})
    assert processors(tmp_path) == ({"arm64"}, {183})


def test_each_secret_is_a_reference_and_the_apis_are_the_apis_alone(template: Any) -> None:
    shared = template["Globals"]["Function"]["Environment"]["Variables"]
    own = properties(template, "APIHandler")["Environment"]["Variables"]
    secrets = [shared["PLAZA_MONGODB_URI"], own["PLAZA_JWT_SECRET"], own["PLAZA_SIGNING_KEYS"]]

    for secret in secrets:
        assert secret["Fn::Sub"].startswith("{{resolve:secretsmanager:${SecretName}:")
        assert secret["Fn::Sub"].endswith("::${SecretVersion}}}")
    text = json.dumps(template)
    own = {
        name
        for name, each in template["Resources"].items()
        if "PLAZA_SUBJECT_KEY" in json.dumps(each)
    }
    # Imports and tokens make ids of people by the same key.
    assert own == {"APIHandler", "MoveNodes"}
    # Imports hash addresses by them, too, as do letters of notifications, a guest's claim and an
    # erasure; the worker of webhooks opens the hooks' secrets.
    assert (text.count("PLAZA_JWT_SECRET"), text.count("PLAZA_SIGNING_KEYS")) == (1, 5)


def test_every_log_group_expires_and_is_encrypted_with_our_key_where_there_is_one(
    template: Any,
) -> None:
    groups = [each for each in template["Resources"].values() if each["Type"].endswith("LogGroup")]

    assert len(groups) == len(FUNCTIONS) + 1
    for group in groups:
        assert group["Properties"]["RetentionInDays"] == {"Ref": "LogRetentionDays"}
        key = {"Fn::If": ["HasKey", {"Ref": "KmsKeyArn"}, NOTHING]}
        assert group["Properties"]["KmsKeyId"] == key


def test_no_queue_is_reached_without_tls(template: Any) -> None:
    resources = template["Resources"]
    queues = {name for name, each in resources.items() if each["Type"] == "AWS::SQS::Queue"}

    assert len(queues) == 2 * len(WORKERS) + 1
    for queue in queues:
        policy = resources[f"{queue}Policy"]["Properties"]
        statement, *further = policy["PolicyDocument"]["Statement"]
        assert policy["Queues"] == [{"Ref": queue}]
        assert bool(further) == (queue == MAIL_QUEUE)
        assert statement == {
            "Effect": "Deny",
            "Principal": "*",
            "Action": "sqs:*",
            "Resource": attribute_of(queue),
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.name)
def test_each_function_may_ask_for_signed_code(template: Any, function: Function) -> None:
    signing = properties(template, function.resource)["CodeSigningConfigArn"]

    assert signing == {"Fn::If": ["ChecksSignature", {"Ref": "CodeSigningConfigArn"}, NOTHING]}


def test_only_what_works_with_assets_may_use_their_bucket(template: Any) -> None:
    users = {
        function.name
        for function in FUNCTIONS
        if "s3:GetObject" in json.dumps(properties(template, function.role)["Policies"])
    }

    assert users == {
        *("api_handler", "move_assets", "assets_schedules"),
        # Files of imports and exports.
        *("move_nodes", "comments_schedules"),
    }
    variables = template["Globals"]["Function"]["Environment"]["Variables"]
    bucket = {"Fn::If": ["MakesAssetBucket", {"Ref": "AssetBucket"}, ""]}
    assert variables["PLAZA_ASSET_BUCKET"] == bucket


def test_only_what_asks_the_payments_provider_names_it_and_has_its_secrets(template: Any) -> None:
    names = {"PLAZA_PAYMENTS", "PLAZA_STRIPE_KEY", "PLAZA_STRIPE_WEBHOOK_SECRETS"}
    having = {
        function.name: names & own["Variables"].keys()
        for function in FUNCTIONS
        if (own := properties(template, function.resource).get("Environment"))
        and names & own["Variables"].keys()
    }

    assert having == dict.fromkeys(("api_handler", "resume_orders", "shop_schedules"), names)
    variables = properties(template, "APIHandler")["Environment"]["Variables"]
    for payments, has_secrets in (("", False), ("fake", False), ("stripe", True)):
        made = deployed_with(template, variables, Payments=payments)
        assert made["PLAZA_PAYMENTS"] == payments
        assert ("PLAZA_STRIPE_KEY" in made) == has_secrets
    worker = properties(template, "ResumeOrders")["Environment"]["Variables"]
    made = deployed_with(template, worker, Payments="stripe")
    assert made["PLAZA_STRIPE_WEBHOOK_SECRETS"] == "off"
    assert names.isdisjoint(template["Globals"]["Function"]["Environment"]["Variables"])


def test_the_fake_is_deployed_only_by_name_and_never_beside_a_key_set(template: Any) -> None:
    payments = template["Parameters"]["Payments"]
    rule = template["Rules"]["FakeTakesNoMoney"]

    assert (payments["Default"], payments["AllowedValues"]) == ("", ["", "stripe", "fake"])
    assert rule["RuleCondition"] == {"Fn::Equals": [{"Ref": "Payments"}, "fake"]}
    assert [each["Assert"] for each in rule["Assertions"]] == [
        {"Fn::Equals": [{"Ref": "JwksUrl"}, ""]}
    ]
