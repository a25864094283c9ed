"""Each test begins with nothing: no documents, and new queues where it asks for them."""

import os
import subprocess
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from chalice.app import Chalice

from chalicelib.comments.stores.promotion import MoveNode
from chalicelib.runtime import Runtime
from chalicelib.wiring import schema
from deploy.declared import declared_queues
from local.queues import create_queues
from tests.support.isolation import VISIBILITY_TIMEOUT_SECONDS, QueueRoom, empty_collections
from tests.support.memory import memory_folder, remove_abandoned
from tests.support.parallel import ROOT, unit_of
from tests.support.serving import served

NAMES = [each.name for each in schema.COLLECTIONS]


def filled(runtime: Runtime) -> list[str]:
    return [name for name in NAMES if runtime.database[name].count_documents({})]


def fill(runtime: Runtime, *names: str) -> None:
    for name in names:
        # A time series asks for its time.
        left = {"_id": "left", "ts": runtime.now()}
        runtime.database[name].insert_one(left, bypass_document_validation=True)


def attributes(sqs: Any) -> dict[str, Any]:
    """Return what each queue is like, by its name, but for when it was made."""
    found = {}
    for url in sqs.list_queues().get("QueueUrls", []):
        answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        found[url] = {name: value for name, value in answer.items() if "Timestamp" not in name}
    return found


def test_every_collection_is_emptied(runtime: Runtime) -> None:
    assert filled(runtime) == []
    fill(runtime, *NAMES)

    empty_collections(runtime.database)

    assert filled(runtime) == []


@pytest.mark.parametrize("name", [NAMES[0], NAMES[-1]])
def test_a_collection_is_emptied_where_all_others_are_empty(runtime: Runtime, name: str) -> None:
    fill(runtime, name)

    empty_collections(runtime.database)

    assert filled(runtime) == []


def test_a_message_that_is_left_or_with_a_worker_is_not_there_in_the_next_test(
    runtime: Runtime, app: Chalice, sqs: Any, queue_room: QueueRoom
) -> None:
    with queue_room.opened(app) as pollers:
        runtime.queues.send(MoveNode(node_id="waiting"), MoveNode(node_id="received"))
        (poller,) = [each for each in pollers if each.source.name == "move_nodes"]
        url = sqs.get_queue_url(QueueName=str(poller.source.queue))["QueueUrl"]
        assert sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1)["Messages"]
        assert queue_room.has_messages(poller)

    with queue_room.opened(app):
        assert not queue_room.has_messages(poller)
        counts = attributes(sqs)[url]
        assert counts["ApproximateNumberOfMessages"] == "0"
        assert counts["ApproximateNumberOfMessagesNotVisible"] == "0"


def test_a_test_that_asks_for_no_workers_has_no_queues(sqs: Any) -> None:
    assert attributes(sqs) == {}


def test_the_queues_are_such_as_are_made_by_calls(
    app: Chalice, sqs: Any, queue_room: QueueRoom
) -> None:
    with queue_room.opened(app):
        first = attributes(sqs)
    with queue_room.opened(app):
        again = attributes(sqs)
    with queue_room.opened(app):
        for url in attributes(sqs):
            sqs.delete_queue(QueueUrl=url)
        create_queues(sqs, app, lambda _: VISIBILITY_TIMEOUT_SECONDS)
        by_calls = attributes(sqs)

    assert len(first) == 2 * len(declared_queues(app))
    assert first == again == by_calls


def test_a_folder_in_memory_has_the_room_that_is_asked_for() -> None:
    assert memory_folder(room_bytes=2**60) is None


def test_folders_of_killed_runs_are_removed(tmp_path: Path) -> None:
    killed = subprocess.Popen(["true"])
    killed.wait()
    owners = [killed.pid, os.getpid()]
    for owner in owners:
        (tmp_path / f"plaza-test-{owner}-x").mkdir()
        pytests = tmp_path / f"pytest-of-editor/pytest-{owner}"
        pytests.mkdir(parents=True)
        (pytests / ".lock").write_text(str(owner))
    failed = tmp_path / "pytest-of-editor/pytest-0"
    failed.mkdir()
    # Its process was killed before it wrote its number.
    begun = tmp_path / "pytest-of-editor/pytest-1"
    begun.mkdir()
    (begun / ".lock").touch()
    others = tmp_path / "plaza-asset"
    others.mkdir()

    remove_abandoned(tmp_path)

    left = {*tmp_path.glob("plaza-*"), *tmp_path.glob("pytest-of-editor/*")}
    mine = {
        tmp_path / f"plaza-test-{os.getpid()}-x",
        tmp_path / f"pytest-of-editor/pytest-{os.getpid()}",
    }
    assert left == {*mine, failed, begun, others}


@pytest.mark.parametrize("folder", ["deploy", "local", "web"])
def test_a_folder_s_files_with_processes_are_one_group(folder: str) -> None:
    marked = [f"tests/{folder}/{file.name}" for file in (ROOT / "tests" / folder).glob("test_*.py")]
    groups = {scope_of(path) for path in marked if "::" not in scope_of(path)}

    assert groups == {f"processes of {folder}"}


def test_a_test_without_processes_is_a_unit_of_its_own() -> None:
    assert scope_of("tests/test_isolation.py") == "tests/test_isolation.py::test"


def scope_of(path: str) -> str:
    return unit_of(f"{path}::test")


def test_a_served_app_leaves_no_thread_that_waits_for_requests(app: Chalice) -> None:
    with served(app) as url:
        with urllib.request.urlopen(f"{url}/openapi.json") as answer:  # noqa: S310 - our own
            assert answer.status == 200
        assert _threads_of_servers() > 0

    assert _threads_of_servers() == 0


def _threads_of_servers() -> int:
    return sum(each.name.startswith("waitress-") for each in threading.enumerate())
