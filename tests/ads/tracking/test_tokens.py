"""A token says what was decided, and nothing that anyone has changed."""

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from chalicelib.ads.errors import InvalidToken, TokenExpired
from chalicelib.ads.tracking.tokens import Offer, sign, verify
from chalicelib.ads.visitors.histories import Served
from chalicelib.errors import Misconfigured

OLD, NEW = SecretStr("the old key of the tests"), SecretStr("the new key of the tests")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OFFER = Offer(
    Served("decision-0000001", 0, "mercedes:spring", "one", "blog", "banner"),
    visitor="ann",
    price_micros=250,
    lease_id="lease-0000000001",
    expires_at=NOW + timedelta(hours=24),
)


def test_a_token_gives_back_the_offer() -> None:
    assert verify(sign(OFFER, "impression", [NEW]), "impression", [NEW], NOW) == OFFER


def test_a_token_fits_into_a_url_also_with_the_longest_names() -> None:
    part = "x" * 64
    longest = OFFER._replace(
        served=Served("decision-0000001", 0, f"{part}:{part}", part, part, part),
        visitor=part,
        price_micros=10**11,
    )

    token = sign(longest, "impression", [NEW])

    assert len(token) <= 1_024
    assert token.replace("-", "").replace("_", "").isalnum()


def test_a_token_does_not_show_its_visitor() -> None:
    token = sign(OFFER, "impression", [NEW])
    other = sign(
        OFFER._replace(served=OFFER.served._replace(decision="decision-0000002")),
        "impression",
        [NEW],
    )

    def sealed(token: str) -> str:
        payload = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))[32:]
        return str(json.loads(payload)[6])

    assert "ann" not in sealed(token)
    assert sealed(token) != sealed(other)


@given(st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True))
def test_any_visitor_is_unsealed_again(visitor: str) -> None:
    offer = OFFER._replace(visitor=visitor)

    assert verify(sign(offer, "impression", [NEW]), "impression", [NEW], NOW) == offer


def test_a_token_holds_an_offer_as_one_flat_list() -> None:
    token = sign(OFFER._replace(visitor=None), "impression", [NEW])

    payload = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))[32:]
    ad = b'"decision-0000001",0,"mercedes:spring","one","blog","banner"'
    assert payload == b"[" + ad + b',null,250,"lease-0000000001",1772452800]'


def test_the_old_key_is_still_accepted_while_the_new_one_signs() -> None:
    old, new = sign(OFFER, "impression", [OLD]), sign(OFFER, "impression", [NEW, OLD])

    assert verify(old, "impression", [NEW, OLD], NOW) == OFFER
    assert verify(new, "impression", [NEW], NOW) == OFFER


def test_a_foreign_key_is_refused() -> None:
    with pytest.raises(InvalidToken):
        verify(sign(OFFER, "impression", [OLD]), "impression", [NEW], NOW)


def test_a_token_is_good_for_its_own_purpose_alone() -> None:
    with pytest.raises(InvalidToken):
        verify(sign(OFFER, "impression", [NEW]), "click", [NEW], NOW)


def test_a_token_ends_with_its_last_second() -> None:
    token = sign(OFFER, "impression", [NEW])

    assert verify(token, "impression", [NEW], OFFER.expires_at - timedelta(milliseconds=1))
    with pytest.raises(TokenExpired):
        verify(token, "impression", [NEW], OFFER.expires_at)


def test_a_forged_token_that_is_expired_too_is_called_forged() -> None:
    token = sign(OFFER, "impression", [OLD])

    with pytest.raises(InvalidToken):
        verify(token, "impression", [NEW], OFFER.expires_at)


@given(st.data())
def test_a_token_with_any_character_changed_is_refused(data: st.DataObject) -> None:
    token = sign(OFFER, "impression", [NEW])
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.sampled_from("ABab01-_").filter(lambda c: c != token[place]))

    with pytest.raises(InvalidToken):
        verify(token[:place] + other + token[place + 1 :], "impression", [NEW], NOW)


@given(st.integers(0, 1_000))
def test_a_token_cut_short_is_refused(length: int) -> None:
    token = sign(OFFER, "impression", [NEW])

    with pytest.raises(InvalidToken):
        verify(token[: length % len(token)], "impression", [NEW], NOW)


@pytest.mark.parametrize("text", ["", "a", "=", "é", "\0", "$where", "a.b", "A" * 500])
def test_what_was_never_a_token_is_refused(text: str) -> None:
    with pytest.raises(InvalidToken):
        verify(text, "impression", [NEW], NOW)


def test_a_token_with_what_base64_passes_over_is_refused() -> None:
    token = sign(OFFER, "impression", [NEW])
    assert base64.urlsafe_b64decode(token + "\n" + "=" * (-len(token) % 4))

    for altered in (token + "\n", token + "=", f"{token[:9]} {token[9:]}"):
        with pytest.raises(InvalidToken):
            verify(altered, "impression", [NEW], NOW)


def test_nothing_is_signed_without_a_key() -> None:
    with pytest.raises(Misconfigured):
        sign(OFFER, "impression", [])
