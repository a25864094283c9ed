"""The API's document: OpenAPI 3.1 from the signatures of the views.

A view's docstring gives the summary and the description. Its parameters give the input, its return
type the answers, and `raises` the problems of its own; problems that every call can end with are
added here (docs/decisions/0111).
"""

import inspect
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any

from chalicelib import errors
from chalicelib.errors import Problem
from chalicelib.http.idempotency import KEY_PATTERN
from chalicelib.http.outcomes import is_declared, outcomes, problems
from chalicelib.http.problem_page import ProblemPage
from chalicelib.http.routing import Operation
from chalicelib.webhooks.kinds import KINDS, EventKind
from deploy.api import GATEWAY_RESPONSES
from deploy.openapi.schemas import SCHEMAS, Json, Schemas, plain

_HEADERS = {
    "X-Request-Id": "The id of this call in the logs: quote it to have the call looked up.",
    "Location": "The address of what was made, or of where to go on.",
    "ETag": "What to send as If-None-Match, to be answered 304 while the answer is the same; or as "
    "If-Match, to change what was read.",
    "Content-Range": "Which bytes these are, and how many there are.",
    "Retry-After": "After how many seconds the same call may succeed.",
    "Deprecation": "From when this operation is deprecated (RFC 9745).",
    "Sunset": "From when this operation may be gone (RFC 8594).",
    "WWW-Authenticate": "What kind of token is needed (RFC 6750).",
}
# Of Standard Webhooks 1.0.0.
_WEBHOOK_HEADERS = {
    "webhook-id": "The id of the event, the same in every repeat.",
    "webhook-timestamp": "The time of the attempt in seconds since 1970.",
    "webhook-signature": "Signatures `v1,…` of id, timestamp and body, with a blank between two.",
}
_IF_NONE_MATCH: Json = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The `ETag` of the answer that the caller has.",
    "schema": {"type": "string"},
}
_IF_MATCH: Json = {
    "name": "If-Match",
    "in": "header",
    # A call without it is answered 428.
    "required": False,
    "description": "The `ETag` of what the caller has read and changes: a version.",
    "schema": {"type": "string", "pattern": '^"[0-9]{1,9}"$'},
}
# Client generators read this as bytes; OpenAPI 3.1 itself would omit the schema.
_BYTES: Json = {"type": "string", "format": "binary"}
_RANGES: tuple[Json, ...] = (
    {
        "name": "Range",
        "in": "header",
        "required": False,
        "description": "One range of bytes, such as `bytes=0-1023`.",
        "schema": {"type": "string"},
    },
    {
        "name": "If-Range",
        "in": "header",
        "required": False,
        "description": "An `ETag`: with another one, `Range` does not count.",
        "schema": {"type": "string"},
    },
)
_IDEMPOTENCY_KEY: Json = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A text of the client's own, new for each thing that it makes. A call that is "
    "repeated with the same key within 24 hours makes nothing twice.",
    "schema": {"type": "string", "pattern": KEY_PATTERN},
}
_NEEDED_KEY: Json = {
    **_IDEMPOTENCY_KEY,
    "required": True,
    "description": "A text of the client's own, new for each thing that it makes. However often a "
    "call is repeated with the same key, it makes nothing twice.",
}


_PROBLEM = "application/problem+json"
# The gateway, the firewall and the routing refuse calls that no operation has seen. A client that
# knew only the operations' own codes could not read these answers.
_CODES_OF_ANY_CALL = {
    *(each["code"] for each in GATEWAY_RESPONSES.values()),
    *(each.code for each in Problem.__subclasses__() if each.__module__ == errors.__name__),
}
# The most bytes of a value as Lambda sends it, where its length in characters says too little.
MAX_BYTES = "x-plaza-max-bytes"
_PAGE = "text/html"
_PROBLEM_PAGE = {"schema": {"type": "string", MAX_BYTES: ProblemPage.max_bytes}}


def document(operations: Iterable[Operation], version: str) -> Json:
    """Return the document of the operations that are declared."""
    declared = [each for each in operations if is_declared(each)]
    schemas = Schemas(declared, [each.payload for each in KINDS.values()])
    paths: Json = {}
    examples: dict[str, Json] = {}
    for operation in declared:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(
            operation, schemas
        )
        examples |= {each.code: _example(each) for each in problems(operation)}
    failures = _share_failures(paths)
    parameters = _share_parameters(paths)
    answers = json.dumps([paths, failures])
    components = schemas.components
    components["Problem"]["properties"]["code"]["enum"] = sorted({*examples, *_CODES_OF_ANY_CALL})
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "Plaza",
            "version": version,
            "summary": "Comments, an ad network, a social feed, content, analytics and a shop "
            "for any website.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in dict.fromkeys(each.rules.tag for each in declared)],
        "paths": dict(sorted(paths.items())),
        "webhooks": {name: _webhook(name, kind, schemas) for name, kind in KINDS.items()},
        "components": {
            "schemas": dict(sorted(components.items())),
            "responses": failures,
            "examples": dict(sorted(examples.items())),
            "headers": {
                name: {"description": told, "schema": {"type": "string"}}
                for name, told in _HEADERS.items()
                if f'"#/components/headers/{name}"' in answers
            },
            "parameters": parameters
            | {
                name: {
                    "name": name,
                    "in": "header",
                    "required": True,
                    "description": told,
                    "schema": {"type": "string"},
                }
                for name, told in _WEBHOOK_HEADERS.items()
            },
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
            },
        },
    }


def _webhook(name: str, kind: EventKind, schemas: Schemas) -> Json:
    """Return the call that a receiver of these events answers."""
    content = {"application/json": {"schema": schemas.of("serialization", kind.payload)}}
    return {
        "post": {
            "operationId": "on" + "".join(map(str.capitalize, re.split(r"[._]", name))),
            "summary": kind.summary,
            "tags": ["Webhooks"],
            "parameters": [
                {"$ref": f"#/components/parameters/{name}"} for name in _WEBHOOK_HEADERS
            ],
            "requestBody": {"required": True, "content": content},
            "responses": {
                "2XX": {"description": "The receiver has the event."},
                "410": {"description": "The receiver wants no more events."},
            },
        }
    }


def _share_failures(paths: Json) -> Json:
    """Replace each answer that has only problems by a reference; return the answers by name.

    An answer is named by its status and codes, since it says nothing else.
    """
    found: Json = {}
    for operation in (each for methods in paths.values() for each in methods.values()):
        for status, answer in operation["responses"].items():
            kinds = answer.get("content", {}).keys()
            if _PROBLEM in kinds and kinds <= {_PROBLEM, _PAGE}:
                pages = ["page"] if _PAGE in kinds else []
                name = ".".join([status, *answer["x-problem-codes"], *pages])
                found[name] = answer
                operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
    return dict(sorted(found.items()))


def _share_parameters(paths: Json) -> Json:
    """Replace each parameter of several operations by a reference; return these by name.

    A name has the place, and a number from the second parameter of that name and place on.
    """
    lists = [each["parameters"] for methods in paths.values() for each in methods.values()]
    times = Counter(_text(each) for parameters in lists for each in parameters)
    names: dict[str, str] = {}
    taken: Counter[str] = Counter()
    found: Json = {}
    for parameters in lists:
        for place, each in enumerate(parameters):
            text = _text(each)
            if times[text] == 1:
                continue
            if text not in names:
                name = f"{each['in']}.{each['name']}"
                taken[name] += 1
                names[text] = f"{name}.{taken[name]}" if taken[name] > 1 else name
                found[names[text]] = each
            parameters[place] = {"$ref": f"#/components/parameters/{names[text]}"}
    return dict(sorted(found.items()))


def _text(parameter: Json) -> str:
    return json.dumps(parameter, sort_keys=True)


def _operation(operation: Operation, schemas: Schemas) -> Json:
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
    if rules.retired is not None:
        told["deprecated"] = True
    if operation.is_cut:
        told["x-plaza-cut"] = True
    if rules.rows is not None:
        told["x-plaza-rows"] = rules.rows
    if signature.caller is not None and signature.caller.roles:
        told["x-plaza-roles"] = list(dict.fromkeys([*signature.caller.roles, "admin"]))
    if signature.body is not None:
        is_bytes = signature.body is bytes
        schema = _BYTES if is_bytes else schemas.of("validation", signature.body)
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
        yield _parameter(name, "path", plain(adapter.json_schema()), is_required=True)
    if signature.query is not None:
        model = plain(signature.query.model_json_schema(ref_template=f"{SCHEMAS}{{model}}"))
        for name, schema in model["properties"].items():
            is_required = name in model.get("required", ())
            yield _parameter(name, "query", schema, is_required=is_required)
        yield from _open_parameters(model)
    if _is_conditional(operation):
        yield _IF_NONE_MATCH
    if operation.rules.needs_version:
        yield _IF_MATCH
    if _answers_with(operation, HTTPStatus.PARTIAL_CONTENT):
        yield from _RANGES
    if operation.rules.takes_idempotency_key:
        yield _IDEMPOTENCY_KEY
    if operation.rules.needs_idempotency_key:
        yield _NEEDED_KEY


def _open_parameters(model: Json) -> Iterator[Json]:
    """Yield a parameter for each pattern of names that a query takes.

    A client sends an exploded `form` object as one parameter for each property. It never sends the
    object's own name, which is the pattern's `x-plaza-names`.
    """
    for pattern, schema in model.get("patternProperties", {}).items():
        each = {key: value for key, value in schema.items() if key != "x-plaza-names"}
        told = each.pop("description")
        yield {
            "name": schema["x-plaza-names"],
            "in": "query",
            "required": False,
            "description": told,
            "style": "form",
            "explode": True,
            "schema": {
                "type": "object",
                "patternProperties": {pattern: each},
                "additionalProperties": False,
            },
        }


def _parameter(name: str, place: str, schema: Json, *, is_required: bool) -> Json:
    told: Json = {"name": name, "in": place, "required": is_required}
    if "description" in schema:
        told["description"] = schema.pop("description")
    if schema.get("type") == "array":
        told |= {"style": "form", "explode": False}
    return {**told, "schema": schema}


def _is_conditional(operation: Operation) -> bool:
    return _answers_with(operation, HTTPStatus.NOT_MODIFIED)


def _answers_with(operation: Operation, status: HTTPStatus) -> bool:
    return any(each.status == status for each in outcomes(operation))


def _answers(operation: Operation, schemas: Schemas) -> Json:
    told: Json = {}
    for status, media_type, shape, max_bytes in outcomes(operation):
        headers = {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}}
        if operation.rules.tells_location or status in {HTTPStatus.CREATED, HTTPStatus.FOUND}:
            headers["Location"] = {"$ref": "#/components/headers/Location"}
        if _is_conditional(operation) or operation.rules.tells_version:
            headers["ETag"] = {"$ref": "#/components/headers/ETag"}
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            headers["Retry-After"] = {"$ref": "#/components/headers/Retry-After"}
        if status == HTTPStatus.PARTIAL_CONTENT:
            headers["Content-Range"] = {"$ref": "#/components/headers/Content-Range"}
        for name in ("Deprecation", "Sunset") if operation.rules.retired else ():
            headers[name] = {"$ref": f"#/components/headers/{name}"}
        answer: Json = {"description": status.phrase, "headers": headers}
        if media_type is not None:
            content = _content(media_type, shape, schemas)
            if max_bytes is not None:
                content["schema"] = {**content["schema"], MAX_BYTES: max_bytes}
            answer["content"] = {media_type: content}
        known = told.setdefault(str(status.value), answer)
        known.get("content", {}).update(answer.get("content", {}))
    return told


def _content(media_type: str, shape: Any, schemas: Schemas) -> Json:
    """Return what the document says of a body."""
    if shape is bytes:
        return {"schema": _BYTES}
    if shape is None:
        return {"schema": {"type": "object" if media_type == "application/json" else "string"}}
    return {"schema": schemas.of("serialization", shape)}


def _failures(operation: Operation) -> Json:
    by_status: dict[int, list[type[Problem]]] = {}
    for each in sorted(problems(operation), key=lambda problem: problem.code):
        by_status.setdefault(each.status, []).append(each)
    told: Json = {}
    for status, ended in sorted(by_status.items()):
        headers = {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}}
        for name in sorted({each.header for each in ended} - {""}):
            headers[name] = {"$ref": f"#/components/headers/{name}"}
        examples = {each.code: {"$ref": f"#/components/examples/{each.code}"} for each in ended}
        told[str(status)] = {
            "description": "; ".join(dict.fromkeys(each.title for each in ended)),
            "headers": headers,
            "content": {
                _PROBLEM: {
                    "schema": {"$ref": f"{SCHEMAS}Problem"},
                    "examples": examples,
                },
                # A person who opens the address in a browser gets a page.
                **({_PAGE: _PROBLEM_PAGE} if operation.is_for_browsers else {}),
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
