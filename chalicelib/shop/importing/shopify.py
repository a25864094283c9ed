"""Products in Shopify's CSV file, with the columns of its exports or of its newer template.

Each row has a variant of a product, a further picture, or both. The rows of a product follow each
other; the first has the fields of the product.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from chalicelib.foreign.broken import BrokenFile
from chalicelib.foreign.streams import characters, printable

# The most characters of a row, which may have many lines.
MAX_ROW_CHARACTERS = 8 << 20
MAX_FIELD_CHARACTERS = 4 << 20
# `parse` only counts the variants of a product beyond the first 101; Plaza accepts at most 100.
MAX_VARIANTS = 101
_MAX_VALUE_CHARACTERS = 1_000
MAX_COLUMNS = 10_000
_OPTIONS = (1, 2, 3)

Row = Mapping[str, str]

# From the newer template's name of a column to its name in exports, both in lower case.
_COLUMNS = {
    "url handle": "handle",
    "description": "body (html)",
    "published on online store": "published",
    "sku": "variant sku",
    "price": "variant price",
    "inventory quantity": "variant inventory qty",
    "inventory tracker": "variant inventory tracker",
    "weight value (grams)": "variant grams",
    "product image url": "image src",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopifyVariant:
    """A variant; `options` has three values, in the sequence of the product's `option_names`."""

    line: int
    sku: str
    price: str
    quantity: str
    is_tracked: bool
    options: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class ShopifyProduct:
    """A product of the file.

    `option_names`: always three; a name is empty if the product lacks the option. `pictures`: the
    number of pictures. `more_variants`: the number of variants beyond MAX_VARIANTS.
    """

    line: int
    handle: str
    title: str
    html: str
    vendor: str
    kind: str
    tags: str
    status: str
    is_published: bool
    grams: str
    option_names: tuple[str, ...]
    variants: list[ShopifyVariant] = field(default_factory=list)
    pictures: int = 0
    more_variants: int = 0


def parse(stream: BinaryIO) -> Iterator[ShopifyProduct]:
    """Yield each product of the file; raises BrokenFile."""
    product: ShopifyProduct | None = None
    for line, row in _rows(stream):
        handle, title = row.get("handle", ""), row.get("title", "")
        if product is None or not _is_further(product, handle, title):
            if product is not None:
                yield product
            product = _product(line, row)
        _add(product, line, row)
    if product is not None:
        yield product


def _is_further(product: ShopifyProduct, handle: str, title: str) -> bool:
    """Return whether a line belongs to the product before it."""
    return handle == product.handle if handle else not title


def _product(line: int, row: Row) -> ShopifyProduct:
    return ShopifyProduct(
        line=line,
        handle=row.get("handle", ""),
        title=row.get("title", ""),
        html=row.get("body (html)", ""),
        vendor=row.get("vendor", ""),
        kind=row.get("type", ""),
        tags=row.get("tags", ""),
        status=row.get("status", "").lower(),
        is_published=row.get("published", "").lower() not in {"false", "no", "0"},
        grams=row.get("variant grams", ""),
        option_names=tuple(row.get(f"option{number} name", "") for number in _OPTIONS),
    )


def _add(product: ShopifyProduct, line: int, row: Row) -> None:
    product.pictures += bool(row.get("image src"))
    options = tuple(_short(row, f"option{number} value") for number in _OPTIONS)
    named = (*options, row.get("variant sku"), row.get("variant price"))
    if line != product.line and not any(named):
        return
    if len(product.variants) == MAX_VARIANTS:
        product.more_variants += 1
        return
    product.variants.append(
        ShopifyVariant(
            line=line,
            sku=_short(row, "variant sku"),
            price=_short(row, "variant price"),
            quantity=_short(row, "variant inventory qty"),
            # A file without the column: tracked.
            is_tracked=bool(row.get("variant inventory tracker", "shopify")),
            options=options,
        )
    )


def _short(row: Row, name: str) -> str:
    """Return a value cut to 1,000 characters: memory holds up to 101 variants of a product."""
    return row.get(name, "")[:_MAX_VALUE_CHARACTERS]


def _rows(stream: BinaryIO) -> Iterator[tuple[int, Row]]:
    """Yield the number of each row's first line, and its values by column; raises BrokenFile."""
    csv.field_size_limit(MAX_FIELD_CHARACTERS)
    lines = _Lines(printable(characters(stream)))
    reader = csv.reader(iter(lines), strict=True)
    names: list[str] | None = None
    line = 1
    try:
        for values in reader:
            if names is None:
                names = _names(values)
            elif any(values):
                found = zip(names, values, strict=False)
                yield line, {name: value.strip() for name, value in found if name}
            line = reader.line_num + 1
            lines.row_characters = 0
    except csv.Error as fault:
        raise BrokenFile(f"line {reader.line_num}", str(fault)) from None
    if names is None:
        raise BrokenFile("line 1", "the file is empty")


def _names(head: list[str]) -> list[str]:
    """Return the names of the columns; raises BrokenFile.

    Of columns with the same name, only the first has it; the name of the others is empty.
    """
    if len(head) > MAX_COLUMNS:
        raise BrokenFile("line 1", f"there are more than {MAX_COLUMNS:,} columns")
    plain = [" ".join(each.lower().split()) for each in head]
    names = [_COLUMNS.get(each, each) for each in plain]
    if not {"handle", "title"} <= {*names}:
        raise BrokenFile("line 1", "there are no columns Handle and Title")
    places = {name: number for number, name in reversed(list(enumerate(names)))}
    return [name if places[name] == number else "" for number, name in enumerate(names)]


class _Lines:
    """The lines of a text with line ends; `_rows` resets `row_characters` after each CSV row."""

    def __init__(self, chunks: Iterable[str]) -> None:
        self._chunks = chunks
        self.row_characters = 0

    def __iter__(self) -> Iterator[str]:
        """Yield the lines; raises BrokenFile for a row that is too long."""
        rest, number = "", 0
        for chunk in self._chunks:
            *lines, rest = (rest + chunk).split("\n")
            for line in lines:
                number += 1
                self.row_characters += len(line)
                self._check(0, number)
                yield f"{line}\n"
            self._check(len(rest), number + 1)
        if rest:
            yield rest

    def _check(self, more: int, number: int) -> None:
        if self.row_characters + more > MAX_ROW_CHARACTERS:
            raise BrokenFile(f"line {number}", "the row is too long")
