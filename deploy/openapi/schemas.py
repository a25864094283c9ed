"""The JSON Schemas of the API's document, made by pydantic from models and TypedDicts."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from chalicelib.http.outcomes import outcomes
from chalicelib.http.requests import MAX_ERRORS
from chalicelib.http.routing import Operation

Json = dict[str, Any]
Mode = Literal["validation", "serialization"]
SCHEMAS = "#/components/schemas/"


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
    errors: NotRequired[Annotated[list[FieldFault], Field(max_length=MAX_ERRORS)]]
    facts: NotRequired[
        Annotated[
            dict[str, Any],
            Field(description="What a program needs to go on; its members depend on the `code`."),
        ]
    ]


class Schemas:
    """The JSON Schemas of all bodies and answers, made in one go so that they share components."""

    def __init__(self, operations: Sequence[Operation], payloads: Iterable[type] = ()) -> None:
        wanted: list[tuple[Mode, Any]] = [("serialization", ProblemAnswer)]
        wanted += [("serialization", each) for each in payloads]
        for operation in operations:
            wanted += [("serialization", each.shape) for each in outcomes(operation)]
            wanted.append(("validation", operation.signature.body))
        kinds = [each for each in dict.fromkeys(wanted) if each[1] not in {None, bytes}]
        numbered = [(number, mode, TypeAdapter(kind)) for number, (mode, kind) in enumerate(kinds)]
        made, shared = TypeAdapter.json_schemas(numbered, ref_template=f"{SCHEMAS}{{model}}")
        self._made: dict[tuple[Mode, Any], Json] = {
            kinds[number]: plain(schema) for (number, _mode), schema in made.items()
        }
        components = {name: plain(each) for name, each in shared["$defs"].items()}
        components["Problem"] = components.pop("ProblemAnswer")
        self.components: Json = components

    def of(self, mode: Mode, kind: Any) -> Json:
        """Return the schema of a type, or a reference to it."""
        return self._made[mode, kind]


def plain(schema: Any) -> Any:
    """Return a schema without pydantic's titles, which repeat the names of fields."""
    if isinstance(schema, list):
        return [plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        # A field may itself be called "title": its schema is no text. Examples are no schemas.
        name: each if name == "examples" and isinstance(each, list) else plain(each)
        for name, each in schema.items()
        if name != "title" or not isinstance(each, str)
    }
