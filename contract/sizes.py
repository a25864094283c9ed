r"""The largest size of each answer, from the API's document: bytes as Lambda sends them.

A body of JSON is a string in Lambda's own JSON, in ASCII: a quotation mark around a text becomes
`\"`, a letter such as é six bytes, and an emoji twelve. `x-plaza-max-bytes` of a schema is such
a size itself, for a text whose length in characters says too little: HTML, or the bytes of a file.
Of a list with `x-plaza-left-out`, items are left out where they do not fit beside one row.
"""

import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import orjson

from contract.compatibility import parameters_of

Json = Mapping[str, Any]
MAX_BYTES = "x-plaza-max-bytes"
CUT = "x-plaza-cut"
LEFT_OUT = "x-plaza-left-out"
_LAST = "9999-12-31T23:59:59.999999+00:00"
_A_CHARACTER = 12
_ASCII = 128


class Size(NamedTuple):
    """The most bytes of a value, and the places that have no bound; infinite if there are any."""

    bytes: float
    unbounded: frozenset[str] = frozenset()


class Answer(NamedTuple):
    """A successful answer of an operation; `one_row` is its size with one row of a page."""

    operation: str
    status: str
    media_type: str
    is_cut: bool
    whole: Size
    one_row: Size


def answers(document: Json) -> Iterator[Answer]:
    """Yield each successful answer that a document declares, with its largest size."""
    for methods in document["paths"].values():
        for operation in methods.values():
            limit, rows = _largest_limit(document, operation), operation.get("x-plaza-rows")
            for status, answer in operation["responses"].items():
                if not status.startswith("2"):
                    continue
                for media_type, content in answer.get("content", {}).items():
                    schema = content["schema"]
                    yield Answer(
                        operation["operationId"],
                        status,
                        media_type,
                        operation.get(CUT, False),
                        _Measure(document).body(media_type, schema),
                        _Measure(document, limit, rows).body(media_type, schema),
                    )


def _largest_limit(document: Json, operation: Json) -> int | None:
    limit = parameters_of(document, operation).get(("query", "limit"))
    return None if limit is None else int(limit["schema"]["maximum"])


def sent(text: str) -> int:
    """Return the bytes of a text within a payload, without its own quotation marks."""
    return len(json.dumps(text)) - 2


def sent_in_json(value: Any) -> int:
    """Return the bytes of a JSON value within a payload."""
    return sent(orjson.dumps(value).decode())


class _Measure(NamedTuple):
    """Measures the schemas of a document.

    A list of up to `limit` items at the top of an answer counts as a list of one, and so does a
    list of up to `rows` items anywhere.
    """

    document: Json
    limit: int | None = None
    rows: int | None = None

    def body(self, media_type: str, schema: Json) -> Size:
        """Return the size of a body."""
        if media_type.endswith("json"):
            return self.value(schema, media_type, frozenset(), is_top=True)
        return self._text(schema, media_type, quotes=0)

    def value(
        self, schema: Json, place: str, above: frozenset[str], *, is_top: bool = False
    ) -> Size:
        """Return the size of a JSON value of a schema, at a place, within the schemas above."""
        if MAX_BYTES in schema:
            return Size(schema[MAX_BYTES])
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if name in above:
                return _unbounded(f"{place}: a {name} in itself")
            found = self.document["components"]["schemas"][name]
            return self.value(found, name, above | {name}, is_top=is_top)
        for union in ("anyOf", "oneOf", "allOf"):
            if union in schema:
                parts = [self.value(each, place, above, is_top=is_top) for each in schema[union]]
                return _largest(parts)
        if "const" in schema or "enum" in schema:
            return Size(max(map(sent_in_json, schema.get("enum", [schema.get("const")]))))
        return self._of_type(schema, place, above, is_top=is_top)

    def _of_type(self, schema: Json, place: str, above: frozenset[str], *, is_top: bool) -> Size:
        match schema.get("type"):
            case "string":
                return self._text(schema, place, quotes=sent_in_json(""))
            case "array":
                return self._list(schema, place, above, is_top=is_top)
            case "object":
                return self._object(schema, place, above, is_top=is_top)
            case str(scalar):
                return Size(_SCALARS[scalar])
        return _unbounded(f"{place}: anything")

    def _list(self, schema: Json, place: str, above: frozenset[str], *, is_top: bool) -> Size:
        most = schema.get("maxItems")
        if most is None:
            return _unbounded(f"{place}: a list without maxItems")
        if most == self.rows or (is_top and most == self.limit):
            most = 1
        elif LEFT_OUT in schema and self.limit is not None:
            most = 0
        item = self.value(schema.get("items", {}), f"{place}[]", above)
        return _times(most, _sum([item, Size(len(","))]), len("[]"))

    def _object(self, schema: Json, place: str, above: frozenset[str], *, is_top: bool) -> Size:
        parts = [Size(len("{}"))]
        for name, each in schema.get("properties", {}).items():
            is_row = is_top and each.get("type") == "array"
            value = self.value(each, f"{place}.{name}", above, is_top=is_row)
            parts += [Size(sent_in_json(name) + len(":,")), value]
        further = schema.get("additionalProperties", "properties" not in schema)
        if further is not False:
            parts.append(self._further(schema, further, place, above))
        return _sum(parts)

    def _further(self, schema: Json, further: Any, place: str, above: frozenset[str]) -> Size:
        """Return the size of an object's further properties."""
        most = schema.get("maxProperties")
        if most is None:
            return _unbounded(f"{place}: an object without maxProperties")
        kinds = {**schema.get("patternProperties", {}), None: further}
        names = schema.get("propertyNames", {})
        properties = []
        for pattern, each in kinds.items():
            if each is False or (each is True and len(kinds) > 1):
                continue
            named = {"type": "string", **({"pattern": pattern} if pattern else names)}
            name = self.value(named, f"{place}'s names", above)
            value = self.value({} if each is True else each, f"{place}{{}}", above)
            properties.append(_sum([name, value, Size(len(":,"))]))
        return _times(most, _largest(properties))

    def _text(self, schema: Json, place: str, quotes: int) -> Size:
        if MAX_BYTES in schema:
            return Size(schema[MAX_BYTES])
        if schema.get("format") == "date-time":
            return Size(sent(_LAST) + quotes)
        if schema.get("format") == "date":
            return Size(sent(str(datetime.now(UTC).date())) + quotes)
        by_pattern, a_character = math.inf, float(_A_CHARACTER)
        if "pattern" in schema:
            by_pattern, a_character = pattern_bytes(schema["pattern"])
        by_length = schema.get("maxLength", math.inf) * a_character
        if min(by_pattern, by_length) == math.inf:
            return _unbounded(f"{place}: a string without maxLength")
        return Size(min(by_pattern, by_length) + quotes)


# 64 bits, 17 digits with sign, point and exponent.
_SCALARS = {"integer": 20, "number": 25, "boolean": len("false"), "null": len("null")}


def pattern_bytes(pattern: str) -> tuple[float, float]:
    """Return the most bytes of a text of a pattern, and of one character of it."""
    parsed = parser.parse(pattern)
    first, last = parsed[0], parsed[-1]
    if first != (codes.AT, codes.AT_BEGINNING) or last != (codes.AT, codes.AT_END):
        return math.inf, _A_CHARACTER
    return _of_pattern(parsed)


def _of_pattern(parsed: Any) -> tuple[float, float]:
    """Return the most bytes of a parsed pattern, and of its heaviest character."""
    whole, heaviest = 0.0, 0.0
    for code, given in parsed:
        size, character = _of_part(code, given)
        whole, heaviest = whole + size, max(heaviest, character)
    return whole, heaviest


def _of_part(code: Any, given: Any) -> tuple[float, float]:
    """Return the most bytes of a part of a pattern, and of its heaviest character."""
    size = character = float(_A_CHARACTER)
    if code in {codes.AT, codes.ASSERT, codes.ASSERT_NOT}:
        size = character = 0
    elif code in {codes.LITERAL, codes.IN}:
        size = character = _of_class(given if code is codes.IN else [(code, given)])
    elif code in {codes.MAX_REPEAT, codes.MIN_REPEAT}:
        _, most, repeated = given
        size, character = _of_pattern(repeated)
        size = math.inf if most is codes.MAXREPEAT else most * size
    elif code is codes.SUBPATTERN:
        size, character = _of_pattern(given[-1])
    elif code is codes.BRANCH:
        branches = [_of_pattern(each) for each in given[1]]
        size = max(each for each, _ in branches)
        character = max(each for _, each in branches)
    return size, character


def _of_class(members: Any) -> float:
    """Return the bytes of the heaviest character of a class."""
    weights: list[float] = []
    for code, given in members:
        if code is codes.LITERAL:
            weights.append(sent_in_json(chr(given)) - sent_in_json(""))
        elif code is codes.RANGE and given[1] < _ASCII:
            first, last = given
            weights += [
                sent_in_json(chr(each)) - sent_in_json("") for each in range(first, last + 1)
            ]
        else:
            return _A_CHARACTER
    return max(weights)


def _unbounded(place: str) -> Size:
    return Size(math.inf, frozenset([place]))


def _sum(sizes: list[Size]) -> Size:
    return Size(sum(each.bytes for each in sizes), _places(sizes))


def _largest(sizes: list[Size]) -> Size:
    return Size(max(each.bytes for each in sizes), _places(sizes))


def _times(count: int, size: Size, beside: int = 0) -> Size:
    return Size(count * size.bytes + beside if count else beside, size.unbounded)


def _places(sizes: list[Size]) -> frozenset[str]:
    return frozenset[str]().union(*(each.unbounded for each in sizes))


if __name__ == "__main__":
    from deploy.openapi.files import KEPT

    for each in sorted(answers(json.loads(KEPT.read_text())), key=lambda a: -a.whole.bytes):
        print(f"{each.whole.bytes:>12,} {each.one_row.bytes:>12,} {each.operation} {each.is_cut}")
        for place in sorted(each.whole.unbounded):
            print("            ", place)
