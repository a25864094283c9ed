"""The part of the template that Chalice does not write, made from the app's declarations."""

from typing import Any

from chalice.app import Chalice

from deploy.alarms import alarms
from deploy.api import api_resources
from deploy.assets import bucket_resources
from deploy.cdn import cdn_resources
from deploy.dashboard import DASHBOARD_NAME, dashboard
from deploy.declared import Command, Function, Worker, declared_functions, stage_environment
from deploy.functions import function_additions, log_group
from deploy.intrinsics import filled, reference
from deploy.mail import mail_resources
from deploy.nested import NestedStack, nested_stack
from deploy.parameters import (
    CONDITIONS,
    NESTED_CONDITIONS,
    RULES,
    parameters,
    shared_variables,
)
from deploy.permissions import role_properties
from deploy.queues import (
    FAILED_SCHEDULES,
    dead_letters_id,
    failed_schedules,
    queue_resources,
)

# The files of the nested stacks' templates, beside the main one.
ALARMS, DASHBOARD = "alarms.json", "dashboard.json"


def merge_template(app: Chalice, stage: str) -> dict[str, Any]:
    """Return what `chalice package --merge-template` merges into the template."""
    functions = declared_functions(app, stage)
    workers = [each for each in functions if isinstance(each, Worker)]
    environment = stage_environment(stage)
    prefix = environment["PLAZA_QUEUE_PREFIX"]
    resources: dict[str, Any] = {
        **api_resources(),
        **cdn_resources(),
        **bucket_resources(),
        **mail_resources(),
        **failed_schedules(prefix),
    }
    for worker in workers:
        resources |= queue_resources(worker, stage)
    for function in functions:
        policies = role_properties(function, workers, prefix)
        resources |= {
            **log_group(function),
            function.role: {"Properties": policies},
            function.resource: function_additions(function),
        }
    nested = {each.file: each.resource() for each in nested_stacks(app, stage)}
    return {
        "Parameters": parameters(stage, workers),
        "Conditions": CONDITIONS,
        "Rules": RULES,
        "Globals": {"Function": {"Environment": {"Variables": shared_variables()}}},
        "Resources": {
            **resources,
            # Logical ids that release 0.3.0 did not use for an alarm or a dashboard.
            "AlarmStack": nested[ALARMS],
            "DashboardStack": nested[DASHBOARD],
        },
        "Outputs": _outputs(functions, workers),
    }


def nested_stacks(app: Chalice, stage: str) -> list[NestedStack]:
    """Return the stacks within the stack: alarms and dashboard, to which nothing refers."""
    functions = declared_functions(app, stage)
    workers = [each for each in functions if isinstance(each, Worker)]
    namespace = stage_environment(stage)["PLAZA_METRICS_NAMESPACE"]
    watched = alarms(functions, namespace)
    page = {"Dashboard": dashboard(functions, watched, namespace)}
    chosen = parameters(stage, workers)
    return [
        nested_stack(ALARMS, "The alarms of a Plaza", watched, chosen, NESTED_CONDITIONS),
        nested_stack(DASHBOARD, "The dashboard of a Plaza", page, chosen, NESTED_CONDITIONS),
    ]


def _outputs(functions: list[Function], workers: list[Worker]) -> dict[str, Any]:
    """Return the outputs: the API, the dashboard, the commands and the dead letters."""
    console = "https://${AWS::Region}.console.aws.amazon.com/cloudwatch/home"
    commands = [each for each in functions if isinstance(each, Command)]
    return {
        "EndpointURL": {"Description": "Where callers reach the API"},
        "CdnURL": {
            "Description": "Where callers reach the API by CloudFront",
            "Condition": "HasCdn",
            "Value": filled("https://${Distribution.DomainName}/"),
        },
        "DashboardURL": {
            "Description": "The deployment's page in CloudWatch",
            "Value": filled(f"{console}?region=${{AWS::Region}}#dashboards:name={DASHBOARD_NAME}"),
        },
        "UsagePlanId": {
            "Description": "The usage plan of the API keys",
            "Condition": "RequiresApiKey",
            "Value": reference("UsagePlan"),
        },
        **{
            f"{each.resource}Name": {
                "Description": "The function of all commands",
                "Value": reference(each.resource),
            }
            for each in commands
        },
        **{
            dead_letters_id(each): {
                "Description": f"What the {each.title} workers failed at",
                "Value": reference(dead_letters_id(each)),
            }
            for each in workers
        },
        FAILED_SCHEDULES: {
            "Description": "The runs of schedules that failed",
            "Value": reference(FAILED_SCHEDULES),
        },
    }
