"""Types of products, each with a model of its details; an application registers its own.

Details are flat: texts, numbers and booleans, or lists of them. Buyers filter lists of products by
the details in `facets`.
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
from chalicelib.texts import Line, at_most, look_of

# Values of one product; each element of a list counts.
MAX_VALUES = 50
MAX_VALUE_CHARACTERS = 100
MAX_FACETS = 8
MAX_FACETS_SHOWN = 20
# The range of MongoDB's 64-bit integers.
_STORED_INTEGERS = range(-(2**63), 2**63)

Value = str | int | float | bool
ShownShort = Annotated[str, Field(max_length=MAX_VALUE_CHARACTERS)]
ShownValue = ShownShort | int | float | bool
Short = Annotated[Line, at_most(MAX_VALUE_CHARACTERS)]
Several = Annotated[list[Short], Field(max_length=10)]
Colours = Annotated[Several, Field(description="What it is to be had in.")]


def _example(**details: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [details]})


class ProductDetails(Input):
    """The fields of a type of product beside title and text."""

    facets: ClassVar[tuple[str, ...]] = ()


class BookDetails(ProductDetails):
    """A book."""

    facets = ("author", "language", "binding")
    model_config = _example(author=["Herman Melville"], language="en", binding="hardcover")

    author: Annotated[Several, Field(min_length=1)]
    language: Short | None = None
    binding: Literal["hardcover", "paperback", "audio"] | None = None
    publisher: Short | None = None
    isbn: Annotated[str, Field(pattern=r"^[0-9]{12}[0-9X]$")] | None = None
    pages: Annotated[int, Field(ge=1, le=100_000)] | None = None


class RecordDetails(ProductDetails):
    """A record."""

    facets = ("artist", "genre", "medium")
    model_config = _example(artist="Nina Simone", genre=["jazz"], medium="vinyl")

    artist: Short
    genre: Several = Field(default_factory=list)
    medium: Literal["vinyl", "cd", "cassette"]
    year: Annotated[int, Field(ge=1850, le=2100)] | None = None


class ClothingDetails(ProductDetails):
    """Something to wear; its sizes are options of its SKUs."""

    facets = ("brand", "colour", "material")
    model_config = _example(brand="Linnet", colour=["red", "blue"], material="linen")

    brand: Short
    colour: Colours = Field(default_factory=list)
    material: Short | None = None


class PartDetails(ProductDetails):
    """A part of a machine, such as a bicycle."""

    facets = ("brand", "fits", "material")
    model_config = _example(brand="Ridgeway", fits=["28 inch"], weight_grams=415)

    brand: Short
    fits: Several = Field(default_factory=list)
    material: Short | None = None
    weight_grams: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class GoodsDetails(ProductDetails):
    """Goods of any other kind, such as those of another shop that moves here."""

    facets = ("brand", "kind")
    model_config = _example(brand="Linnet", kind="Mugs", weight_grams=320)

    brand: Short | None = None
    kind: Short | None = None
    weight_grams: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


# The types by name. An application adds its types before the first request, and before
# `script/openapi`.
PRODUCT_TYPES: dict[str, type[ProductDetails]] = {
    "book": BookDetails,
    "record": RecordDetails,
    "clothing": ClothingDetails,
    "part": PartDetails,
    "goods": GoodsDetails,
}


TypeName = Annotated[
    str,
    AfterValidator(name_in(PRODUCT_TYPES)),
    Field(description="A registered type.", examples=["book"], max_length=40),
]


def check_details(name: str, details: Any) -> dict[str, Any]:
    """Return the stored form of details, by the model of their type; raises InvalidRequest.

    The stored form has no nulls, no empty lists, and each value of a list once.
    """
    read = parse_part(details, PRODUCT_TYPES[name], "details")
    stored = read.model_dump(mode="json", exclude_none=True)
    kept = {key: _distinct(value) for key, value in stored.items() if value != []}
    _check_flat(kept)
    return kept


def _distinct(value: Any) -> Any:
    """Return a list with the first of each group of values that look the same to readers."""
    if not isinstance(value, list):
        return value
    looks = [look_of(each) if isinstance(each, str) else each for each in value]
    return [each for at, each in enumerate(value) if looks.index(looks[at]) == at]


def _check_flat(details: dict[str, Any]) -> None:
    """Raise InvalidRequest for details beyond the storage's bounds, whatever their model allows."""
    values = list(values_of(details))
    if len(values) > MAX_VALUES:
        detail = f"a product must have at most {MAX_VALUES} values"
        raise InvalidRequest(errors=[FieldError("details", "too_many_values", detail)])
    for key, value in values:
        is_long = isinstance(value, str) and len(value) > MAX_VALUE_CHARACTERS
        if is_long or not isinstance(value, Value):
            detail = f"a value is a number, yes or no, or {MAX_VALUE_CHARACTERS} characters"
            raise InvalidRequest(errors=[FieldError(f"details.{key}", "value", detail)])


def is_list(name: str, key: str) -> bool:
    """Return whether a detail of a type is a list."""
    model = PRODUCT_TYPES.get(name)
    field = model.model_fields.get(key) if model else None
    kind = field.annotation if field else None
    return any(get_origin(each) is list for each in (kind, *get_args(kind)))


def values_of(details: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    """Yield each value of details with its key; each element of a list is a value."""
    for key, value in details.items():
        for each in value if isinstance(value, list) else [value]:
            yield key, each


def facets_of(kind: str | None) -> list[str]:
    """Return the facets of a type, at most 8; `kind` None: of all types, each once, at most 20."""
    models = PRODUCT_TYPES.values() if kind is None else [PRODUCT_TYPES[kind]]
    names = dict.fromkeys(name for each in models for name in each.facets[:MAX_FACETS])
    return list(names)[:MAX_FACETS_SHOWN]


def facet_values(kind: str | None, facet: str, text: str) -> list[Value]:
    """Return a text parsed as a facet's value, once for each type that has the facet.

    A type that refuses the text adds no value. `kind` None: all types.
    """
    names = PRODUCT_TYPES if kind is None else (kind,)
    found: list[Value] = []
    for name in names:
        if facet in PRODUCT_TYPES[name].facets:
            try:
                meant = _adapter(name, facet).validate_python(text)
            except ValidationError:
                continue
            if not isinstance(meant, int) or meant in _STORED_INTEGERS:
                found.append(meant)
    return found


@lru_cache(maxsize=256)
def _adapter(kind: str, facet: str) -> TypeAdapter[Any]:
    """Return the adapter that parses one value of a facet, with the bounds of its field.

    For a list, the adapter parses one element, without the bounds of the list itself.
    """
    field = PRODUCT_TYPES[kind].model_fields[facet]
    annotation: Any = field.annotation
    kinds = [each for each in get_args(annotation) if get_origin(each) is list]
    listed = annotation if get_origin(annotation) is list else next(iter(kinds), None)
    if listed:
        return TypeAdapter(get_args(listed)[0])
    return TypeAdapter(Annotated[annotation, *field.metadata] if field.metadata else annotation)
