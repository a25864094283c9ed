"""A database that dies again and again: each start waits longer than the last."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from local import mongod_keeper
from local.failures import StartupFailure
from local.mongod_keeper import FIRST_PAUSE_SECONDS, LAST_PAUSE_SECONDS, _Keeper

pytestmark = pytest.mark.processes


class Pauses:
    """Replaces the wait between two starts: records it, and says that it is over."""

    def __init__(self, most: int) -> None:
        self.seconds: list[float] = []
        self.most = most

    def wait(self, seconds: float) -> bool:
        self.seconds.append(seconds)
        return self.is_set()

    def is_set(self) -> bool:
        return len(self.seconds) >= self.most


def dead_at_once(*_: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["false"])


def no_primary(process: "subprocess.Popen[bytes]", *_: object) -> None:
    process.wait()
    raise StartupFailure("mongod did not start")


@pytest.fixture
def keeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], _Keeper]:
    monkeypatch.setattr(mongod_keeper, "start", dead_at_once)
    monkeypatch.setattr(mongod_keeper, "become_primary", no_primary)

    def make(most: int) -> _Keeper:
        keeper = _Keeper(tmp_path, 0)
        keeper._process = dead_at_once()
        monkeypatch.setattr(keeper, "_stopping", Pauses(most))
        return keeper

    return make


def test_the_pause_doubles_up_to_half_a_minute(
    keeper: Callable[[int], _Keeper], capsys: pytest.CaptureFixture[str]
) -> None:
    dying = keeper(9)

    dying._run()

    assert isinstance(dying._stopping, Pauses)
    expected = [min(FIRST_PAUSE_SECONDS * 2**number, LAST_PAUSE_SECONDS) for number in range(9)]
    assert dying._stopping.seconds == expected
    assert capsys.readouterr().out.count("MongoDB ended (exit code 1)") == 9


def test_one_that_has_stayed_begins_with_a_short_pause_again(
    keeper: Callable[[int], _Keeper], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mongod_keeper, "STAYED_SECONDS", -1.0)
    dying = keeper(4)

    dying._run()

    assert isinstance(dying._stopping, Pauses)
    assert dying._stopping.seconds == [FIRST_PAUSE_SECONDS] * 4
