"""Commands of a call, as MongoDB's profiler saw them: the proof that a floor is fair."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pymongo import MongoClient

from bench.case import Work
from chalicelib.database import Document

_PROFILE = "system.profile"
# The server's own default of 1 MB overwrites what a thousand updates leave.
_PROFILE_BYTES = 16 * 2**20
_OFF, _ALL = 0, 2
_FIELDS_SHOWN = 6
_NOT_PROFILED = ("admin", "config", "local")


@dataclass(frozen=True)
class Asked:
    """The requests that reached MongoDB, and the commands on data by shape, with their number.

    `answer_bytes` is how long the call's answer was.
    """

    trips: int
    commands: dict[str, int]
    answer_bytes: int = 0


# Does a work and tells what it asked.
Observe = Callable[[Work], Asked]


def observe(client: MongoClient[Document], work: Work) -> Asked:
    """Do a work under the profiler of every database; other works meanwhile are seen too."""
    databases = [client[name] for name in client.list_database_names() if name not in _NOT_PROFILED]
    for database in databases:
        if not database.list_collection_names(filter={"name": _PROFILE}):
            database.create_collection(_PROFILE, capped=True, size=_PROFILE_BYTES)
    since = datetime.now(UTC)
    for database in databases:
        database.command("profile", _ALL)
    before = _requests(client)
    answer = work()
    trips = _requests(client) - before - 1
    seen: Counter[str] = Counter()
    for database in databases:
        database.command("profile", _OFF)
        noted = database[_PROFILE].find({"ts": {"$gte": since}})
        seen.update(filter(None, map(shape, noted)))
    return Asked(trips, dict(seen), _length(answer))


def _length(answer: object) -> int:
    """Return the length of a call's body, in bytes; of a function's result there is none."""
    body = answer.get("body") if isinstance(answer, Mapping) else answer
    return len(body.encode()) if isinstance(body, str) else 0


def _requests(client: MongoClient[Document]) -> int:
    return int(client.admin.command("serverStatus")["network"]["numRequests"])


def shape(seen: Document) -> str | None:
    """Return a profiled operation without its values; None if it does not touch data.

    `find post {author, deleted} sort ts limit 26 fields 9` asks for nine fields of what has an
    author and is not deleted.
    """
    command, collection = seen.get("command", {}), seen["ns"].partition(".")[2]
    parts: tuple[str, ...] = ()
    match seen["op"]:
        case "query" | "command" if "find" in command:
            parts = "find", collection, _keys(command.get("filter")), *_find_options(command)
        case "command" if "aggregate" in command:
            parts = "aggregate", collection, *(next(iter(each)) for each in command["pipeline"])
        case "command" if "distinct" in command:
            parts = "distinct", collection, str(command["key"])
        case "command" if "findAndModify" in command or "findandmodify" in command:
            keys = _keys(command.get("query")), _keys(command.get("update"))
            parts = "findAndModify", collection, *keys
        case "update" | "remove":
            parts = seen["op"], collection, _keys(command.get("q")), _keys(command.get("u"))
        case "insert" | "getmore":
            parts = seen["op"], str(seen.get("ninserted", "")), collection
    return " ".join(filter(None, parts)) or None


def _find_options(command: Document) -> Iterator[str]:
    if sort := command.get("sort"):
        yield f"sort {', '.join(sort)}"
    if limit := command.get("limit"):
        yield f"limit {limit}"
    if fields := command.get("projection"):
        yield f"fields {len(fields)}"


def _keys(document: Any) -> str:
    """Return the fields or operators of a filter or an update."""
    if isinstance(document, list):
        return "pipeline"
    names = sorted(document) if isinstance(document, Mapping) else []
    shown = [*names[:_FIELDS_SHOWN], *(["..."] if len(names) > _FIELDS_SHOWN else [])]
    return f"{{{', '.join(shown)}}}" if names else ""
