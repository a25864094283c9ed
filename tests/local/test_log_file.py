"""The log of the local stack: lines go to the file, and none to the terminal."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from chalicelib.observability.logs import log
from local.log_file import log_to

LOGGERS = (log, logging.getLogger("waitress"))


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Give the loggers back what they had."""
    before = [(each, each.handlers, each.propagate) for each in LOGGERS]
    yield
    for opened in log.handlers:
        opened.close()
    for each, handlers, propagate in before:
        each.handlers, each.propagate = handlers, propagate


@pytest.mark.parametrize("name", [log.name, "waitress.queue"])
def test_a_line_is_in_the_file_and_not_on_the_terminal(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log_to(tmp_path / "plaza.log")

    logging.getLogger(name).warning("Task queue depth is 1")

    assert "Task queue depth is 1" in (tmp_path / "plaza.log").read_text()
    assert capfd.readouterr() == ("", "")
