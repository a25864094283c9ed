"""Read a JSON file of any size, one value at a time; a file may have several values."""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from chalicelib.comments.importing.shapes import MAX_SAMPLE_CHARACTERS
from chalicelib.foreign.broken import BrokenFile
from chalicelib.foreign.streams import characters

# Names of fields, with "*" for the elements of an array.
Path = tuple[str, ...]

MAX_VALUE_CHARACTERS = 4 << 20
_MOST_NESTED = 64
_BLANKS = re.compile(r"[ \t\r\n\ufeff\x1e]*")
_PLAIN = re.compile(r'[^"\[\]{}]*')
_STRING = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
# More text may cure a fault this near to the end of the text in memory.
_NEAR = 16


class Sign:
    """A marker in place of a value."""


# TOO_LARGE replaces a value with more than MAX_VALUE_CHARACTERS; END follows the last part of an
# object or array.
TOO_LARGE: Final = Sign()
END: Final = Sign()


@dataclass(frozen=True, slots=True)
class JsonPart:
    """A value at a path, with its first line and characters; for END, its last line."""

    path: Path
    value: Any
    line: int
    sample: str


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse)


class JsonFile:
    """The values of a JSON file, in order. Reading raises BrokenFile."""

    def __init__(self, stream: BinaryIO) -> None:
        self._chunks = characters(stream)
        self._text = ""
        self._at = 0
        self._line = 1
        self._is_end = False

    def next_character(self) -> str:
        """Return the next character that is no blank, without passing it; "" at the file's end."""
        while True:
            blanks = _BLANKS.match(self._text, self._at)
            self._pass(blanks.end() if blanks else self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read():
                return ""

    def find(self, paths: Collection[Path], ends: Collection[Path] = ()) -> Iterator[JsonPart]:
        """Yield the next value's parts at these paths; the path () is the whole value.

        At the end of each object or array at `ends` comes a part with END.
        """
        yield from self._find((), paths, ends, _MOST_NESTED)

    def fail(self, detail: str) -> BrokenFile:
        """Return the error for the caller to raise, with the present line."""
        return BrokenFile(f"line {self._line}", detail)

    def _find(
        self, path: Path, paths: Collection[Path], ends: Collection[Path], depth: int
    ) -> Iterator[JsonPart]:
        if not self.next_character():
            raise self.fail("the file ends early")
        if path in paths:
            line = self._line
            value, sample = self._decode()
            yield JsonPart(path, value, line, sample)
            return
        opening = self._text[self._at]
        if opening not in "[{" or not any(each[: len(path)] == path for each in paths):
            self._skip()
        elif depth == 0:
            raise self.fail("too many values within each other")
        else:
            yield from self._members(path, paths, ends, depth)
            if path in ends:
                yield JsonPart(path, END, self._line, "")

    def _members(
        self, path: Path, paths: Collection[Path], ends: Collection[Path], depth: int
    ) -> Iterator[JsonPart]:
        is_array = self._text[self._at] == "["
        closing = "]" if is_array else "}"
        self._pass(self._at + 1)
        if self.next_character() == closing:
            self._pass(self._at + 1)
            return
        while True:
            name = "*" if is_array else self._name()
            yield from self._find((*path, name), paths, ends, depth - 1)
            following = self.next_character()
            if following not in {",", closing} or not following:
                raise self.fail(f"expected , or {closing}" if following else "the file ends early")
            self._pass(self._at + 1)
            if following == closing:
                return

    def _name(self) -> str:
        if self.next_character() != '"':
            raise self.fail("expected the name of a field")
        name, _ = self._decode()
        if self.next_character() != ":":
            raise self.fail("expected a colon")
        self._pass(self._at + 1)
        return name if isinstance(name, str) else ""

    def _decode(self) -> tuple[Any, str]:
        """Return the value at this place and its first characters, and pass the value.

        Returns TOO_LARGE for a value above MAX_VALUE_CHARACTERS.
        """
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as fault:
                if self._is_end or self._is_certain(fault):
                    raise self._explain(fault) from None
            except RecursionError:
                raise self.fail("too many values within each other") from None
            except ValueError as fault:
                raise self.fail(str(fault)) from None
            else:
                # At the end of the text in memory a number may lack digits, also behind a point.
                if end < len(self._text) - _NEAR or self._is_end:
                    sample = self._text[self._at : min(end, self._at + MAX_SAMPLE_CHARACTERS)]
                    self._pass(end)
                    return value, sample
            if len(self._text) - self._at > MAX_VALUE_CHARACTERS:
                sample = self._text[self._at : self._at + MAX_SAMPLE_CHARACTERS]
                self._skip()
                return TOO_LARGE, sample
            self._read()

    def _is_certain(self, fault: json.JSONDecodeError) -> bool:
        """Return whether no further text can cure a fault."""
        return not fault.msg.startswith("Unterminated") and fault.pos < len(self._text) - _NEAR

    def _explain(self, fault: json.JSONDecodeError) -> BrokenFile:
        is_cut = fault.pos >= len(self._text.rstrip()) or fault.msg.startswith("Unterminated")
        line = self._line + self._text.count("\n", self._at, fault.pos)
        return BrokenFile(f"line {line}", "the file ends early" if is_cut else fault.msg)

    def _skip(self) -> None:
        """Pass the value at this place, whatever its size."""
        depth = 0
        while True:
            character = self.next_character()
            if not character:
                raise self.fail("the file ends early")
            if character == '"':
                self._skip_string()
            elif character in "[{":
                depth += 1
                self._pass(self._at + 1)
            elif character in "]}":
                if depth == 0:
                    raise self.fail("expected a value")
                depth -= 1
                self._pass(self._at + 1)
            elif depth:
                self._pass_plain(_PLAIN)
            else:
                self._decode()
            if depth == 0:
                return

    def _skip_string(self) -> None:
        self._pass(self._at + 1)
        while True:
            self._pass_plain(_STRING)
            if self._at < len(self._text) and self._text[self._at] == '"':
                self._pass(self._at + 1)
                return
            if not self._read():
                raise self.fail("the file ends early")

    def _pass_plain(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self._text, self._at)
        self._pass(found.end() if found else self._at)

    def _pass(self, to: int) -> None:
        self._line += self._text.count("\n", self._at, to)
        self._at = to

    def _read(self) -> bool:
        """Read more of the file, and return whether there is more."""
        # A chunk without a whole character decodes to an empty text.
        for chunk in self._chunks:
            if chunk:
                self._text = self._text[self._at :] + chunk
                self._at = 0
                return True
        self._is_end = True
        return False
