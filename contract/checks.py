"""Checks and settings that schemathesis loads beside its own; runs in its environment alone."""

import base64
import json
import os
import re
import zlib
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

import schemathesis

from chalicelib.people.ids import CLAIMED_PATTERN
from contract.compatibility import resolve

# Codes that no call gets that fits the document.
OF_SYNTAX = frozenset({"invalid_json", "body_too_large", "unsupported_media_type"})
# Pydantic's faults of what a schema says whole. Plaza's own codes are of rules that stand in
# descriptions, or depend on what is there. Not among them: `string_too_short`, since texts are
# trimmed first; `int_type`, since 1.0 is an integer to JSON Schema; those of dates, which are of
# the branch of a union that was not meant.
OF_SCHEMA = frozenset(
    {
        *("missing", "extra_forbidden", "literal_error", "enum", "string_pattern_mismatch"),
        *("string_type", "bool_type", "bool_parsing", "list_type", "dict_type", "model_type"),
        *("string_too_long", "too_short", "too_long", "int_parsing", "float_type", "float_parsing"),
        *("greater_than", "greater_than_equal", "less_than", "less_than_equal", "multiple_of"),
        *("union_tag_invalid", "union_tag_not_found", "none_required", "finite_number"),
    }
)
# What a thing of a registered type says: another field names the type.
BY_TYPE = ("detail.", "details.")
# Few names for each thing, so that calls meet what other calls have made.
NAMES = {
    "node": ("moon", "harbour:moon"),
    "user": ("ann", "ben"),
    "site": ("harbour",),
    "zone": ("banner",),
    "advertiser": ("north",),
    "campaign": ("north:spring",),
    "circle": ("club",),
    "ref": ("applicant:nils",),
    "tag": ("new",),
    "account": ("advertiser:north",),
}
# For each operation, by `GET /nodes/{node}`, a call that succeeds: see `contract.successes`.
_PREPARED: Mapping[str, Any] = json.loads(Path(os.environ["PLAZA_CONTRACT_CALLS"]).read_text())
# The file that takes the operations that succeeded.
_SUCCEEDED = Path(os.environ["PLAZA_CONTRACT_SUCCEEDED"])
_PICTURE = "picture"
_seen: set[str] = set()
_REFUSALS = frozenset({400, 413, 415, 422})
_PLAIN = re.compile(r"[A-Za-z0-9:_-]{1,64}")
_CLAIMED = re.compile(CLAIMED_PATTERN)
_OWNED = re.compile(r"[a-z0-9_-]{1,60}:[a-z0-9_-]{1,60}")


@schemathesis.hook
def before_load_schema(_context: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    """Give each operation the call that succeeds as its example, which the fuzz varies."""
    for path, methods in raw_schema["paths"].items():
        for method, operation in methods.items():
            call = _PREPARED["successes"].get(f"{method.upper()} {path}")
            if call is not None:
                # Of its own: an example of a shared parameter would be of all its operations.
                operation["parameters"] = [
                    dict(resolve(raw_schema, each)) for each in operation["parameters"]
                ]
                _exemplify(operation, re.findall(r"{([^}]+)}", path), call)


def _exemplify(operation: dict[str, Any], names: list[str], call: Mapping[str, Any]) -> None:
    values = {**call["query"], **dict(zip(names, call["path"], strict=True))}
    for parameter in operation.get("parameters", []):
        if parameter["name"] in values:
            value = values[parameter["name"]]
            is_number = parameter["schema"].get("type") == "integer"
            parameter["example"] = int(value) if is_number else value
    body = _PICTURE if call["is_picture"] else call["body"]
    if body is not None and "requestBody" in operation:
        for media in operation["requestBody"]["content"].values():
            media["example"] = body


@schemathesis.hook
def before_call(
    _context: schemathesis.HookContext, case: schemathesis.Case, _kwargs: dict[str, Any]
) -> None:
    """Add the headers and the bytes that no example of the document can have."""
    call = _PREPARED["successes"].get(f"{case.method.upper()} {case.path}")
    if call is None:
        return
    for name, value in call["headers"].items():
        case.headers.setdefault(name, value)
    if case.body == _PICTURE:
        case.body = base64.b64decode(_PREPARED["picture"])


@schemathesis.hook
def after_call(
    _context: schemathesis.HookContext, case: schemathesis.Case, response: schemathesis.Response
) -> None:
    """Note each operation that succeeds."""
    operation = f"{case.method.upper()} {case.path}"
    if response.status_code < HTTPStatus.BAD_REQUEST and operation not in _seen:
        _seen.add(operation)
        with _SUCCEEDED.open("a") as file:
            file.write(f"{operation}\n")


def _fits(value: str, known: str) -> bool:
    """Tell whether a value has the form of a known name: a wrong one may not become right.

    An id of a person without an account stays, since a call may take these alone.
    """
    form = _OWNED if ":" in known else _PLAIN
    return form.fullmatch(value) is not None and not _CLAIMED.fullmatch(value)


@schemathesis.hook
def map_path_parameters(
    _context: schemathesis.HookContext, path_parameters: dict[str, Any] | None
) -> dict[str, Any] | None:
    """Name half of the things in valid paths by the few names that are known."""
    for name, value in (path_parameters or {}).items():
        known = NAMES.get(name)
        if known and isinstance(value, str) and _fits(value, known[0]):
            index = zlib.crc32(value.encode()) % (2 * len(known))
            if path_parameters is not None and index < len(known):
                path_parameters[name] = known[index]
    return path_parameters


@schemathesis.check
def valid_data_is_refused_for_a_reason(
    _context: schemathesis.CheckContext,
    response: schemathesis.Response,
    case: schemathesis.Case,
) -> None:
    """Fail if a call that fits the document is refused as one that does not.

    Rules between fields, and about texts, are in no schema. A problem of another code than
    `invalid_request` is one that the operation declares by itself.
    """
    is_meant = case.meta is not None and case.meta.generation.mode.is_positive
    if not is_meant or response.status_code not in _REFUSALS:
        return
    problem = json.loads(response.content)
    if problem["code"] == "invalid_request":
        faults = problem["errors"]
        refused = [
            each
            for each in faults
            if each["code"] in OF_SCHEMA
            and not each["field"].startswith(BY_TYPE)
            # A list whose items are refused for another reason is too short without them.
            and not any(other["field"].startswith(f"{each['field']}.") for other in faults)
        ]
    else:
        refused = [problem["code"]] if problem["code"] in OF_SYNTAX else []
    if refused:
        raise AssertionError(f"the document allows what is refused: {refused}")
