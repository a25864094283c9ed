"""SQS on one machine: the calls that Plaza makes, over a file that outlives every kill.

The calls have the names and shapes of boto3's client, as far as Plaza uses them; a test runs one
contract against this and moto. docs/decisions/0101 says why moto does not run here.
"""

import hashlib
import json
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

# SQS's own default.
_VISIBILITY_SECONDS = 30
_ARN = "arn:aws:sqs:us-east-1:123456789012:"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS message (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    queue TEXT NOT NULL,
    body TEXT NOT NULL,
    attributes TEXT NOT NULL,
    sent_ms INTEGER NOT NULL,
    -- When it may be received (again), and by what handle it was received last.
    visible_ms INTEGER NOT NULL,
    receives INTEGER NOT NULL DEFAULT 0,
    handle TEXT
);
CREATE INDEX IF NOT EXISTS message_visible ON message (queue, visible_ms);
"""
_Answer = dict[str, Any]


@dataclass(frozen=True)
class _Queue:
    """A queue's attributes, and the condition that its receivers wait on."""

    name: str
    visibility_ms: int
    dead_letters: str | None
    max_receives: int
    sent: threading.Condition


class LocalSqs:
    """Queues over one file, for the threads of one process."""

    def __init__(self, file: Path) -> None:
        """Open the file; messages held by a killed process can be received at once.

        That receive is not counted, since neither the worker nor the message was at fault.
        """
        self._lock = threading.RLock()
        self._queues: dict[str, _Queue] = {}
        self._database = sqlite3.connect(file, check_same_thread=False)
        # An accepted message is on the disk, as an acknowledged write of MongoDB is.
        self._database.executescript(
            f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {_SCHEMA}"
        )
        with self._writing() as database:
            database.execute(
                "UPDATE message SET visible_ms = ?1, receives = receives - 1, handle = NULL"
                " WHERE handle IS NOT NULL AND visible_ms > ?1",
                (_now_ms(),),
            )

    def close(self) -> None:
        """Close the file; later calls raise a ClientError."""
        with self._lock:
            self._database.close()

    def waiting(self) -> dict[str, int]:
        """Return the number of messages in each queue that is not empty."""
        with self._writing() as database:
            return dict(database.execute("SELECT queue, count(*) FROM message GROUP BY queue"))

    def create_queue(
        self, *, QueueName: str, Attributes: Mapping[str, str] | None = None
    ) -> _Answer:
        """Register a queue; messages that the file already has for it stay."""
        given = Attributes or {}
        redrive = json.loads(given.get("RedrivePolicy", "{}"))
        with self._lock:
            self._queues[QueueName] = _Queue(
                QueueName,
                1000 * int(given.get("VisibilityTimeout", _VISIBILITY_SECONDS)),
                redrive.get("deadLetterTargetArn", "").removeprefix(_ARN) or None,
                int(redrive.get("maxReceiveCount", 0)),
                threading.Condition(self._lock),
            )
        return {"QueueUrl": QueueName}

    def get_queue_url(self, *, QueueName: str) -> _Answer:
        """Return the queue's address, which is its name."""
        return {"QueueUrl": self._queue(QueueName).name}

    def get_queue_attributes(self, *, QueueUrl: str, AttributeNames: Iterable[str]) -> _Answer:
        """Return the queue's ARN, and the numbers of its visible and its hidden messages."""
        queue = self._queue(QueueUrl)
        with self._writing() as database:
            visible, hidden = database.execute(
                "SELECT count(*) FILTER (WHERE visible_ms <= ?1),"
                " count(*) FILTER (WHERE visible_ms > ?1) FROM message WHERE queue = ?2",
                (_now_ms(), queue.name),
            ).fetchone()
        known = {
            "QueueArn": _ARN + queue.name,
            "ApproximateNumberOfMessages": str(visible),
            "ApproximateNumberOfMessagesNotVisible": str(hidden),
        }
        wanted = set(AttributeNames)
        return {"Attributes": {k: v for k, v in known.items() if wanted & {k, "All"}}}

    def send_message_batch(self, *, QueueUrl: str, Entries: Iterable[_Answer]) -> _Answer:
        """Store messages, all or none; each is on the disk when this returns."""
        queue, now, entries = self._queue(QueueUrl), _now_ms(), list(Entries)
        rows = [
            (
                str(uuid.uuid4()),
                queue.name,
                each["MessageBody"],
                json.dumps(each.get("MessageAttributes", {})),
                now,
                now + 1000 * each.get("DelaySeconds", 0),
            )
            for each in entries
        ]
        with self._writing() as database:
            database.executemany(
                "INSERT INTO message (id, queue, body, attributes, sent_ms, visible_ms)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                rows,
            )
            queue.sent.notify_all()
        pairs = zip(entries, rows, strict=True)
        return {"Successful": [{"Id": each["Id"], "MessageId": row[0]} for each, row in pairs]}

    def receive_message(
        self,
        *,
        QueueUrl: str,
        MaxNumberOfMessages: int = 1,
        WaitTimeSeconds: int = 0,
        **_attributes: object,
    ) -> _Answer:
        """Return messages that no other worker holds; wait for a first one up to the given time.

        A message received as often as its queue allows goes to the dead letters instead.
        """
        queue = self._queue(QueueUrl)
        deadline = time.monotonic() + WaitTimeSeconds
        with queue.sent:
            while not (found := self._take(queue, MaxNumberOfMessages)):
                left = deadline - time.monotonic()
                if left <= 0:
                    return {}
                queue.sent.wait(left)
        return {"Messages": found}

    def delete_message_batch(self, *, QueueUrl: str, Entries: Iterable[_Answer]) -> _Answer:
        """Delete messages by the handles of their last receives; others stay."""
        self._queue(QueueUrl)
        entries = list(Entries)
        with self._writing() as database:
            database.executemany(
                "DELETE FROM message WHERE number = ? AND handle = ?",
                [
                    (each["ReceiptHandle"].partition(":")[0], each["ReceiptHandle"])
                    for each in entries
                ],
            )
        return {"Successful": [{"Id": each["Id"]} for each in entries]}

    def _take(self, queue: _Queue, most: int) -> list[_Answer]:
        now, taken = _now_ms(), []
        with self._writing() as database:
            rows = database.execute(
                "SELECT number, id, body, attributes, sent_ms, receives FROM message"
                " WHERE queue = ? AND visible_ms <= ? ORDER BY visible_ms, number LIMIT ?",
                (queue.name, now, most),
            ).fetchall()
            for number, message_id, body, attributes, sent_ms, receives in rows:
                if queue.dead_letters and receives >= queue.max_receives:
                    database.execute(
                        "UPDATE message SET queue = ?, handle = NULL WHERE number = ?",
                        (queue.dead_letters, number),
                    )
                    continue
                handle = f"{number}:{uuid.uuid4()}"
                database.execute(
                    "UPDATE message SET visible_ms = ?, receives = receives + 1, handle = ?"
                    " WHERE number = ?",
                    (now + queue.visibility_ms, handle, number),
                )
                taken.append(
                    {
                        "MessageId": message_id,
                        "ReceiptHandle": handle,
                        "Body": body,
                        "MD5OfBody": hashlib.md5(body.encode(), usedforsecurity=False).hexdigest(),
                        "Attributes": {
                            "ApproximateReceiveCount": str(receives + 1),
                            "SentTimestamp": str(sent_ms),
                        },
                        "MessageAttributes": json.loads(attributes),
                    }
                )
        return taken

    def _queue(self, name: str) -> _Queue:
        try:
            return self._queues[name]
        except KeyError:
            raise _error("QueueDoesNotExist", f"there is no queue {name}") from None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the database within a transaction; raises ClientError if it cannot be used."""
        with self._lock:
            try:
                with self._database:
                    yield self._database
            except sqlite3.Error as error:
                raise _error("InternalError", str(error)) from error


def _error(code: str, message: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "Sqs")


def _now_ms() -> int:
    return int(time.time() * 1000)
