"""Fields for a picture: an address, or an asset, which then counts as used.

A request names an asset by `asset:<id>` or by its address. The database stores `asset:<id>`, and
an answer has the address. So a deployment may move to another host, and a client may send the
picture of an answer unchanged.
"""

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar, get_args

from pydantic import AfterValidator, Field, StringConstraints
from pymongo.client_session import ClientSession
from pymongo.database import Database
from typing_extensions import get_type_hints

from chalicelib.assets import catalogue, uses
from chalicelib.assets.shapes import address_of, parse_reference
from chalicelib.database import Document, in_transaction
from chalicelib.identity import Principal
from chalicelib.texts import check_address

__all__ = ["PictureUrl", "parse_reference"]
Result = TypeVar("Result")
# Marks the type of a field for a picture.
PICTURE = object()
_ID = r"[A-Za-z0-9_-]{16}"


def _check_picture(text: str) -> str:
    """Return a reference to an asset unchanged, and any other address after a check."""
    return check_address(text) if text.startswith("http") else text


PictureUrl = Annotated[
    str,
    StringConstraints(
        pattern=rf'^(asset:{_ID}|/assets/{_ID}|https?://[^\s\x00-\x1f\x7f-\x9f<>"]+)$',
        max_length=2_000,
    ),
    AfterValidator(_check_picture),
    PICTURE,
    Field(
        description="A picture's address, which Plaza does not fetch; or `asset:<id>` for an asset "
        "of your own, or of a site that you write for, which is answered as its address."
    ),
]


@functools.cache
def fields_of(model: Any) -> frozenset[str]:
    """Return the fields of a model that have a picture; none without a model."""
    hints = get_type_hints(model, include_extras=True) if model is not None else {}
    return fields_in(hints)


def fields_in(kinds: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of fields that have a picture; `kinds` are the fields' types."""
    return frozenset(name for name, kind in kinds.items() if _is_picture(kind))


def _is_picture(kind: Any) -> bool:
    marks: Iterable[Any] = getattr(kind, "__metadata__", ())
    return any(each is PICTURE for each in marks) or any(map(_is_picture, get_args(kind)))


def to_references(fields: frozenset[str], given: Document, base: str) -> Document:
    """Return a document with each address of an asset as `asset:<id>`."""
    # An answer of before the deployment had a public address has the path alone.
    own = re.compile(rf"(?:{re.escape(base)})?/assets/({_ID})")
    found = {name: own.fullmatch(given[name]) for name in fields & given.keys()}
    return {**given, **{name: f"asset:{each[1]}" for name, each in found.items() if each}}


def to_addresses(fields: frozenset[str], document: Document, base: str) -> Document:
    """Return a document with an asset's address in place of each `asset:<id>` in `fields`."""
    found = {name: parse_reference(document[name]) for name in fields & document.keys()}
    changed = {name: address_of(base, each) for name, each in found.items() if each}
    return {**document, **changed} if changed else document


def find_assets(fields: frozenset[str], document: Document) -> set[str]:
    """Return the ids of the assets that these fields of a stored document refer to."""
    found = (parse_reference(document[name]) for name in fields & document.keys())
    return {each for each in found if each is not None}


def check(database: Database[Document], asset_ids: set[str], by: Principal) -> None:
    """Raise UnknownAsset unless the caller may show each of these as a picture."""
    uses.check_pictures(database, sorted(asset_ids), by)


def current_versions(database: Database[Document], asset_ids: set[str]) -> dict[str, int]:
    """Return the number of the current version of each asset; raises UnknownAsset."""
    found = {each: catalogue.find(database, each) for each in asset_ids}
    return {
        each: catalogue.stored_version_of(asset, asset["current"])["n"]
        for each, asset in found.items()
    }


def change(
    database: Database[Document], session: ClientSession, before: set[str], after: set[str]
) -> None:
    """Count a use of each asset that a document adds, and release each that it drops.

    Raises UnknownAsset for an added asset that no longer exists.
    """
    uses.use(database, session, sorted(after - before))
    uses.release(database, session, sorted(before - after))


def writing(
    database: Database[Document],
    after: set[str],
    write: Callable[[ClientSession | None], Result],
) -> Result:
    """Call `write`, and count a use of each asset in `after`, in one transaction.

    Without assets, call `write(None)` outside of a transaction. Raises UnknownAsset.
    """
    if not after:
        return write(None)

    def work(session: ClientSession) -> Result:
        change(database, session, set(), after)
        return write(session)

    return in_transaction(database, work)
