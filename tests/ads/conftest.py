"""The ad network without the lifetime of compiled zones, which has tests of its own."""

import pytest

from chalicelib.settings import Settings


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"zone_ttl_ms": 0})
