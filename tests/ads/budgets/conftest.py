"""A campaign without money."""

import pytest

from chalicelib.runtime import Runtime
from tests.ads.support.movements import (
    acquire,
    end,
    funded,
    refresh,
    settle,
)


@pytest.fixture
def exhausted(runtime: Runtime) -> Runtime:
    """A campaign that has spent its 50 impressions."""
    funded(runtime, 50)
    lease = acquire(runtime)
    assert lease
    settle(runtime, lease, 50)
    end(runtime, lease)
    refresh(runtime)
    return runtime
