"""Elements of an XML file of any size, one at a time; a document type is an error."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Self
from xml.parsers import expat

from chalicelib.foreign.broken import BrokenFile
from chalicelib.foreign.streams import characters, printable

MAX_ELEMENT_CHARACTERS = 4 << 20
_MOST_NESTED = 64
# Each element counts as this many more: even an empty element takes memory.
_ELEMENT_CHARACTERS = 100
# The most bytes of a tag, comment or other mark: the parser holds it in memory as a whole.
_MAX_MARK_BYTES = 8 << 20
_SEPARATOR = " "


@dataclass(slots=True)
class Element:
    """An element with its line, and with the elements inside it.

    text: its own text, without its children's. is_too_large: it is over MAX_ELEMENT_CHARACTERS, so
    it has no text and no children.
    """

    path: str
    name: str
    line: int
    attributes: Mapping[str, str]
    text: str = ""
    children: list[Self] = field(default_factory=list)
    is_too_large: bool = False

    def child(self, name: str) -> Self | None:
        """Return the first element of a name inside this one."""
        return next((each for each in self.children if each.name == name), None)

    def text_of(self, name: str) -> str:
        """Return the text of the first element of a name inside this one; empty for none."""
        child = self.child(name)
        return "" if child is None else child.text


def elements(
    stream: BinaryIO,
    namespaces: Mapping[str, str],
    whole: Collection[str],
    ends: Collection[str] = (),
) -> Iterator[Element]:
    """Yield elements at paths in `whole`; at the end of each element at `ends`, an empty Element.

    A path consists of names, such as `disqus/thread`. namespaces: the beginnings of namespaces'
    URIs, with the prefixes of their names; a name of any other namespace begins with `?`. Raises
    BrokenFile for a file that is no XML or ends early, for a document type, and for elements too
    deep or marks too large.
    """
    reader = _Reader(namespaces, whole, ends)
    fed = 0
    for chunk in printable(characters(stream)):
        reader.feed(chunk, is_end=False)
        yield from reader.take()
        fed += len(chunk.encode())
        if fed - reader.parsed_bytes > _MAX_MARK_BYTES:
            raise BrokenFile(f"line {reader.line}", "a tag or comment is too large")
    reader.feed("", is_end=True)
    yield from reader.take()


class _Reader:
    def __init__(
        self, namespaces: Mapping[str, str], whole: Collection[str], ends: Collection[str]
    ) -> None:
        self._namespaces = namespaces
        self._whole, self._ends = whole, ends
        self._path: list[str] = []
        self._open: list[Element] = []
        self._texts: list[list[str]] = []
        self._size = 0
        self._found: list[Element] = []
        self._parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._refuse

    @property
    def line(self) -> int:
        return self._parser.CurrentLineNumber

    @property
    def parsed_bytes(self) -> int:
        return self._parser.CurrentByteIndex

    def feed(self, text: str, *, is_end: bool) -> None:
        try:
            self._parser.Parse(text, is_end)
        except expat.ExpatError as fault:
            detail = expat.ErrorString(fault.code)
            raise BrokenFile(f"line {fault.lineno}", f"{detail}") from None

    def take(self) -> list[Element]:
        found, self._found = self._found, []
        return found

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._path) == _MOST_NESTED:
            raise BrokenFile(f"line {self.line}", "too many elements within each other")
        self._path.append(self._short(name))
        path = "/".join(self._path)
        if not self._open and path not in self._whole:
            return
        named = {self._short(each): value for each, value in attributes.items()}
        element = Element(path, self._path[-1], self.line, named)
        if not self._open:
            self._size = 0
        elif not self._open[0].is_too_large:
            self._open[-1].children.append(element)
        self._open.append(element)
        self._texts.append([])
        self._count(sum(map(len, named.values())) + len(name) + _ELEMENT_CHARACTERS)

    def _characters(self, text: str) -> None:
        if self._open:
            self._count(len(text))
            if not self._open[0].is_too_large:
                self._texts[-1].append(text)

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > MAX_ELEMENT_CHARACTERS and self._open:
            self._open[0].is_too_large = True
            self._open[0].children.clear()
            self._texts = [[] for _ in self._texts]

    def _end(self, _name: str) -> None:
        path = "/".join(self._path)
        name = self._path.pop()
        if self._open:
            element = self._open.pop()
            element.text = "".join(self._texts.pop())
            if not self._open:
                self._found.append(element)
        elif path in self._ends:
            self._found.append(Element(path, name, self.line, {}))

    def _refuse(self, *_declared: Any) -> None:
        raise BrokenFile(f"line {self.line}", "a document type is not allowed")

    def _short(self, name: str) -> str:
        address, separator, local = name.rpartition(_SEPARATOR)
        if not separator:
            return name
        known = (each for start, each in self._namespaces.items() if address.startswith(start))
        return next(known, "?") + local
