import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from chalicelib.errors import InvalidCursor, Misconfigured, Unavailable
from chalicelib.http import paging
from chalicelib.http.paging import decode_cursor, encode_cursor

KEYS = (SecretStr("current"), SecretStr("previous"))
POSITION = [1_772_366_400_000, "AbCd"]


@given(st.lists(st.integers(-(2**62), 2**62) | st.text(max_size=40) | st.none(), max_size=4))
def test_a_cursor_gives_back_its_position(position: list[object]) -> None:
    assert decode_cursor(encode_cursor(position, "wall:ann", KEYS), "wall:ann", KEYS) == position


def test_a_cursor_of_another_listing_is_refused() -> None:
    cursor = encode_cursor(POSITION, "wall:ann", KEYS)

    with pytest.raises(InvalidCursor):
        decode_cursor(cursor, "wall:bob", KEYS)


def test_every_altered_character_is_noticed() -> None:
    cursor = encode_cursor(POSITION, "wall:ann", KEYS)

    for index, character in enumerate(cursor):
        altered = cursor[:index] + ("B" if character == "A" else "A") + cursor[index + 1 :]
        with pytest.raises(InvalidCursor):
            decode_cursor(altered, "wall:ann", KEYS)


@pytest.mark.parametrize("text", ["", "a", "ab"])
def test_a_cursor_has_one_spelling(text: str) -> None:
    """The last character has bits to spare, which base64 passes over."""
    cursor = encode_cursor([text], "wall:ann", KEYS)
    alphabet = string.ascii_letters + string.digits + "-_"

    for last in set(alphabet) - {cursor[-1]}:
        with pytest.raises(InvalidCursor):
            decode_cursor(cursor[:-1] + last, "wall:ann", KEYS)


@pytest.mark.parametrize("cursor", ["", "A", "é", "%%%", "AAAA", "A" * 2_000, "\0"])
def test_what_was_never_a_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        decode_cursor(cursor, "wall:ann", KEYS)


def test_a_cursor_outlives_the_rotation_of_its_key() -> None:
    cursor = encode_cursor(POSITION, "wall:ann", KEYS[1:])

    assert decode_cursor(cursor, "wall:ann", KEYS) == POSITION
    with pytest.raises(InvalidCursor):
        decode_cursor(cursor, "wall:ann", KEYS[:1])


def test_a_cursor_of_a_newer_release_is_for_a_newer_container(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While one release replaces another, the next try may meet a container that reads it."""
    with monkeypatch.context() as newer:
        newer.setattr(paging, "VERSION", paging.VERSION + 1)
        cursor = encode_cursor(POSITION, "wall:ann", KEYS)

    with pytest.raises(Unavailable):
        decode_cursor(cursor, "wall:ann", KEYS)


def test_without_a_key_no_cursor_is_made() -> None:
    with pytest.raises(Misconfigured):
        encode_cursor(POSITION, "wall:ann", ())
