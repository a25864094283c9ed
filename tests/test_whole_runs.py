"""What a whole run tells at its end, beside its tests."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.contract_check import ContractCheck
from tests.support.shard_check import ShardCheck


class _Heard:
    """A listener and a contract at once: nothing was needed, and nothing was seen."""

    used: frozenset[str] = frozenset()
    seen: frozenset[str] = frozenset()

    def unused(self) -> list[str]:
        return ["ads.needless: find ad.zone"]

    def declared(self) -> set[str]:
        return {"GET /never 404 never"}


CHECKS = ContractCheck, ShardCheck


@pytest.fixture(autouse=True)
def _no_second_listener(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pymongo.monitoring.register", lambda _listener: None)


def _told(kind: type[Any], exit_status: pytest.ExitCode, **options: object) -> tuple[Any, str]:
    """Return the status of a run and what it says, after its tests ended with `exit_status`."""
    chosen = {"keyword": "", "markexpr": "", "deselect": None, **options}
    config = SimpleNamespace(
        option=SimpleNamespace(**chosen), args_source=pytest.Config.ArgsSource.TESTPATHS
    )
    session = SimpleNamespace(config=config, exitstatus=exit_status)
    lines: list[str] = []
    check = kind(cast(Any, _Heard()))
    check.pytest_sessionfinish(session, exit_status)
    check.pytest_terminal_summary(
        SimpleNamespace(write_line=lambda text, **_look: lines.append(text))
    )
    return session.exitstatus, "\n".join(lines)


@pytest.mark.parametrize("kind", CHECKS)
def test_a_run_whose_tests_passed_fails_by_its_own_check(kind: type[Any]) -> None:
    status, told = _told(kind, pytest.ExitCode.OK)
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "needless" in told or "GET /never 404" in told


@pytest.mark.parametrize("kind", CHECKS)
def test_a_run_with_a_failed_test_tells_also_what_its_check_found(kind: type[Any]) -> None:
    status, told = _told(kind, pytest.ExitCode.TESTS_FAILED)
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "needless" in told or "GET /never 404" in told


@pytest.mark.parametrize("kind", CHECKS)
def test_a_run_that_was_interrupted_or_chosen_tells_nothing(kind: type[Any]) -> None:
    assert _told(kind, pytest.ExitCode.INTERRUPTED) == (pytest.ExitCode.INTERRUPTED, "")
    assert _told(kind, pytest.ExitCode.OK, keyword="feeds") == (pytest.ExitCode.OK, "")
