"""A sharded cluster of real servers, without the program that routes: no registry carries it.

`running_cluster` starts a config server and one shard. The address that it gives is a stand-in
for the router: it passes everything on to the shard, answers `hello` as a router does, reads
`config` from the config server, and turns `shardCollection` into the command that MongoDB 6.0's
router sends to the shard for it. So keys are checked, and collections sharded, by MongoDB itself.
"""

import contextlib
import socket
import socketserver
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import bson
from pymongo import MongoClient

from chalicelib.database import Document
from local.mongod import TRANSACTION_SECONDS, find_mongod, free_port
from tests.support.stand_ins import answering

_HEADER = struct.Struct("<iiii")
_OP_REPLY, _OP_QUERY, _OP_MSG = 1, 2004, 2013
_START_TIMEOUT_SECONDS = 60
_OF_A_REPLICA_SET = ("setName", "setVersion", "hosts", "primary", "me", "secondary", "electionId")
_MOST_COLLECTIONS = 1_000
_MAJORITY = {"w": "majority"}


@contextlib.contextmanager
def running_cluster(folder: Path, database: str) -> Iterator[str]:
    """Run a config server and a shard, the home of `database`; give the address to connect to."""
    with (
        _server(folder / "config", "--configsvr") as config,
        _server(folder / "shard", "--shardsvr") as shard,
    ):
        admin = config.admin
        name = "shard/" + ":".join(map(str, shard.address or ()))
        admin.command("_configsvrAddShard", name, writeConcern=_MAJORITY)
        admin.command(
            "_configsvrCreateDatabase", database, primaryShardId="shard", writeConcern=_MAJORITY
        )
        router = _Router(config, shard)
        with answering(router):
            yield f"mongodb://127.0.0.1:{router.server_address[1]}/"


@contextlib.contextmanager
def _server(data: Path, role: str) -> Iterator[MongoClient[Document]]:
    data.mkdir(parents=True)
    port = free_port()
    command = [
        str(find_mongod()),
        f"--dbpath={data}",
        f"--port={port}",
        "--bind_ip=127.0.0.1",
        f"--replSet={data.name}",
        "--wiredTigerCacheSizeGB=0.25",
        f"--logpath={data / 'mongod.log'}",
        "--nounixsocket",
        f"--setParameter=transactionLifetimeLimitSeconds={TRANSACTION_SECONDS}",
        role,
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        with MongoClient[Document]("127.0.0.1", port, directConnection=True) as client:
            members = [{"_id": 0, "host": f"127.0.0.1:{port}"}]
            config: Document = {"_id": data.name, "members": members}
            if role == "--configsvr":
                config["configsvr"] = True
            client.admin.command("replSetInitiate", config)
            _await_primary(client)
            yield client
    finally:
        process.kill()
        process.wait()


def _await_primary(client: MongoClient[Document]) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_SECONDS
    while not client.admin.command("hello").get("isWritablePrimary"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


class _Router(socketserver.ThreadingTCPServer):
    """Takes clients; each has a connection of its own to the shard."""

    daemon_threads = True

    def __init__(self, config: MongoClient[Document], shard: MongoClient[Document]) -> None:
        super().__init__(("127.0.0.1", 0), _Passenger)
        self.config = config
        self.shard = shard

    def answer(self, command: Document) -> Mapping[str, Any] | None:
        """Return the answer to what the shard alone could not do; None for all else."""
        name = next(iter(command))
        if name == "shardCollection":
            database, collection = command[name].split(".", 1)
            return self._shard_collection(database, collection, command["key"])
        if command["$db"] == "config":
            asked = {key: value for key, value in command.items() if key in (name, "filter")}
            # A second batch would be asked for by `getMore`, whose collection is left out here.
            whole = {"batchSize": _MOST_COLLECTIONS} if name == "find" else {}
            return self.config["config"].command({**asked, **whole})
        return None

    def _shard_collection(self, database: str, name: str, key: Document) -> Mapping[str, Any]:
        home = self.config["config"]["databases"].find_one({"_id": database})
        assert home is not None
        return self.shard[database].command(
            {
                "_shardsvrCreateCollection": name,
                "shardKey": key,
                "databaseVersion": home["version"],
                "writeConcern": _MAJORITY,
            }
        )


class _Passenger(socketserver.BaseRequestHandler):
    """One client's connection: MongoDB's wire protocol, a request and its reply at a time."""

    server: _Router

    def handle(self) -> None:
        with socket.create_connection(self.server.shard.address or ("", 0)) as shard:
            while request := _receive(self.request):
                self.request.sendall(self._reply(request, shard))

    def _reply(self, request: bytes, shard: socket.socket) -> bytes:
        command = _body(request)
        answer = self.server.answer(command)
        if answer is not None:
            return _message(answer, request)
        shard.sendall(request)
        reply = _receive(shard)
        if next(iter(command)).lower() not in {"hello", "ismaster"}:
            return reply
        hello = {k: v for k, v in _body(reply).items() if k not in _OF_A_REPLICA_SET}
        return _message({**hello, "msg": "isdbgrid"}, request)


def _receive(connection: socket.socket) -> bytes:
    """Return a whole message, or nothing where the other side has gone."""
    head = _exactly(connection, _HEADER.size)
    if not head:
        return b""
    length = _HEADER.unpack(head)[0]
    return head + _exactly(connection, length - _HEADER.size)


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            return b""
        parts += part
    return bytes(parts)


def _body(message: bytes) -> Document:
    """Return the document that a message carries: a command or its answer."""
    operation = _HEADER.unpack_from(message)[3]
    if operation == _OP_MSG:
        start = _HEADER.size + 5
    elif operation == _OP_QUERY:
        start = message.index(b"\0", _HEADER.size + 4) + 9
    else:
        start = _HEADER.size + 20
    (size,) = struct.unpack_from("<i", message, start)
    return bson.decode(message[start : start + size])


def _message(answer: Mapping[str, Any], request: bytes) -> bytes:
    """Return an answer in the form that its request came in."""
    _, request_id, _, operation = _HEADER.unpack_from(request)
    body = bson.encode(answer)
    if operation == _OP_QUERY:
        kind, head = _OP_REPLY, struct.pack("<iqii", 8, 0, 0, 1)
    else:
        kind, head = _OP_MSG, struct.pack("<iB", 0, 0)
    size = _HEADER.size + len(head) + len(body)
    return _HEADER.pack(size, 0, request_id, kind) + head + body
