"""`script/restored`: what it does, says and refuses, as a process of its own."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from chalicelib.people import jobs
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.wiring.people import PEOPLE
from tests.deploy.support.restoring import (
    Command,
    World,
    audit_line,
    back_up,
    bring_back,
)
from tests.shop.support.stripe_stand_in import Stripe
from tests.support.clock import START
from tests.support.workers import Workers

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def aws() -> Iterator[str]:
    """The address of the S3 and SQS of this process, for commands."""
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def command(settings: Settings, tmp_path: Path, aws: str) -> Command:
    return Command(settings, tmp_path, aws)


def test_the_command_repeats_what_a_file_of_the_log_has(
    world: World,
    workers: Workers,
    written: Callable[[], list[str]],
    command: Command,
    stripe: Stripe,
) -> None:
    point, backup = world.clock(), back_up(world.runtime)
    world.go_on(workers)
    bring_back(world.runtime, backup)
    # Ids are the callers' words: one has a character that ends a line elsewhere.
    strange = audit_line(point, route="/users/me/circles/{circle}", things={"circle": "a\u2028b"})
    log_of_then = "\n".join([*written(), json.dumps(json.loads(strange), ensure_ascii=False), ""])
    (command.folder / "audit.jsonl").write_text(log_of_then, encoding="utf-8")
    arguments = ("--since", point.isoformat(), "--audit", "audit.jsonl", "--refund")

    first = command(*arguments)
    workers.drain()
    second = command(*arguments)

    assert (first.returncode, first.stderr) == (second.returncode, second.stderr) == (0, "")
    assert "\n1 people are erased again by the worker: ann\n" in first.stdout
    assert "\n1 files of the bucket belong to nothing" in first.stdout
    assert first.stdout.endswith(
        f"1 payments have no order, given back\n  pi_2: 18.99 EUR, {world.lost}\n"
    )
    assert re.match(r"\d\d? calls of the audit log", first.stdout)
    assert jobs.count_remaining(world.runtime.database, PEOPLE, "ann") == 0
    assert len(stripe.refunds) == 1
    assert world.client.get(f"/assets/{world.in_database}/1").status == 404


def test_the_command_does_the_rest_of_a_log_with_a_broken_line_and_fails(
    runtime: Runtime, command: Command
) -> None:
    audit = command.folder / "audit.jsonl"
    audit.write_text(f"{audit_line(START)[:-9]}\n{audit_line(START, caller='ben')}\n")

    done = command("--since", START.isoformat(), "--audit", "audit.jsonl")

    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("1 calls of the audit log after the point were read\n")
    assert "1 lines of the log are unreadable, mend them and run again: 1\n" in done.stdout
    assert "1 people are erased again by the worker: ben\n" in done.stdout
    (errand,) = runtime.database["social.errand"].find()
    assert "ben" in str(errand)


def test_the_command_takes_several_files_together_and_names_those_that_may_be_cut(
    runtime: Runtime, command: Command
) -> None:
    guest = f"g_{'a' * 22}"
    joined = audit_line(
        START,
        method="POST",
        route="/sites/{site}/people/me/joined",
        details={"joined": [guest]},
    )
    (command.folder / "one.jsonl").write_text(f"{joined}\n" * 10_000)
    (command.folder / "two.jsonl").write_text(f"{audit_line(START)}\n")

    done = command("--since", START.isoformat(), "--audit", "one.jsonl", "two.jsonl")

    assert done.returncode == 1, done.stderr
    assert f"2 people are erased again by the worker: ann, {guest}\n" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("one.jsonl may be cut:")
    assert "two.jsonl" not in done.stdout
    assert runtime.database["social.errand"].count_documents({}) == 2


def test_the_command_takes_an_empty_log_and_no_log(runtime: Runtime, command: Command) -> None:
    (command.folder / "audit.jsonl").touch()
    before = back_up(runtime)

    for log_of_then in (("--audit", "audit.jsonl"), ()):
        done = command("--since", START.isoformat(), *log_of_then)

        assert (done.returncode, done.stderr) == (0, "")
        told = done.stdout.splitlines()
        assert told[0] == "0 calls of the audit log after the point were read"
        assert told[1] == "0 people are erased again by the worker: -"
        assert all(each.startswith("0 ") for each in told)
    assert back_up(runtime) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "the following arguments are required: --since"),
        (("--since", "yesterday"), "--since: Invalid isoformat string: 'yesterday'"),
        (("--since", "2026-11-25T14:00:00"), "--since: it needs a time zone, such as Z"),
        (("--since", "2026-11-25T14:00:00Z", "--audit", "gone"), "No such file or directory"),
        (("--since", "2026-11-25T14:00:00Z", "--audit", "."), "Is a directory"),
        (("--since", "2026-11-25T14:00:00Z", "--audit", "packed"), "can't decode byte"),
    ],
)
def test_the_command_refuses_wrong_arguments_before_anything_is_done(
    command: Command, arguments: tuple[str, ...], message: str
) -> None:
    (command.folder / "packed").write_bytes(b"\x1f\x8b\x08")

    done = command(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_names_a_wrong_setting(command: Command) -> None:
    done = command("--since", START.isoformat(), PLAZA_DATABASE="admin")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("script/restored: PLAZA_DATABASE: ")
