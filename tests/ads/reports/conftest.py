"""Events for the tests of reports."""

import pytest

from chalicelib.runtime import Runtime
from tests.ads.support.history import make_history


@pytest.fixture
def reported(runtime: Runtime) -> Runtime:
    return make_history(runtime)
