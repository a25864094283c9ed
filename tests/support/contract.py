"""The contract in the tests: each answer is one that the API's document declares.

The published schemas are open, so that fields can be added; here they are closed, so that a field
that no schema has fails the test whose call was answered with it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import jsonschema_rs
import orjson

from contract.compatibility import resolve
from deploy.openapi.files import KEPT

PROBLEM = "application/problem+json"
# Headers that tell a client what to do next, and those that only some answers of a kind have.
_FOR_CLIENTS = {"Location", "Retry-After", "WWW-Authenticate"}
_TOLD = {*_FOR_CLIENTS, "Content-Range", "ETag"}


class _Operation(NamedTuple):
    """An operation of the document, and which paths are its own."""

    method: str
    path: re.Pattern[str]
    parameters: int
    document: Mapping[str, Any]


class Contract:
    """The document, and what of it has been seen: `putNode 200`, `putNode 404 unknown_node`."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.seen: set[str] = set()
        self._components = _closed(document["components"])
        self._document = document
        self._validators: dict[bytes, jsonschema_rs.Draft202012Validator] = {}
        found = [
            _Operation(method.upper(), _pattern(path), path.count("{"), operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
        ]
        # `/users/me` before `/users/{user}`, as the gateway has it.
        self._operations = sorted(found, key=lambda each: each.parameters)

    def declared(self) -> set[str]:
        """Return every status and every code of a problem that the document declares."""
        return {
            f"{each.document['operationId']} {status}{code}"
            for each in self._operations
            for status, answer in each.document["responses"].items()
            for code in _codes(resolve(self._document, answer))
        }

    def check(self, method: str, target: str, answer: Any) -> None:
        """Fail if an answer's status, code or body is not what its operation declares.

        `answer` has `status`, `headers` and `body`. Calls of no declared operation are left alone.
        """
        operation = self._find(method, target)
        if operation is None:
            return
        name, status = operation.document["operationId"], str(answer.status)
        found = operation.document["responses"].get(status)
        assert found is not None, f"{name} declares no {status}: {answer.body[:300]!r}"
        declared = resolve(self._document, found)
        kind = answer.headers.get("Content-Type", "").partition(";")[0]
        code = ""
        if kind == PROBLEM:
            code = orjson.loads(answer.body)["code"] if answer.body else ""
            assert not code or code in declared["x-problem-codes"], f"{name} declares no {code}"
        self._check_headers((name, status), declared, answer.headers)
        if method != "HEAD":
            self._check_body((name, status, kind), declared.get("content", {}), answer.body)
        self.seen.add(f"{name} {status} {code}".rstrip())

    def _check_headers(
        self, place: tuple[str, str], declared: Mapping[str, Any], sent: Mapping[str, str]
    ) -> None:
        """Fail for a header that is not declared; or declared of a problem, and not sent.

        Of what a call makes, some have an address of their own, and some have that of the call.
        """
        headers = declared.get("headers", {}).keys()
        undeclared = _TOLD & sent.keys() - headers
        assert not undeclared, f"{place} declares no {undeclared}"
        if len(declared.get("x-problem-codes", ())) == 1:
            lacking = _FOR_CLIENTS & headers - sent.keys()
            assert not lacking, f"{place} lacks {lacking}"

    def _check_body(
        self, place: tuple[str, str, str], content: Mapping[str, Any], body: bytes
    ) -> None:
        *_, kind = place
        if not body and not content:
            return
        assert kind in content, f"{place} is not among {list(content)}"
        if not kind.endswith("json"):
            return
        validator = self._validator(content[kind]["schema"])
        fault = next(validator.iter_errors(orjson.loads(body)), None)
        assert fault is None, f"{place}: {fault.message} at {fault.instance_path}"

    def _validator(self, schema: Mapping[str, Any]) -> jsonschema_rs.Draft202012Validator:
        """Return the validator of a schema, with the components that it needs.

        A validator over all components takes 2 MB, and the document declares 2,200 JSON answers,
        whose 121 schemas are often the same.
        """
        key = orjson.dumps(schema)
        if key not in self._validators:
            whole = {**_closed(schema), "components": {"schemas": self._reached(schema)}}
            self._validators[key] = jsonschema_rs.Draft202012Validator(whole)
        return self._validators[key]

    def _reached(self, schema: Any) -> dict[str, Any]:
        """Return the schemas of the components that a schema refers to, by way of others too."""
        found: dict[str, Any] = {}
        waiting = list(_references(schema))
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = self._components["schemas"][name]
                waiting += _references(found[name])
        return found

    def _find(self, method: str, target: str) -> _Operation | None:
        path = target.partition("?")[0]
        wanted = "GET" if method == "HEAD" else method
        for each in self._operations:
            if each.method == wanted and each.path.fullmatch(path):
                return each
        return None


def published() -> Contract:
    """Return the contract of the document as it is committed."""
    return Contract(orjson.loads(KEPT.read_bytes()))


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)))


def _codes(answer: Mapping[str, Any]) -> list[str]:
    codes = [f" {code}" for code in answer.get("x-problem-codes", ())]
    # Browsers get problems as pages, without their code.
    is_success = not codes or not set(answer.get("content", {})) <= {PROBLEM, "text/html"}
    return [*codes, ""] if is_success else codes


def _references(schema: Any) -> Iterator[str]:
    """Return the names of the components that a schema refers to itself."""
    if isinstance(schema, list):
        for each in schema:
            yield from _references(each)
    elif isinstance(schema, dict):
        for name, value in schema.items():
            if name == "$ref":
                yield value.removeprefix("#/components/schemas/")
            else:
                yield from _references(value)


def _closed(schema: Any) -> Any:
    """Return a schema whose objects have the properties that are named, and no others."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(each) for name, each in schema.items()}
    if "properties" in schema and schema.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed
