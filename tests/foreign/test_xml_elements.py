"""Elements of XML, from files that want to fill the memory."""

import io
import tracemalloc

import pytest

from chalicelib.foreign.broken import BrokenFile
from chalicelib.foreign.xml_elements import Element, elements


def read(content: str) -> list[Element]:
    return list(elements(io.BytesIO(content.encode()), {}, {"a/b"}))


def test_an_element_has_its_text_and_the_elements_inside_it() -> None:
    (found,) = read("<a><b n='1'>one<c>two</c></b></a>")

    assert (found.name, found.text, found.attributes, found.text_of("c")) == (
        "b",
        "one",
        {"n": "1"},
        "two",
    )


@pytest.mark.parametrize(
    "inside",
    ["<c/>" * 120_000, "<c>" + "<d/>" * 120_000 + "</c>"],
    ids=["children", "grandchildren"],
)
def test_an_element_of_countless_others_is_too_large_and_is_not_held(inside: str) -> None:
    stream = io.BytesIO(f"<a><b>{inside}</b><b>next</b></a>".encode())
    tracemalloc.start()
    try:
        large, after = elements(stream, {}, {"a/b"})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (large.is_too_large, large.children, large.text) == (True, [], "")
    assert (after.is_too_large, after.text) == (False, "next")
    assert peak < 20 * 1_000_000


@pytest.mark.parametrize(
    "content",
    [
        '<!DOCTYPE a [<!ENTITY l "lol"><!ENTITY m "&l;&l;&l;">]><a><b>&m;</b></a>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        "<a>" * 65,
        "<a><b>&unknown;</b></a>",
    ],
    ids=["entities", "a file", "nested", "unknown entity"],
)
def test_a_hostile_file_is_refused(content: str) -> None:
    with pytest.raises(BrokenFile):
        read(content)


def test_a_mark_without_an_end_is_refused() -> None:
    with pytest.raises(BrokenFile, match="a tag or comment is too large"):
        read("<a><!--" + "x" * (9 << 20))
