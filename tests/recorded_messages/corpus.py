"""What each release wrote: its messages with their schemas, and its cursors."""

import dataclasses
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema

from chalicelib.messaging import Message
from deploy.declared import ROOT
from tests.support.functions import deferred

FOLDER = Path(__file__).parent
# Messages whose class has another name than in the release that first recorded them.
RECORDED_AS = {"Propagate": "Spread", "Rerank": "Rank"}
COMMAND = "PLAZA_TEST_RECORD=1 script/test tests/recorded_messages"


@dataclass(frozen=True)
class RecordedMessage:
    """One message as a release sent it, and the shape that the release could read."""

    type: str
    version: int
    body: dict[str, Any]
    schema: dict[str, Any]


@dataclass(frozen=True)
class RecordedCursor:
    """A cursor as a release gave it out for a listing of `listings.LISTINGS`."""

    listing: str
    cursor: str


@dataclass(frozen=True)
class Release:
    version: str
    messages: tuple[RecordedMessage, ...]
    cursors: tuple[RecordedCursor, ...]


def releases() -> list[Release]:
    """Return every release that was recorded."""
    return [read(file.stem) for file in sorted(FOLDER.glob("*.json"))]


def read(version: str) -> Release:
    return parse((FOLDER / f"{version}.json").read_text())


def parse(text: str) -> Release:
    content = json.loads(text)
    return Release(
        content["version"],
        tuple(RecordedMessage(**each) for each in content["messages"]),
        tuple(RecordedCursor(**each) for each in content["cursors"]),
    )


def write(release: Release) -> None:
    (FOLDER / f"{release.version}.json").write_text(format_release(release))


def format_release(release: Release) -> str:
    return json.dumps(dataclasses.asdict(release), indent=1, sort_keys=True) + "\n"


def record(examples: Mapping[str, Message]) -> tuple[RecordedMessage, ...]:
    """Return what a release that sends these messages leaves behind."""
    return tuple(
        RecordedMessage(
            name, each.version, json.loads(each.model_dump_json()), schema_of(type(each))
        )
        for name, each in examples.items()
    )


def modules_with(function: Callable[..., object]) -> dict[str, ModuleType]:
    """Return the modules of Plaza that have imported a function of another one."""
    return {
        name: module
        for name, module in list(sys.modules.items())
        if name.startswith("chalicelib.")
        and name != function.__module__
        and getattr(module, function.__name__, None) is function
    }


def is_released(version: str) -> bool:
    """Tell whether the changelog has a section of this version."""
    return f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text()


def message_types() -> dict[str, type[Message]]:
    """Return every message that Plaza sends, by name."""
    for call in deferred():
        call.load()
    return {
        recorded_name(kind): kind
        for kind in _below(Message)
        if kind.__module__.startswith("chalice") and hasattr(kind, "queue")
    }


def recorded_name(kind: type[Message]) -> str:
    """Return the name by which a message is recorded."""
    return RECORDED_AS.get(kind.__name__, kind.__name__)


def _below(kind: type[Message]) -> Iterator[type[Message]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


def version_of(kind: type[Message]) -> int:
    version = kind.model_fields["version"].default
    assert isinstance(version, int)
    return version


def schema_of(kind: type[Message]) -> Any:
    """Return a message's JSON schema without its prose."""
    return _without_prose(kind.model_json_schema())


def _without_prose(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_prose(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    prose = {"title", "description"}
    # A property may bear one of these names itself; its value is then a schema.
    return {
        name: _without_prose(value)
        for name, value in schema.items()
        if name not in prose or isinstance(value, dict)
    }


def differences(release: Release, types: Mapping[str, type[Message]]) -> list[str]:
    """Say what of the present messages a release did not record as they are."""
    recorded = {each.type: each for each in release.messages}
    hint = (
        f"If {release.version} is released, raise chalicelib.__version__; then run `{COMMAND}`. "
        "If a worker of the last release could not live with the change, raise the message's "
        "`version` too (docs/decisions/0066)."
    )
    found = [f"{name} is gone. {hint}" for name in recorded.keys() - types.keys()]
    for name, kind in types.items():
        if name not in recorded:
            found.append(f"{name} was not there in {release.version}. {hint}")
        elif (recorded[name].schema, recorded[name].version) != (schema_of(kind), version_of(kind)):
            found.append(f"{name} has changed since {release.version}. {hint}")
    return found


def unreadable_by(release: Release, examples: Mapping[str, Message]) -> list[str]:
    """Say which of the present messages a worker of a release takes for its own and cannot read.

    Of a newer version it would leave the message alone, and fields that it does not know it
    passes over.
    """
    found = []
    for each in release.messages:
        example = examples.get(each.type)
        if example is None or example.version > each.version:
            continue
        try:
            jsonschema.validate(json.loads(example.model_dump_json()), each.schema)
        except jsonschema.ValidationError as error:
            found.append(f"{each.type}: {error.message}; raise its `version`")
    return found
