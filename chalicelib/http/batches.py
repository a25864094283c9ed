"""Batches of ids in a query; an invalid id does not spoil the answer for the other ids."""

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError


def batch_of(kind: Any, most: int, shown_as: Any = None) -> BeforeValidator:
    """Return the validator of 1 to `most` ids of a kind, separated by commas.

    The validator omits an id of the wrong form, as the answer omits an unknown id.
    `shown_as`: the parameter's type in the API's document; None: a list of texts.
    """
    adapter = TypeAdapter(kind, config=ConfigDict(defer_build=True))

    def is_valid(each: str) -> bool:
        try:
            adapter.validate_python(each)
        except ValidationError:
            return False
        return True

    def split(value: object) -> object:
        if not isinstance(value, str):
            return value
        given = [each for each in value.split(",") if each]
        if not 1 <= len(given) <= most:
            raise ValueError(f"there are 1 to {most} of them, separated by commas")
        return [each for each in given if is_valid(each)]

    asked = Annotated[list[str], Field(min_length=1, max_length=most)]
    return BeforeValidator(split, json_schema_input_type=shown_as or asked)
