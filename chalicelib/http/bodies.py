"""JSON bodies, parsed into pydantic models at a bounded cost."""

from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from chalicelib import errors
from chalicelib.errors import FieldError

# Members of objects and elements of arrays: twice what the largest campaign has. Pydantic needs 2
# to 4 µs to refuse one.
MAX_VALUES = 10_000
MAX_ERRORS = 20

Model = TypeVar("Model", bound=BaseModel)


def parse(text: bytes, model: type[Model], limit_bytes: int) -> Model:
    """Return the body as a model; raises BodyTooLarge, InvalidJson or InvalidRequest."""
    if len(text) > limit_bytes:
        raise errors.BodyTooLarge(f"The limit is {limit_bytes} bytes")
    # Every value but the first follows a comma or a colon; long texts contain them too.
    if text.count(b",") + text.count(b":") > MAX_VALUES:
        _count_values(text)
    try:
        return model.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise _problem(error) from None


def parse_part(value: Any, model: type[Model], name: str) -> Model:
    """Return a part of a body as the model that another part names; raises InvalidRequest."""
    try:
        return model.model_validate_json(orjson.dumps(value), strict=True)
    except ValidationError as error:
        raise errors.InvalidRequest(errors=_faults(error, name)) from None


def invalid(error: ValidationError) -> errors.InvalidRequest:
    """Return the problem with pydantic's first errors, without the values that were sent."""
    return errors.InvalidRequest(errors=_faults(error))


def _count_values(text: bytes) -> None:
    """Raise InvalidRequest for more values than any model takes, InvalidJson for invalid JSON."""
    try:
        waiting: list[Any] = [orjson.loads(text)]
    except orjson.JSONDecodeError:
        raise errors.InvalidJson from None
    count = 0
    while waiting:
        value = waiting.pop()
        if not isinstance(value, dict | list):
            continue
        count += len(value)
        if count > MAX_VALUES:
            told = f"a body must have at most {MAX_VALUES} members and elements"
            raise errors.InvalidRequest(errors=[FieldError("", "too_many_values", told)])
        waiting.extend(value.values() if isinstance(value, dict) else value)


def _problem(error: ValidationError) -> errors.Problem:
    faults = _faults(error)
    return (
        errors.InvalidJson()
        if faults[0].code == "json_invalid"
        else errors.InvalidRequest(errors=faults)
    )


def _faults(error: ValidationError, *within: str) -> list[FieldError]:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        FieldError(".".join(map(str, (*within, *fault["loc"]))), fault["type"], fault["msg"])
        for fault in found[:MAX_ERRORS]
    ]
