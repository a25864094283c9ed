"""A deployment that notifies people of the social feed."""

import pytest

from chalicelib.settings import Settings


@pytest.fixture
def settings(settings: Settings) -> Settings:
    changed = {"social_notifications": True, "public_url": "https://plaza.example"}
    return settings.model_copy(update=changed)
