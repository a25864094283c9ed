"""A deployment with a courier at hand."""

import pytest

from chalicelib.mail import letters
from tests.mail.support.stand_in import StandIn


@pytest.fixture
def courier(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    stand_in = StandIn()
    monkeypatch.setattr(letters, "courier_of", lambda _settings: stand_in)
    return stand_in
