"""The API's document: OpenAPI 3.1 from the signatures of the views.

A view's docstring gives the summary and the description. Its parameters give the input, its return
type the answers, and `raises` the problems of its own; problems that every call can end with are
added here. None of this runs in a deployment: `script/openapi` writes the file that is served
(docs/decisions/0111).
"""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from types import UnionType
from typing import (
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from chalicelib import errors
from chalicelib.errors import Problem
from chalicelib.http.requests import PageQuery
from chalicelib.http.responses import Answer, Text
from chalicelib.http.routing import Operation

Json = dict[str, Any]
Mode = Literal["validation", "serialization"]
_SCHEMAS = "#/components/schemas/"
# A content type is refused by the gateway, also if nothing reads the body.
_EVERY_CALL = (errors.Internal, errors.Unavailable, errors.UnsupportedMediaType)
_OF_A_BODY = (errors.InvalidJson, errors.BodyTooLarge)
_OF_A_KEY = (errors.RequestInProgress, errors.IdempotencyKeyReused)
# Headers of these problems, the same wherever they are answered.
_PROBLEM_HEADERS = {401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}
_HEADERS = {
    "X-Request-Id": "The id of this call in the logs: quote it to have the call looked up.",
    "Location": "The address of what was made, or of where to go on.",
    "Retry-After": "After how many seconds the same call may succeed.",
    "WWW-Authenticate": "What kind of token is needed (RFC 6750).",
}
_IDEMPOTENCY_KEY: Json = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A text of the client's own, new for each thing that it makes. A call that is "
    "repeated with the same key within 24 hours makes nothing twice.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}


class FieldFault(TypedDict):
    """One fault of a request."""

    field: str
    code: str
    detail: str


class ProblemAnswer(TypedDict):
    """A failure (RFC 9457); `code` never changes its meaning."""

    type: str
    title: str
    status: int
    code: str
    detail: NotRequired[str]
    errors: NotRequired[list[FieldFault]]


class Outcome(NamedTuple):
    """One way in which a call succeeds."""

    status: HTTPStatus
    media_type: str | None
    shape: Any


def is_declared(operation: Operation) -> bool:
    """Return whether a view says what it answers."""
    return bool(list(_outcomes(operation)))


def problems(operation: Operation) -> list[type[Problem]]:
    """Return every problem that a call may end with, each once."""
    signature, rules = operation.signature, operation.rules
    found: list[type[Problem]] = [*rules.raises, *_EVERY_CALL]
    if signature.path or signature.query or signature.body or rules.takes_idempotency_key:
        found.append(errors.InvalidRequest)
    if signature.query is not None and issubclass(signature.query, PageQuery):
        found.append(errors.InvalidCursor)
    if signature.body is not None:
        found += _OF_A_BODY
    if signature.caller is not None or rules.limit is not None:
        found.append(errors.Unauthenticated)
    if signature.caller is not None and signature.caller.roles:
        found.append(errors.Forbidden)
    if rules.limit is not None:
        found.append(errors.TooFast)
    if rules.takes_idempotency_key:
        found += _OF_A_KEY
    return list(dict.fromkeys(found))


def document(operations: Iterable[Operation], version: str) -> Json:
    """Return the document of the operations that are declared."""
    declared = [each for each in operations if is_declared(each)]
    schemas = _Schemas(declared)
    paths: Json = {}
    examples: dict[str, Json] = {}
    for operation in declared:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(
            operation, schemas
        )
        examples |= {each.code: _example(each) for each in problems(operation)}
    components = schemas.components
    components["Problem"]["properties"]["code"]["enum"] = sorted(examples)
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "Plaza",
            "version": version,
            "summary": "Comments, an ad network and a social feed for any website.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in dict.fromkeys(each.rules.tag for each in declared)],
        "paths": dict(sorted(paths.items())),
        "webhooks": {},
        "components": {
            "schemas": dict(sorted(components.items())),
            "examples": dict(sorted(examples.items())),
            "headers": {
                name: {"description": told, "schema": {"type": "string"}}
                for name, told in _HEADERS.items()
            },
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
            },
        },
    }


class _Schemas:
    """The JSON Schemas of all bodies and answers, made in one go so that they share components."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        wanted: list[tuple[Mode, Any]] = [("serialization", ProblemAnswer)]
        for operation in operations:
            wanted += [("serialization", each.shape) for each in _outcomes(operation)]
            wanted.append(("validation", operation.signature.body))
        kinds = [each for each in dict.fromkeys(wanted) if each[1] is not None]
        numbered = [(number, mode, TypeAdapter(kind)) for number, (mode, kind) in enumerate(kinds)]
        made, shared = TypeAdapter.json_schemas(numbered, ref_template=f"{_SCHEMAS}{{model}}")
        self._made: dict[tuple[Mode, Any], Json] = {
            kinds[number]: _plain(schema) for (number, _mode), schema in made.items()
        }
        components = {name: _plain(each) for name, each in shared["$defs"].items()}
        components["Problem"] = components.pop("ProblemAnswer")
        self.components: Json = components

    def of(self, mode: Mode, kind: Any) -> Json:
        """Return the schema of a type, or a reference to it."""
        return self._made[mode, kind]


def _plain(schema: Any) -> Any:
    """Return a schema without pydantic's titles, which repeat the names of fields."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        # A field may itself be called "title": its schema is no text.
        name: _plain(each)
        for name, each in schema.items()
        if name != "title" or not isinstance(each, str)
    }


def _outcomes(operation: Operation) -> Iterator[Outcome]:
    answered = get_type_hints(operation.view, include_extras=True).get("return")
    union = get_origin(answered) in {Union, UnionType}
    for each in get_args(answered) if union else (answered,):
        kind = get_origin(each) or each
        if isinstance(kind, type) and kind is not Text and issubclass(kind, (Answer, Text)):
            (shape,) = get_args(each) or (None,)
            yield Outcome(kind.status, kind.media_type, shape)


def _operation(operation: Operation, schemas: _Schemas) -> Json:
    signature, rules = operation.signature, operation.rules
    summary, _, description = (inspect.getdoc(operation.view) or "").partition("\n")
    told: Json = {
        "operationId": operation_id(operation),
        "summary": summary.rstrip("."),
        "tags": [rules.tag],
        "parameters": list(_parameters(operation)),
        "responses": _merged(_answers(operation, schemas), _failures(operation)),
        "security": _security(operation),
    }
    if description.strip():
        told["description"] = description.strip()
    if signature.caller is not None and signature.caller.roles:
        told["x-plaza-roles"] = [*signature.caller.roles, "admin"]
    if signature.body is not None:
        schema = schemas.of("validation", signature.body)
        content = {kind: {"schema": schema} for kind in operation.content_types}
        told["requestBody"] = {"required": True, "content": content}
    return told


def operation_id(operation: Operation) -> str:
    """Return the name of an operation: that of its view, in camel case."""
    first, *others = operation.view.__name__.split("_")
    return first + "".join(word.capitalize() for word in others)


def _parameters(operation: Operation) -> Iterator[Json]:
    signature = operation.signature
    for name, adapter in signature.path.items():
        schema = _plain(adapter.json_schema())
        yield {"name": name, "in": "path", "required": True, "schema": schema}
    if signature.query is not None:
        model = _plain(signature.query.model_json_schema(ref_template=f"{_SCHEMAS}{{model}}"))
        for name, schema in model["properties"].items():
            told = {"name": name, "in": "query", "required": name in model.get("required", ())}
            if "description" in schema:
                told["description"] = schema.pop("description")
            if schema.get("type") == "array":
                told |= {"style": "form", "explode": False}
            yield {**told, "schema": schema}
    if operation.rules.takes_idempotency_key:
        yield _IDEMPOTENCY_KEY


def _answers(operation: Operation, schemas: _Schemas) -> Json:
    told: Json = {}
    for status, media_type, shape in _outcomes(operation):
        headers = {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}}
        if status in {HTTPStatus.CREATED, HTTPStatus.FOUND}:
            headers["Location"] = {"$ref": "#/components/headers/Location"}
        answer: Json = {"description": status.phrase, "headers": headers}
        if media_type is not None:
            text = {"type": "object" if media_type == "application/json" else "string"}
            schema = text if shape is None else schemas.of("serialization", shape)
            answer["content"] = {media_type: {"schema": schema}}
        known = told.setdefault(str(status.value), answer)
        known.get("content", {}).update(answer.get("content", {}))
    return told


def _failures(operation: Operation) -> Json:
    by_status: dict[int, list[type[Problem]]] = {}
    for each in problems(operation):
        by_status.setdefault(each.status, []).append(each)
    told: Json = {}
    for status, ended in sorted(by_status.items()):
        headers = {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}}
        if name := _PROBLEM_HEADERS.get(status):
            headers[name] = {"$ref": f"#/components/headers/{name}"}
        examples = {each.code: {"$ref": f"#/components/examples/{each.code}"} for each in ended}
        told[str(status)] = {
            "description": "; ".join(dict.fromkeys(each.title for each in ended)),
            "headers": headers,
            "content": {
                "application/problem+json": {
                    "schema": {"$ref": f"{_SCHEMAS}Problem"},
                    "examples": examples,
                }
            },
            "x-problem-codes": sorted(examples),
        }
    return told


def _merged(answers: Json, failures: Json) -> Json:
    """Return both by status; one status may have an answer and a problem."""
    told = {**answers, **failures}
    for status in answers.keys() & failures.keys():
        answer, failure = answers[status], failures[status]
        told[status] = {
            **failure,
            "headers": {**answer["headers"], **failure["headers"]},
            "content": {**answer["content"], **failure["content"]},
        }
    return dict(sorted(told.items()))


def _security(operation: Operation) -> list[Json]:
    caller = operation.signature.caller
    if caller is None and operation.rules.limit is None:
        return []
    is_optional = caller is None or caller.is_optional
    return [{}, {"bearer": []}] if is_optional else [{"bearer": []}]


def _example(problem: type[Problem]) -> Json:
    value = {
        "type": f"urn:plaza:problem:{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "code": problem.code,
    }
    return {"summary": problem.title, "value": value}
