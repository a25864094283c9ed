"""Push messages as browsers decrypt them, by the words of RFC 8291."""

from random import Random

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec

from chalicelib.push import browsers, encryption
from chalicelib.push.browsers import Browser
from tests.push.support.browser import CURVE, BrowserStandIn, decode, encode, point_of

ENDPOINT = "https://fcm.googleapis.com/fcm/send/one"
# RFC 8291, appendix A.
PLAIN = "V2hlbiBJIGdyb3cgdXAsIEkgd2FudCB0byBiZSBhIHdhdGVybWVsb24"
SENDER_KEY = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc"
    "InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLV"
    "WGNWQexSgSxsj_Qulcy4a-fN"
)


def test_the_example_of_the_standard() -> None:
    key = ec.derive_private_key(int.from_bytes(decode(SENDER_KEY)), CURVE)
    browser = Browser(ENDPOINT, POINT, AUTH)

    assert encode(encryption._encrypt(decode(PLAIN), browser, key, decode(SALT))) == BODY


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 3_000])
def test_a_browser_reads_its_message(size: int) -> None:
    ann, message = BrowserStandIn(ENDPOINT), Random(size).randbytes(size)
    body = encryption.encrypt(message, ann.browser, Random(7))

    assert ann.decrypt(body) == message
    assert len(body) <= 4_096


def test_no_message_has_the_key_or_the_salt_of_another() -> None:
    ann, rng = BrowserStandIn(ENDPOINT), Random(7)
    first, second = (encryption.encrypt(b"Hello", ann.browser, rng) for _ in range(2))

    assert first[:16] != second[:16]
    assert first[21:86] != second[21:86]


def test_another_browser_and_a_changed_message_are_refused() -> None:
    ann, bo = BrowserStandIn(ENDPOINT), BrowserStandIn(ENDPOINT, 2)
    body = encryption.encrypt(b"Hello", ann.browser, Random(7))

    with pytest.raises(InvalidTag):
        bo.decrypt(body)
    with pytest.raises(InvalidTag):
        ann.decrypt(body[:-1] + bytes([body[-1] ^ 1]))


def test_a_message_that_a_service_would_cut_is_no_message() -> None:
    with pytest.raises(ValueError, match="too long"):
        encryption.encrypt(b"x" * 3_001, BrowserStandIn(ENDPOINT).browser, Random(7))


@pytest.mark.parametrize(
    "point",
    [
        "",
        POINT[:-1],
        f"{POINT}A",
        f"{POINT[:-1]}5",
        encode(b"\x04" + bytes(64)),
        encode(b"\x00" * 65),
        encode(b"\x02" + bytes(32)),
        encode(decode(POINT)[:-1] + bytes([decode(POINT)[-1] ^ 1])),
        encode(b"\x04" + b"\xff" * 64),
        "é" * 87,
    ],
)
def test_a_key_is_a_point_of_the_curve(point: str) -> None:
    """Other points give the sender's key away, or a key that everybody knows."""
    assert not browsers.is_point(point)


def test_true_keys_are_taken() -> None:
    assert browsers.is_point(POINT)
    assert browsers.is_point(encode(point_of(ec.generate_private_key(CURVE).public_key())))
    assert browsers.is_secret(AUTH)


@pytest.mark.parametrize("auth", ["", encode(bytes(15)), encode(bytes(17)), f"{AUTH[:-1]}h", "ü"])
def test_a_secret_is_16_bytes(auth: str) -> None:
    assert not browsers.is_secret(auth)
