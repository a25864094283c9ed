"""A deployment whose letters lead back to it."""

import pytest

from chalicelib.settings import Settings

PUBLIC_URL = "https://plaza.example"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"public_url": PUBLIC_URL})
