"""Signatures of events: an unknown caller costs one look at the body for each secret."""

import hmac
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import SecretStr

from chalicelib.shop.payments import signatures
from tests.shop.support.stripe_stand_in import SECRETS, signature

AT = datetime(2026, 5, 1, tzinfo=UTC)
BODY = b'{"type": "payment_intent.succeeded"}'
KEYS = tuple(map(SecretStr, SECRETS))


def is_signed(header: str) -> bool:
    return signatures.is_signed(BODY, header, KEYS, AT)


def test_a_header_of_many_tags_costs_one_hmac_for_each_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, new = [], hmac.new

    def count_call(*given: Any) -> Any:
        made.append(given)
        return new(*given)

    monkeypatch.setattr(hmac, "new", count_call)

    assert not is_signed(f"t={int(AT.timestamp())}" + ",v1=00" * 2400)

    assert len(made) == len(KEYS)


def test_the_right_tag_is_found_among_the_first_eight() -> None:
    at = f"t={int(AT.timestamp())}"
    tag = signature(BODY, int(AT.timestamp()), SECRETS[1]).split(",")[1]

    assert is_signed(at + ",v1=00" * 7 + f",{tag}")
    assert not is_signed(at + ",v1=00" * 8 + f",{tag}")
