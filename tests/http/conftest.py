"""The small API, and what it logs."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chalicelib.observability.logs import JsonFormatter, log
from chalicelib.runtime import Runtime
from tests.http.support.things import app_with_things
from tests.support.http_client import Client


@pytest.fixture
def api(runtime: Runtime, token: Callable[..., str]) -> Client:
    return Client(app_with_things(runtime), token)


@pytest.fixture
def log_lines() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    log.addHandler(handler)
    log.setLevel("INFO")
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    log.removeHandler(handler)
