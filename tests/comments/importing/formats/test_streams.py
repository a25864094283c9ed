"""Bytes of a file as characters, and the values of JSON in them."""

import io
import json

import pytest

from chalicelib.comments.importing.formats.json_values import (
    END,
    MAX_VALUE_CHARACTERS,
    TOO_LARGE,
    JsonFile,
)
from chalicelib.foreign.broken import BrokenFile
from chalicelib.foreign.streams import CHUNK_BYTES, characters
from tests.comments.importing.support.reading import comment, read

XML = (
    '<?xml version="1.0" encoding="{}"?><rss xmlns:wp="http://wordpress.org/export/1.2/"><channel>'
    "<item><link>https://a.example/</link><wp:comment><wp:comment_id>1</wp:comment_id>"
    "<wp:comment_date_gmt>2020-01-01 00:00:00</wp:comment_date_gmt>"
    "<wp:comment_content>{}</wp:comment_content></wp:comment></item></channel></rss>"
)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "Grüße 🙂"),
        ("utf-8-sig", "Grüße"),
        ("utf-16", "Grüße"),
        ("iso-8859-1", "Grüße"),
        ("windows-1251", "Привет"),
        ("gb18030", "你好"),
        ("shift_jis", "こんにちは"),
    ],
)
def test_a_file_is_read_in_its_own_encoding(encoding: str, text: str) -> None:
    declared = encoding.removesuffix("-sig")

    assert comment(read("wordpress", XML.format(declared, text).encode(encoding))).text == text


@pytest.mark.parametrize("encoding", ["hex", "zlib", "rot13", "nothing", "undefined"])
def test_an_unknown_encoding_is_refused(encoding: str) -> None:
    with pytest.raises(BrokenFile):
        read("wordpress", XML.format(encoding, "x").encode())


def test_bytes_of_another_encoding_name_their_line() -> None:
    with pytest.raises(BrokenFile, match="line 3: byte 0xfc is not utf-8"):
        list(characters(io.BytesIO(b"\n\nGr\xfc\xdfe")))


def test_a_character_across_two_chunks_is_one() -> None:
    text = "x" * (CHUNK_BYTES - 1) + "ü"

    assert "".join(characters(io.BytesIO(text.encode()))) == text


def test_a_character_without_its_end_is_broken() -> None:
    with pytest.raises(BrokenFile, match="line 1: byte 0xc3 is not utf-8"):
        list(characters(io.BytesIO(b"Gr\xc3")))


def test_a_number_across_two_chunks_is_one() -> None:
    raw = b"[" + b" " * (CHUNK_BYTES - 3) + b"1234, 5]"

    assert [each.value for each in JsonFile(io.BytesIO(raw)).find({("*",)})] == [1234, 5]


@pytest.mark.parametrize("number", ["1546300800.25", "1e5", "2E+5", "-0.5"])
@pytest.mark.parametrize("places", range(1, 20))
def test_a_number_is_whole_wherever_its_chunk_ends(number: str, places: int) -> None:
    text = f'{{"created": {number}, "title": "a"}}'.ljust(60)
    size = 1 << 16
    stream = io.BytesIO(b" " * (size - places) + text.encode() + b" " * size)

    found = [part.value for part in JsonFile(stream).find({("created",), ("title",)})]

    assert found == [float(number), "a"]


@pytest.mark.parametrize("size", [1, 10, CHUNK_BYTES - 2, CHUNK_BYTES, CHUNK_BYTES * 3])
def test_values_are_found_wherever_the_chunks_end(size: int) -> None:
    value = {"a": ["x" * size, 12.5, None, {"b": '"]}\\'}], "c": [{"d": 1}, {"d": 22}]}
    raw = json.dumps([{"skipped": value}, value]).encode()

    found = list(JsonFile(io.BytesIO(raw)).find({("*", "c", "*", "d")}, {("*", "c")}))

    assert [each.value for each in found] == [1, 22, END]


def test_a_value_that_is_too_large_is_passed() -> None:
    raw = json.dumps([{"x": "y" * 2 * MAX_VALUE_CHARACTERS}, 5]).encode()

    assert [each.value for each in JsonFile(io.BytesIO(raw)).find({("*",)})] == [TOO_LARGE, 5]


def test_values_within_each_other_have_a_bound() -> None:
    with pytest.raises(BrokenFile, match="line 1: too many values within each other"):
        list(JsonFile(io.BytesIO(b"[" * 200)).find({("*",) * 150}))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'[1,\n2,\n{"a" 1}' + b" " * 40, "line 3: Expecting ':' delimiter"),
        (b"[1,\n2", "line 2: the file ends early"),
        (b'[1\n"2"]', "line 2: expected , or ]"),
        (b"[NaN, 1]", "line 1: NaN is no JSON"),
        (b"[" + b"9" * 5_000 + b", 1]", "line 1: Exceeds the limit"),
    ],
)  # fmt: skip
def test_a_fault_names_its_line(raw: bytes, message: str) -> None:
    file = JsonFile(io.BytesIO(raw))

    with pytest.raises(BrokenFile) as fault:
        list(file.find({("*",)}))
    assert str(fault.value).startswith(message)
