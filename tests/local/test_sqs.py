"""The local queues: one contract with moto's SQS, and what moto has not, a file."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local import sqs as module
from local.sqs import LocalSqs
from tests.local.stack import ROOT, wait_until

pytestmark = pytest.mark.processes

VISIBILITY_SECONDS = 30


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set the queues' clock forward."""
    ahead = [0.0]

    def advance(seconds: float) -> None:
        ahead[0] += seconds

    real = time.time
    monkeypatch.setattr("local.sqs.time.time", lambda: real() + ahead[0])
    return advance


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalSqs]:
    queues = LocalSqs(tmp_path / "queues.sqlite")
    yield queues
    queues.close()


@pytest.fixture(params=["moto", "local"])
def client(request: pytest.FixtureRequest, local: LocalSqs) -> Iterator[Any]:
    if request.param == "local":
        yield local
        return
    moto = request.getfixturevalue("sqs")
    before = set(moto.list_queues().get("QueueUrls", []))
    yield moto
    for url in set(moto.list_queues().get("QueueUrls", [])) - before:
        moto.delete_queue(QueueUrl=url)


def made(client: Any, name: str = "", **attributes: str) -> str:
    name = name or f"queue-{uuid.uuid4()}"
    return str(client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"])


def with_dead_letters(client: Any, receives: int) -> tuple[str, str]:
    dead = made(client)
    asked = client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])
    arn = asked["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": receives})
    return made(client, VisibilityTimeout="0", RedrivePolicy=policy), dead


def send(client: Any, url: str, *bodies: str, **more: Any) -> Any:
    entries = [{"Id": str(n), "MessageBody": body, **more} for n, body in enumerate(bodies)]
    return client.send_message_batch(QueueUrl=url, Entries=entries)


def receive(client: Any, url: str, most: int = 10) -> list[Any]:
    answer = client.receive_message(
        QueueUrl=url,
        MaxNumberOfMessages=most,
        AttributeNames=["All"],
        MessageAttributeNames=["All"],
    )
    found: list[Any] = answer.get("Messages", [])
    return found


def delete(client: Any, url: str, *messages: Any) -> None:
    entries = [
        {"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(messages)
    ]
    client.delete_message_batch(QueueUrl=url, Entries=entries)


def counts(client: Any, url: str) -> tuple[int, int]:
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    found = client.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return int(found[names[0]]), int(found[names[1]])


def test_a_message_comes_as_it_was_sent(client: Any) -> None:
    url = made(client)
    attributes = {"correlation_id": {"DataType": "String", "StringValue": "r1"}}
    (taken,) = send(client, url, '{"ø": "\\u0000"}', MessageAttributes=attributes)["Successful"]

    (message,) = receive(client, url)

    assert message["Body"] == '{"ø": "\\u0000"}'
    assert message["MessageId"] == taken["MessageId"]
    assert message["MessageAttributes"] == attributes
    assert message["Attributes"]["ApproximateReceiveCount"] == "1"
    assert int(message["Attributes"]["SentTimestamp"]) > 1_700_000_000_000
    assert len(message["MD5OfBody"]) == 32


def test_a_message_is_with_one_receiver_until_it_is_deleted(client: Any) -> None:
    url = made(client, VisibilityTimeout=str(VISIBILITY_SECONDS))
    send(client, url, "a", "b", "c")

    first, second = receive(client, url, 2), receive(client, url)

    assert sorted(each["Body"] for each in first + second) == ["a", "b", "c"]
    assert receive(client, url) == []
    assert counts(client, url) == (0, 3)
    delete(client, url, *first, *second)
    assert counts(client, url) == (0, 0)


def test_a_message_that_failed_as_often_as_allowed_is_a_dead_letter(client: Any) -> None:
    url, dead = with_dead_letters(client, receives=2)
    send(client, url, "poison")

    assert [len(receive(client, url)) for _ in range(3)] == [1, 1, 0]

    (letter,) = receive(client, dead)
    assert letter["Body"] == "poison"
    assert counts(client, url) == (0, 0)


def test_a_queue_that_nobody_made_is_an_error(client: Any) -> None:
    with pytest.raises(ClientError, match=r"NonExistentQueue|QueueDoesNotExist"):
        client.get_queue_url(QueueName="nobody")


def test_a_message_comes_again_after_its_time(
    local: LocalSqs, now: Callable[[float], None]
) -> None:
    url = made(local, VisibilityTimeout=str(VISIBILITY_SECONDS))
    send(local, url, "a")
    (first,) = receive(local, url)

    now(VISIBILITY_SECONDS - 1)
    assert receive(local, url) == []
    now(1)
    (second,) = receive(local, url)
    assert second["Attributes"]["ApproximateReceiveCount"] == "2"
    # It is another's by now.
    delete(local, url, first)
    assert counts(local, url) == (0, 1)
    delete(local, url, second)
    assert counts(local, url) == (0, 0)


def test_a_delayed_message_waits_for_its_time(
    local: LocalSqs, now: Callable[[float], None]
) -> None:
    url = made(local)
    send(local, url, "later", DelaySeconds=60)

    assert receive(local, url) == []
    now(60)
    assert [each["Body"] for each in receive(local, url)] == ["later"]


def test_who_waits_hears_of_a_message_at_once(local: LocalSqs) -> None:
    url = made(local)
    heard: list[Any] = []

    def wait() -> None:
        heard.append(local.receive_message(QueueUrl=url, WaitTimeSeconds=20))

    thread = threading.Thread(target=wait)
    started = time.monotonic()
    thread.start()
    send(local, url, "now")
    thread.join()

    assert heard[0]["Messages"][0]["Body"] == "now"
    assert time.monotonic() - started < 10


def test_many_threads_receive_each_message_once(local: LocalSqs) -> None:
    url = made(local)
    found: list[str] = []

    def work() -> None:
        while messages := receive(local, url, 3):
            found.extend(each["Body"] for each in messages)
            delete(local, url, *messages)

    send(local, url, *(str(number) for number in range(200)))
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(found, key=int) == [str(number) for number in range(200)]


def test_a_closed_file_is_an_error_of_sqs(local: LocalSqs) -> None:
    url = made(local)
    local.close()

    with pytest.raises(ClientError):
        send(local, url, "a")


def test_what_a_message_has_been_through_outlives_a_restart(
    tmp_path: Path, now: Callable[[float], None]
) -> None:
    file = tmp_path / "queues.sqlite"
    before = LocalSqs(file)
    url, dead = with_dead_letters(before, receives=2)
    send(before, url, "poison")
    for _ in range(3):
        receive(before, url)
    send(before, url, "tried once")
    receive(before, url)
    send(before, url, "later", DelaySeconds=60)
    before.close()

    after = LocalSqs(file)
    assert after.waiting() == {dead: 1, url: 2}
    dead_arn = {"deadLetterTargetArn": f"{module._ARN}{dead}", "maxReceiveCount": 2}
    made(after, dead)
    made(after, url, VisibilityTimeout="0", RedrivePolicy=json.dumps(dead_arn))

    (tried,) = receive(after, url)
    assert (tried["Body"], tried["Attributes"]["ApproximateReceiveCount"]) == ("tried once", "2")
    assert receive(after, dead)[0]["Body"] == "poison"
    delete(after, url, tried)
    now(60)
    assert [each["Body"] for each in receive(after, url)] == ["later"]
    after.close()


def test_a_receive_that_a_kill_interrupts_is_not_counted(tmp_path: Path) -> None:
    """Else six kills would make a dead letter of a message that nobody failed at."""
    for _ in range(6):
        queues = LocalSqs(tmp_path / "queues.sqlite")
        dead_arn = {"deadLetterTargetArn": f"{module._ARN}dead", "maxReceiveCount": 5}
        made(queues, "dead")
        made(queues, "work", VisibilityTimeout="900", RedrivePolicy=json.dumps(dead_arn))
        if not queues.waiting():
            send(queues, "work", "a")
        (message,) = receive(queues, "work")
        assert message["Attributes"]["ApproximateReceiveCount"] == "1"
        queues.close()


SENDER = """
import sys
from pathlib import Path
from local.sqs import LocalSqs
queues = LocalSqs(Path(sys.argv[1]))
queues.create_queue(QueueName="work")
for number in range(1_000_000):
    entries = [{"Id": "0", "MessageBody": str(number)}]
    queues.send_message_batch(QueueUrl="work", Entries=entries)
    print(number, flush=True)
"""


def test_what_was_taken_outlives_a_sigkill(tmp_path: Path) -> None:
    file, output = tmp_path / "queues.sqlite", tmp_path / "taken"
    with output.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", SENDER, str(file)], cwd=ROOT, stdout=out, env={**os.environ}
        )
        wait_until(lambda: output.read_bytes().count(b"\n") > 50, "messages were taken")
        process.send_signal(signal.SIGKILL)
        process.wait()
    taken = output.read_text().rpartition("\n")[0].splitlines()

    queues = LocalSqs(file)
    made(queues, "work")
    found = {each["Body"] for _ in range(len(taken)) for each in receive(queues, "work")}
    queues.close()

    assert set(taken) <= found
