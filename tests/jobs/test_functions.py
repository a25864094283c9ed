"""A container imports what its function serves, and no more."""

import inspect
import json
import subprocess
import sys
from typing import Any

import pytest
from chalice.app import Chalice

from chalicelib.jobs.functions import Worker, declare_worker
from chalicelib.runtime import Runtime
from chalicelib.wiring import functions
from deploy.declared import ROOT, declared_queues
from tests.recorded_messages.corpus import message_types
from tests.support.functions import deferred

WORKERS = [worker.name for worker in functions.WORKERS]
NAMES = [*WORKERS, *functions.SCHEDULES, "command"]
# Prints the modules that Lambda imports for a handler.
LOAD = """
import gc, json, sys
import app
handler = getattr(app, sys.argv[1])
# What it loads is none of the collector's business, and what a call leaves is.
assert gc.isenabled() and gc.get_freeze_count() > 10_000
assert callable(handler) and getattr(app, sys.argv[1]) is handler
print(json.dumps([each for each in sys.modules]))
"""


def loaded(handler: str) -> set[str]:
    """Return the modules in a container of a handler."""
    command = [sys.executable, "-c", LOAD, handler]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {*json.loads(done.stdout)}


def of_plaza(modules: set[str], part: str) -> set[str]:
    return {each for each in modules if each.startswith("chalicelib.") and part in each}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_loads_no_route_and_no_client_of_aws(name: str) -> None:
    modules = loaded(name)

    assert of_plaza(modules, "routes") == set()
    assert modules & {"chalicelib.http.middleware", "boto3", "botocore", "markdown_it"} == set()


def test_the_api_loads_no_worker() -> None:
    modules = loaded("app")

    assert modules >= {"chalicelib.http.middleware", "chalicelib.comments.routes"}
    workers = {each.reference.partition(":")[0] for each in deferred()}
    assert {each for each in modules & workers if each.endswith(".jobs")} == set()
    assert modules & {"boto3", "botocore", "markdown_it"} == set()


@pytest.mark.parametrize(
    ("name", "feature"),
    [
        ("count_ad_events", "ads"),
        ("fan_out", "social"),
        ("resume_orders", "shop"),
        ("move_nodes", "comments"),
        ("ads_schedules", "ads"),
        ("analytics_schedules", "analytics"),
        ("shop_schedules", "shop"),
    ],
)
def test_a_function_of_one_feature_loads_no_other(name: str, feature: str) -> None:
    modules = loaded(name)

    features = {"comments", "ads", "social", "content", "shop", "analytics"}
    found = {each.split(".")[1] for each in modules if each.startswith("chalicelib.")}
    assert found & features == {feature}


def test_a_name_of_no_function_is_no_handler() -> None:
    import app

    with pytest.raises(AttributeError, match="has no attribute 'mend_all'"):
        _ = app.mend_all


@pytest.mark.parametrize("call", [*deferred()], ids=lambda call: call.reference)
def test_each_reference_leads_to_a_function_that_takes_the_call(call: Any) -> None:
    function = call.load()

    arguments = len(inspect.signature(function).parameters)
    assert arguments == (1 if call in schedules() else 2)


def schedules() -> list[Any]:
    return [job.run for declared in functions.SCHEDULES.values() for job in declared]


def test_every_queue_has_one_worker() -> None:
    queues = [worker.queue for worker in functions.WORKERS]

    assert len(set(queues)) == len(queues)
    assert {*queues} == {kind.queue for kind in message_types().values()}


def test_a_worker_passes_the_event_on_and_returns_the_failures(runtime: Runtime) -> None:
    seen: list[Any] = []

    def handle(given: Runtime, event: dict[str, Any]) -> dict[str, Any]:
        seen.append((given is runtime, event))
        return {"batchItemFailures": [{"itemIdentifier": "m"}]}

    app = Chalice("plaza", configure_logs=False)
    declare_worker(app, runtime, Worker("mending", "mends", handle, 7, 3))
    (source,) = declared_queues(app)
    event = {"Records": [{"messageId": "m", "body": "{}"}]}

    assert app.handler_map["mending"](event, None) == {
        "batchItemFailures": [{"itemIdentifier": "m"}]
    }
    assert seen == [(True, event)]
    assert source.handler_string == "app.mending"
    assert source.queue == runtime.queues.name_of("mends")
    assert (source.batch_size, source.maximum_batching_window_in_seconds) == (7, 3)
