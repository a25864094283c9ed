import pytest

from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS, Discussion, Layout


@pytest.fixture(params=LAYOUTS, ids=str)
def layout(request: pytest.FixtureRequest) -> Layout:
    """Every store, flat and, where it can, threaded."""
    found: Layout = request.param
    return found


@pytest.fixture
def discussion(runtime: Runtime, layout: Layout) -> Discussion:
    return Discussion.make(runtime, layout)
