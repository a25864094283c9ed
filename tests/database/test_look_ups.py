"""A cluster whose servers are looked up by DNS, at a cold start and when the look-up fails."""

import dataclasses
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pymongo
import pytest
from dns import flags, message, rcode, resolver, rrset
from pydantic import SecretStr
from pymongo.errors import PyMongoError

from chalicelib.database import connect, is_outage
from chalicelib.messaging import consume_together
from chalicelib.runtime import Runtime
from tests.database.test_outages import routes
from tests.http.support.things import app_with
from tests.messaging.support.greetings import MESSAGES, Greeting, event_of, greeting
from tests.support.http_client import Client

CLUSTER = "db.plaza.example"
NAME = f"_mongodb._tcp.{CLUSTER}."
# Returns an answer to the n-th query, or None: silence.
Answering = Callable[[int, message.Message], message.Message | None]


def silence(_number: int, _query: message.Message) -> None:
    return None


def server_failure(_number: int, query: message.Message) -> message.Message:
    answer = message.make_response(query)
    answer.set_rcode(rcode.SERVFAIL)
    return answer


def unknown(_number: int, query: message.Message) -> message.Message:
    answer = message.make_response(query)
    answer.set_rcode(rcode.NXDOMAIN)
    return answer


def servers(_number: int, query: message.Message) -> message.Message:
    answer = message.make_response(query)
    answer.flags |= flags.AA
    if query.question[0].name.to_text() == NAME:
        answer.answer.append(rrset.from_text(NAME, 60, "IN", "SRV", "0 0 27017 a.plaza.example."))
    return answer


def first_lost(number: int, query: message.Message) -> message.Message | None:
    return None if number == 0 else servers(number, query)


def first_failed(number: int, query: message.Message) -> message.Message | None:
    return server_failure(number, query) if number == 0 else servers(number, query)


@contextmanager
def name_server(answer: Answering) -> Iterator[int]:
    """Run a name server on this machine; give its port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))

        def serve() -> None:
            number = 0
            while True:
                data, address = sock.recvfrom(4_096)
                if data == b"end":
                    return
                reply = answer(number, message.from_wire(data))
                number += 1
                if reply is not None:
                    sock.sendto(reply.to_wire(), address)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield sock.getsockname()[1]
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
                own.sendto(b"end", sock.getsockname())
            thread.join()


@contextmanager
def cold_start(runtime: Runtime, answer: Answering) -> Iterator[Runtime]:
    """Give the runtime of a container that has looked up no server yet."""
    uri = SecretStr(f"mongodb+srv://{CLUSTER}/?serverSelectionTimeoutMS=100")
    with name_server(answer) as port, pytest.MonkeyPatch.context() as patched:
        asked = resolver.Resolver(configure=False)
        asked.nameservers, asked.port = ["127.0.0.1"], port
        patched.setattr(resolver, "default_resolver", asked)
        database = connect(runtime.settings.model_copy(update={"mongodb_uri": uri}))
        with database.client:
            yield dataclasses.replace(runtime, database=database)


@pytest.mark.parametrize("answer", [silence, server_failure, unknown])
def test_a_cold_start_without_an_answer_is_an_outage(
    runtime: Runtime, token: Callable[..., str], answer: Answering
) -> None:
    with cold_start(runtime, answer) as cut_off:
        api = Client(app_with(cut_off, routes), token)

        replies = [api.get("/stored") for _ in range(2)]

    assert [(reply.status, reply.code) for reply in replies] == [(503, "unavailable")] * 2


@pytest.mark.parametrize("answer", [silence, server_failure])
def test_a_batch_at_such_a_cold_start_is_not_halved(runtime: Runtime, answer: Answering) -> None:
    calls: list[int] = []

    with cold_start(runtime, answer) as cut_off:

        def handle(batch: list[Greeting]) -> None:
            calls.append(len(batch))
            cut_off.database["ad.site"].find_one({"_id": "x"})

        failed = consume_together(event_of(*map(greeting, "abcd")), MESSAGES, handle)

    assert len(failed["batchItemFailures"]) == 4
    assert calls == [4]


@pytest.mark.parametrize("answer", [first_lost, first_failed])
def test_a_look_up_survives_a_lost_packet_and_a_failure(
    runtime: Runtime, answer: Answering
) -> None:
    with cold_start(runtime, answer) as started:
        found = pytest.raises(PyMongoError, match=r"a\.plaza\.example")
        with pymongo.timeout(2), found as failed:
            started.database["ad.site"].find_one({"_id": "x"})

        assert is_outage(failed.value)
