"""The types of products, each with the model of its details; an application registers its own.

Details are flat: texts, numbers and yes or no, or lists of them. `facets` are those by which
customers narrow a list down.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.http import Input, parse_part
from chalicelib.registered import name_in
from chalicelib.texts import Line, at_most

# Values of one product, each element of a list counted.
MAX_VALUES = 50
MAX_VALUE_CHARACTERS = 100
MAX_FACETS = 8
MAX_FACETS_SHOWN = 20

Value = str | int | float | bool
ShownShort = Annotated[str, Field(max_length=MAX_VALUE_CHARACTERS)]
ShownValue = ShownShort | int | float | bool
Short = Annotated[Line, at_most(MAX_VALUE_CHARACTERS)]
Several = Annotated[list[Short], Field(max_length=10)]
Colours = Annotated[Several, Field(description="What it is to be had in.")]


def _example(**details: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [details]})


class Details(Input):
    """What a type of product has beside its title and its text."""

    facets: ClassVar[tuple[str, ...]] = ()


class BookDetails(Details):
    """A book."""

    facets = ("author", "language", "binding")
    model_config = _example(author=["Herman Melville"], language="en", binding="hardcover")

    author: Annotated[Several, Field(min_length=1)]
    language: Short | None = None
    binding: Literal["hardcover", "paperback", "audio"] | None = None
    publisher: Short | None = None
    isbn: Annotated[str, Field(pattern=r"^[0-9]{12}[0-9X]$")] | None = None
    pages: Annotated[int, Field(ge=1, le=100_000)] | None = None


class RecordDetails(Details):
    """A record."""

    facets = ("artist", "genre", "medium")
    model_config = _example(artist="Nina Simone", genre=["jazz"], medium="vinyl")

    artist: Short
    genre: Several = Field(default_factory=list)
    medium: Literal["vinyl", "cd", "cassette"]
    year: Annotated[int, Field(ge=1850, le=2100)] | None = None


class ClothingDetails(Details):
    """Something to wear; its sizes are options of its SKUs."""

    facets = ("brand", "colour", "material")
    model_config = _example(brand="Linnet", colour=["red", "blue"], material="linen")

    brand: Short
    colour: Colours = Field(default_factory=list)
    material: Short | None = None


class PartDetails(Details):
    """A part of a machine, such as a bicycle."""

    facets = ("brand", "fits", "material")
    model_config = _example(brand="Ridgeway", fits=["28 inch"], weight_grams=415)

    brand: Short
    fits: Several = Field(default_factory=list)
    material: Short | None = None
    weight_grams: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


# The types by name. An application adds its own before the first request, and before
# `script/openapi`.
PRODUCT_TYPES: dict[str, type[Details]] = {
    "book": BookDetails,
    "record": RecordDetails,
    "clothing": ClothingDetails,
    "part": PartDetails,
}


TypeName = Annotated[
    str,
    AfterValidator(name_in(PRODUCT_TYPES)),
    Field(description="A registered type.", examples=["book"], max_length=40),
]


def checked(name: str, details: Any) -> dict[str, Any]:
    """Return details by the model of a type, as they are stored; raises InvalidRequest."""
    read = parse_part(details, PRODUCT_TYPES[name], "details")
    stored = read.model_dump(mode="json", exclude_none=True)
    kept = {key: _kept(value) for key, value in stored.items() if value != []}
    _check_flat(kept)
    return kept


def _kept(value: Any) -> Any:
    return list(dict.fromkeys(value)) if isinstance(value, list) else value


def _check_flat(details: dict[str, Any]) -> None:
    """Raise InvalidRequest for what no layout keeps, whatever a registered model allows."""
    values = list(values_of(details))
    if len(values) > MAX_VALUES:
        told = f"a product must have at most {MAX_VALUES} values"
        raise InvalidRequest(errors=[FieldError("details", "too_many_values", told)])
    for key, value in values:
        is_long = isinstance(value, str) and len(value) > MAX_VALUE_CHARACTERS
        if is_long or not isinstance(value, Value):
            told = f"a value is a number, yes or no, or {MAX_VALUE_CHARACTERS} characters"
            raise InvalidRequest(errors=[FieldError(f"details.{key}", "value", told)])


def is_list(name: str, key: str) -> bool:
    """Return whether a detail of a type is a list."""
    model = PRODUCT_TYPES.get(name)
    field = model.model_fields.get(key) if model else None
    kind = field.annotation if field else None
    return any(get_origin(each) is list for each in (kind, *get_args(kind)))


def values_of(details: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    """Yield each value of details with its key; a list has several."""
    for key, value in details.items():
        for each in value if isinstance(value, list) else [value]:
            yield key, each


def facets_of(kind: str | None) -> list[str]:
    """Return the facets of a type, or the first of all types; each once."""
    models = PRODUCT_TYPES.values() if kind is None else [PRODUCT_TYPES[kind]]
    names = dict.fromkeys(name for each in models for name in each.facets[:MAX_FACETS])
    return list(names)[:MAX_FACETS_SHOWN]


def facet_values(kind: str | None, facet: str, text: str) -> list[Value]:
    """Return what a text may mean as a value of a facet: a number, in a type that has numbers.

    Nothing if no type takes it.
    """
    names = PRODUCT_TYPES if kind is None else (kind,)
    found: list[Value] = []
    for name in names:
        if facet in PRODUCT_TYPES[name].facets:
            try:
                found.append(_adapter(name, facet).validate_python(text))
            except ValidationError:
                continue
    return found


@lru_cache(maxsize=256)
def _adapter(kind: str, facet: str) -> TypeAdapter[Any]:
    """Return what reads one value of a facet."""
    annotation: Any = PRODUCT_TYPES[kind].model_fields[facet].annotation
    kinds = [each for each in get_args(annotation) if get_origin(each) is list]
    listed = annotation if get_origin(annotation) is list else next(iter(kinds), None)
    return TypeAdapter(get_args(listed)[0] if listed else annotation)
