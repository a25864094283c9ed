"""Whether the router of a sharded cluster could send an operation to the shards that it is for.

MongoDB 6.0's rules. A read, and a write of many, need a value for the beginning of the shard
key: one, or a few by `$in`. A write of one document, or one that may make it, needs one value
for each field of the key. No write changes the key. Everything else asks every shard, or is
refused. Source: MongoDB 6.0 manual, "Distributed Queries", "updateOne", "findAndModify".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from chalicelib.database import Collection

Bound = Literal["one", "some"]
_TRANSFORMS = ("$set", "$addFields", "$unset")
_MAY_STAND_BEFORE_A_MATCH = ("$match", "$sort")


def untargeted(
    collections: Mapping[str, Collection[Any]], name: str, command: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what keeps a router from targeting a command, which has this name."""
    collection = collections.get(str(command.get(name)))
    if collection is None or not collection.shard_key:
        return
    match name:
        case "find" | "count" | "distinct":
            yield from _read(collection, command.get("filter", command.get("query", {})))
            if name == "distinct" and _in_snapshot(command):
                yield "distinct in a snapshot or a transaction is refused"
        case "aggregate":
            yield from _aggregate(collections, collection, command["pipeline"])
        case _:
            yield from _writes(collection, name, command)


def _writes(collection: Collection[Any], name: str, command: Mapping[str, Any]) -> Iterator[str]:
    match name:
        case "insert":
            for document in command["documents"]:
                yield from _inserted(collection, document)
        case "update":
            for each in command["updates"]:
                yield from _update(collection, each)
        case "delete":
            for each in command["deletes"]:
                yield from _write(collection, each["q"], many=each["limit"] == 0)
        case "findAndModify":
            yield from _write(collection, command.get("query", {}), many=False)
            if not command.get("remove"):
                yield from _changed_key(collection, command.get("update", {}))


def bound(where: Mapping[str, Any], field: str) -> Bound | None:
    """Return whether a filter holds a field to one value, to some, or to neither."""
    found: list[Bound | None] = []
    for path, condition in where.items():
        if path == "$and":
            found += [bound(each, field) for each in condition]
        elif path == "$or":
            found.append(_weakest(bound(each, field) for each in condition))
        elif path == field:
            found.append(_of(condition))
        elif field.startswith(f"{path}.") and _of(condition) == "one":
            # A whole document determines its fields, but only in an equality.
            found.append("one" if _inside(condition, field.removeprefix(f"{path}.")) else None)
    if "one" in found:
        return "one"
    return "some" if "some" in found else None


def _weakest(bounds: Iterable[Bound | None]) -> Bound | None:
    # One value in each of two branches may be two values.
    found = list(bounds)
    return None if None in found else "one" if len(found) == 1 and found[0] == "one" else "some"


def _of(condition: Any) -> Bound | None:
    if not isinstance(condition, Mapping):
        return "one"
    if not any(key.startswith("$") for key in condition) or "$eq" in condition:
        return "one"
    return "some" if "$in" in condition else None


def _inside(document: Any, path: str) -> bool:
    head, _, rest = path.partition(".")
    if not isinstance(document, Mapping) or head not in document:
        return False
    return not rest or _inside(document[head], rest)


def _read(collection: Collection[Any], where: Mapping[str, Any]) -> Iterator[str]:
    first = next(iter(collection.shard_key))
    if bound(where, first) is None:
        yield f"nothing says which {first}"


def _write(collection: Collection[Any], where: Mapping[str, Any], *, many: bool) -> Iterator[str]:
    if many:
        yield from _read(collection, where)
        return
    for field in collection.shard_key:
        if bound(where, field) != "one":
            yield f"a write of one document needs one {field}"


def _update(collection: Collection[Any], update: Mapping[str, Any]) -> Iterator[str]:
    many = update.get("multi", False) and not update.get("upsert", False)
    yield from _write(collection, update["q"], many=many)
    yield from _changed_key(collection, update["u"])


def _changed_key(collection: Collection[Any], change: Any) -> Iterator[str]:
    """Yield the fields of the shard key that a change may set; an upsert sets them by filter."""
    changed = set(_changed_paths(collection, change))
    for field in collection.shard_key:
        if any(_overlap(path, field) for path in changed):
            yield f"the shard key's {field} is changed"


def _changed_paths(collection: Collection[Any], change: Any) -> Iterator[str]:
    stages = change if isinstance(change, Sequence) else [change]
    for stage in stages:
        operators = [key for key in stage if key.startswith("$")]
        if not operators:
            # A replacement keeps `_id`, and must contain the rest of the key.
            missing = set(collection.shard_key) - set(stage)
            yield from (field for field in missing if field.partition(".")[0] != "_id")
        for operator in operators:
            if isinstance(change, Sequence) and operator not in _TRANSFORMS:
                yield from collection.shard_key
            fields = [stage[operator]] if isinstance(stage[operator], str) else stage[operator]
            # Fields set only on insert are in the filter as well.
            yield from fields if operator != "$setOnInsert" else ()


def _overlap(path: str, field: str) -> bool:
    return path == field or path.startswith(f"{field}.") or field.startswith(f"{path}.")


def _inserted(collection: Collection[Any], document: Mapping[str, Any]) -> Iterator[str]:
    for field in collection.shard_key:
        if not _inside(document, field):
            yield f"a document without {field}"


def _in_snapshot(command: Mapping[str, Any]) -> bool:
    concern = command.get("readConcern", {})
    return command.get("autocommit") is False or concern.get("level") == "snapshot"


def _aggregate(
    collections: Mapping[str, Collection[Any]],
    collection: Collection[Any],
    pipeline: Sequence[Mapping[str, Any]],
) -> Iterator[str]:
    conditions = []
    for stage in pipeline:
        if not any(name in stage for name in _MAY_STAND_BEFORE_A_MATCH):
            break
        conditions += [stage["$match"]] if "$match" in stage else []
    yield from _read(collection, {"$and": conditions})
    for stage in pipeline:
        for name, given in stage.items():
            yield from _joined(collections, name, given)


def _joined(collections: Mapping[str, Collection[Any]], name: str, given: Any) -> Iterator[str]:
    """Yield the faults of a stage that reads or writes another collection."""
    match name:
        case "$lookup" if given.get("from") in collections and "foreignField" not in given:
            # Its pipeline is sent like one of its own, once for each document.
            yield from _aggregate(collections, collections[given["from"]], given["pipeline"])
        case "$lookup" if given.get("from") in collections:
            other = collections[given["from"]]
            if given.get("foreignField") == next(iter(other.shard_key)):
                return
            if "pipeline" in given:
                # It is sent with the condition on the field.
                yield from _aggregate(collections, other, given["pipeline"])
            else:
                yield f"$lookup does not ask {other.name} by its shard key"
        case "$merge" if given["into"] in collections:
            other = collections[given["into"]]
            # Left out, it is the shard key with `_id`.
            missing = set(other.shard_key) - set(given.get("on", other.shard_key))
            if missing:
                yield f"$merge does not name {', '.join(sorted(missing))} of {other.name}"
        case "$unionWith" if given["coll"] in collections:
            yield from _aggregate(collections, collections[given["coll"]], given["pipeline"])
        case "$graphLookup" | "$out":
            yield f"{name} is not followed here"
