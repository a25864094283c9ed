"""The app's declarations and a stage's configuration: the sources of the template."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chalice.app import Chalice, SQSEventConfig
from chalice.utils import to_cfn_resource_name

from chalicelib.jobs.schedules import ScheduledJob
from chalicelib.wiring.functions import SCHEDULES

ROOT = Path(__file__).resolve().parents[1]
CONFIG: dict[str, Any] = json.loads((ROOT / ".chalice" / "config.json").read_text())
# AWS's advice for a queue that a function reads: six times the function's own time-out.
_VISIBILITY_FACTOR = 6
# Chalice's name for the function behind the API.
_API = "api_handler"


@dataclass(frozen=True)
class Function:
    """A Lambda function, by the name of its handler."""

    name: str
    timeout_seconds: int

    @property
    def resource(self) -> str:
        """Return the function's logical id, as Chalice makes it."""
        return to_cfn_resource_name(self.name)

    @property
    def role(self) -> str:
        """Return the logical id of the function's own role, as Chalice makes it."""
        return f"{to_cfn_resource_name(self.name)}Role"

    @property
    def title(self) -> str:
        """Return the function's name as alarms spell it."""
        return title_of(self.name)


@dataclass(frozen=True)
class Api(Function):
    """The function behind the API."""

    resource = "APIHandler"
    title = "api"


@dataclass(frozen=True)
class Worker(Function):
    """A function that a queue calls."""

    source: SQSEventConfig


@dataclass(frozen=True)
class Scheduled(Function):
    """A function that the clock calls, by a rule for each of its schedules."""

    schedules: tuple[ScheduledJob, ...]

    def rule(self, schedule: ScheduledJob) -> str:
        """Return the logical id of a schedule's rule, as SAM makes it."""
        return f"{self.resource}{to_cfn_resource_name(schedule.name)}"


@dataclass(frozen=True)
class Command(Function):
    """A function that a person or a deployment calls by name."""


def title_of(name: str) -> str:
    """Return the name of a function or a schedule as alarms spell it."""
    return name.replace("_", "-")


def declared_functions(app: Chalice, stage: str) -> list[Function]:
    """Return every function of the app, as a stage deploys it."""
    functions: list[Function] = [Api(_API, timeout_seconds(_API, stage))]
    for source in declared_queues(app):
        timeout = timeout_seconds(source.name, stage)
        functions.append(Worker(source.name, timeout, source))
    for named in app.pure_lambda_functions:
        timeout = timeout_seconds(named.name, stage)
        if named.name in SCHEDULES:
            functions.append(Scheduled(named.name, timeout, SCHEDULES[named.name]))
        else:
            functions.append(Command(named.name, timeout))
    return functions


def declared_queues(app: Chalice) -> list[SQSEventConfig]:
    """Return the event source mappings that the app declares."""
    return [source for source in app.event_sources if isinstance(source, SQSEventConfig)]


def stage_environment(stage: str) -> dict[str, str]:
    """Return a stage's environment variables; raises KeyError for a stage that is not there."""
    return dict(CONFIG["stages"][stage]["environment_variables"])


def timeout_seconds(function: str, stage: str) -> int:
    """Return how long a function may run."""
    own = CONFIG["stages"][stage]["lambda_functions"].get(function, {})
    return int(own.get("lambda_timeout", CONFIG["lambda_timeout"]))


def visibility_timeout_seconds(source: SQSEventConfig, stage: str = "dev") -> int:
    """Return how long a message stays with a worker before SQS gives it to another."""
    return _VISIBILITY_FACTOR * timeout_seconds(source.name, stage)


def seconds_between(schedule: ScheduledJob) -> int:
    """Return the seconds from one run of a schedule to the next."""
    return round(schedule.every.total_seconds())
