"""Breaking changes between two documents of the API.

A change breaks a client that keeps to the older document: what it sends is refused, or what it
reads is gone. A new operation, field, problem or value of an answer breaks none, since clients
are told to ignore what they do not know (docs/stability.md).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Json = Mapping[str, Any]
_PROBLEMS = "400"
_REPETITION = re.compile(r"{([0-9]+),([0-9]+)}")
_BOUNDS = {
    "maxLength": min,
    "maxItems": min,
    "maximum": min,
    "exclusiveMaximum": min,
    "minLength": max,
    "minItems": max,
    "minimum": max,
    "exclusiveMinimum": max,
}


def breaking(old: Json, new: Json) -> Iterator[str]:
    """Yield a sentence for each breaking change, which begins with the operation's id."""
    for path, methods in old["paths"].items():
        for method, operation in methods.items():
            name = operation["operationId"]
            other = new["paths"].get(path, {}).get(method)
            if other is None:
                yield f"{name}: {method.upper()} {path} is gone"
            else:
                found = _of_operation(_Pair(old, new), operation, other)
                yield from (f"{name}: {each}" for each in found)


class _Pair(NamedTuple):
    """Both documents, in which references are looked up."""

    old: Json
    new: Json


class _Place(NamedTuple):
    """Where two schemas stand: in what a client sends, or in what it reads."""

    name: str
    is_sent: bool
    # References on the way here: a comment has comments.
    above: frozenset[str] = frozenset()

    def inside(self, name: str) -> "_Place":
        """Return the place of a part."""
        return self._replace(name=f"{name} {self.name}")


def resolve(document: Json, schema: Json) -> Json:
    """Return a part of a document, or the part that it refers to by `$ref`."""
    reference = schema.get("$ref")
    if reference is None:
        return schema
    found: Any = document
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return resolve(document, found)


def parameters_of(document: Json, operation: Json) -> dict[tuple[str, str], Json]:
    """Return the parameters of an operation by their places and names."""
    found = [resolve(document, each) for each in operation.get("parameters", ())]
    return {(each["in"], each["name"]): each for each in found}


def _of_operation(pair: _Pair, old: Json, new: Json) -> Iterator[str]:
    if old["operationId"] != new["operationId"]:
        yield f"its id is now {new['operationId']}"
    if {} in old["security"] and {} not in new["security"]:
        yield "it needs a token now"
    if gone := sorted(set(old.get("x-plaza-roles", ())) - set(new.get("x-plaza-roles", ()))):
        if new.get("x-plaza-roles"):
            yield f"it refuses the roles {', '.join(gone)} now"
    elif new.get("x-plaza-roles") and not old.get("x-plaza-roles"):
        yield "it needs a role now"
    yield from _of_parameters(pair, old, new)
    yield from _of_bodies(pair, old.get("requestBody"), new.get("requestBody"))
    yield from _of_answers(pair, old["responses"], new["responses"])


def _of_parameters(pair: _Pair, old: Json, new: Json) -> Iterator[str]:
    before = parameters_of(pair.old, old)
    after = parameters_of(pair.new, new)
    for key, each in after.items():
        if each["required"] and not before.get(key, {}).get("required"):
            yield f"the parameter {key[1]} is required now"
    for key, each in before.items():
        if key not in after:
            yield f"the parameter {key[1]} is gone"
        else:
            schemas = each["schema"], after[key]["schema"]
            yield from _of_schemas(pair, *schemas, _Place(key[1], is_sent=True))


def _of_bodies(pair: _Pair, old: Json | None, new: Json | None) -> Iterator[str]:
    if old is None:
        if new is not None:
            yield "it needs a body now"
        return
    if new is None:
        yield "it takes no body any more"
        return
    yield from _of_contents(pair, old["content"], new["content"], _Place("the body", is_sent=True))


def _of_answers(pair: _Pair, old: Json, new: Json) -> Iterator[str]:
    for status, answer in old.items():
        if status >= _PROBLEMS:
            continue
        if status not in new:
            yield f"it does not answer {status} any more"
        else:
            both = resolve(pair.old, answer), resolve(pair.new, new[status])
            contents = both[0].get("content", {}), both[1].get("content", {})
            yield from _of_contents(pair, *contents, _Place("the answer", is_sent=False))


def _of_contents(pair: _Pair, old: Json, new: Json, place: _Place) -> Iterator[str]:
    for kind, content in old.items():
        if kind not in new:
            yield f"{kind} is gone"
        elif kind != "application/problem+json":
            yield from _of_schemas(pair, content["schema"], new[kind]["schema"], place)


def _of_schemas(pair: _Pair, old: Json, new: Json, place: _Place) -> Iterator[str]:
    reference = old.get("$ref", "")
    if reference in place.above:
        return
    if reference:
        place = place._replace(above=place.above | {reference})
    old, new = resolve(pair.old, old), resolve(pair.new, new)
    before, after = _types(pair.old, old), _types(pair.new, new)
    # A schema without a type allows any.
    if place.is_sent and after and before - after:
        yield f"{place.name}: may not be {' or '.join(sorted(before - after))} now"
    elif not place.is_sent and before and not after:
        yield f"{place.name}: may be anything now"
    elif not place.is_sent and before and after - before:
        yield f"{place.name}: may be {' or '.join(sorted(after - before))} now"
    else:
        if place.is_sent:
            yield from _narrowed(old, new, place.name)
            yield from _fewer_choices(old, new, place.name)
        yield from _of_properties(pair, old, new, place)
        if "items" in old and "items" in new:
            yield from _of_schemas(pair, old["items"], new["items"], place.inside("an item of"))
        for choices in _paired(_choices(old), _choices(new)):
            yield from _of_schemas(pair, *choices, place)


def _of_properties(pair: _Pair, old: Json, new: Json, place: _Place) -> Iterator[str]:
    before, after = old.get("properties", {}), new.get("properties", {})
    needed = set(old.get("required", ())), set(new.get("required", ()))
    if place.is_sent:
        names = sorted(needed[1] - needed[0])
        yield from (f"{place.name}: {name} is required now" for name in names)
    else:
        names = sorted((needed[0] & after.keys()) - needed[1])
        yield from (f"{place.name}: {name} may be missing now" for name in names)
    for name, schema in before.items():
        if name not in after:
            yield f"{place.name}: {name} is gone"
        else:
            yield from _of_schemas(pair, schema, after[name], place.inside(f"{name} in"))


def _narrowed(old: Json, new: Json, where: str) -> Iterator[str]:
    """Yield the bounds of what a client sends that are closer now."""
    for bound, closer in _BOUNDS.items():
        if bound in new and closer(new[bound], old.get(bound, new[bound])) != old.get(bound):
            yield f"{where}: {bound} is {new[bound]} now"
    if "pattern" in new and not _takes_all(new["pattern"], old.get("pattern", "")):
        yield f"{where}: has another pattern now"
    if gone := sorted(set(old.get("enum", ())) - set(new.get("enum", old.get("enum", ())))):
        yield f"{where}: may not be {', '.join(map(str, gone))} now"


def _takes_all(new: str, old: str) -> bool:
    """Return whether a pattern is an older one, perhaps with wider repetitions.

    Of patterns that differ otherwise, nobody can say it simply.
    """
    # A quotation mark needs no backslash: JavaScript refuses it there.
    before, after = old.replace('\\"', '"'), new
    if _REPETITION.sub("{}", before) != _REPETITION.sub("{}", after):
        return False
    ranges = zip(_REPETITION.findall(before), _REPETITION.findall(after), strict=True)
    return all(int(b[0]) <= int(a[0]) and int(a[1]) <= int(b[1]) for a, b in ranges)


def _choices(schema: Json) -> list[Json]:
    """Return the branches of a choice, in their order; a schema without one has none."""
    return [each for each in _branches(schema) if each is not schema]


def _fewer_choices(old: Json, new: Json, where: str) -> Iterator[str]:
    """Yield the schemas that a client may send no more, unless another took the place of each."""
    before, after = _choices(old), _choices(new)
    named = [{each["$ref"] for each in some if "$ref" in each} for some in (before, after)]
    if after and len(after) < len(before) and (gone := named[0] - named[1]):
        names = sorted(each.rpartition("/")[2] for each in gone)
        yield f"{where}: may not be {', '.join(names)} now"


def _paired(old: list[Json], new: list[Json]) -> Iterator[tuple[Json, Json]]:
    """Yield the choices that stand for each other: of one name, the others in their order."""
    named = {each["$ref"]: each for each in new if "$ref" in each}
    known = {each["$ref"] for each in old if "$ref" in each} & named.keys()
    yield from ((each, named[each["$ref"]]) for each in old if each.get("$ref") in known)
    others = ([each for each in some if each.get("$ref") not in known] for some in (old, new))
    yield from zip(*others, strict=False)


def _branches(schema: Json) -> list[Json]:
    return list(schema.get("anyOf") or schema.get("oneOf") or (schema,))


def _types(document: Json, schema: Json) -> set[str]:
    """Return the types that a schema allows."""
    types: set[str] = set()
    for branch in _branches(schema):
        found = resolve(document, branch)
        if found is not schema and _choices(found):
            types |= _types(document, found)
        else:
            named = found.get("type", ())
            types.update([named] if isinstance(named, str) else named)
    return types
