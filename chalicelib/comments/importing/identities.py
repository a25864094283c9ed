"""Ids of imported things: each follows from the file, so a second import finds the first."""

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from chalicelib import signing
from chalicelib.comments.importing.shapes import ImportedAuthor, ImportedThread
from chalicelib.comments.page_urls import key_of, plain
from chalicelib.comments.writing.draft import ALPHABET, ID_CHARACTERS
from chalicelib.foreign import people
from chalicelib.mail import addressing

OWN_FORMAT = "plaza"
OWN_ID = re.compile(r"[0-9A-Za-z_-]{1,32}")
_BITS = 5
_KEY_CHARACTERS = 22
# A node's id has at most 256 characters, with its site's 64.
_NAME_CHARACTERS = 150
_SUFFIX_CHARACTERS = 8
_FOREIGN = re.compile(r"[^A-Za-z0-9._~-]+")
_DOTS = re.compile(r"\.{1,2}")


class Source(NamedTuple):
    """An import's site, the format of its file, and the secret for people's ids."""

    site: str
    format: str
    secret: SecretStr


def digest_of(*parts: str | None) -> bytes:
    """Return the digest of a sequence of texts, different for each sequence."""
    return hashlib.sha256(json.dumps(parts).encode()).digest()


def thread_id(key: str) -> str:
    """Return the id of a thread among the rows of an import."""
    return signing.encode(digest_of(key))[:_KEY_CHARACTERS]


def comment_id(source: Source, thread: str, key: str) -> str:
    """Return the id of a comment: ten characters, or for Plaza's own lines the id in the file."""
    if source.format == OWN_FORMAT and OWN_ID.fullmatch(key):
        return key
    number = int.from_bytes(digest_of(source.site, source.format, thread, key))
    digits = (number >> (_BITS * place) for place in range(ID_CHARACTERS))
    return "".join(ALPHABET[digit % len(ALPHABET)] for digit in digits)


def person_id(source: Source, thread: str, author: ImportedAuthor) -> str:
    """Return the id of an imported person, which no account and no guest can have.

    The id follows from the account in the other system, or else from the mail address, or else from
    the name and the thread: a name in two threads may be two people. An address makes another id at
    each site: a publisher cannot look for an address among another site's people.
    """
    if author.account:
        named = ["account", author.account]
    elif author.email:
        named = ["mail", source.site, author.email.strip().casefold()]
    else:
        named = ["name", thread, author.name]
    return _person(source, named)


@lru_cache(maxsize=4_096)
def address_key(address: str, keys: tuple[SecretStr, ...]) -> str | None:
    """Return the keyed hash of an author's address, by the signing key, as guests have it.

    Returns None without keys, and for an unusable address.
    """
    form = addressing.ascii_form(address) if keys else None
    return addressing.address_keys(form, keys)[0] if form else None


def account_id(source: Source, account: str) -> str:
    """Return the id of a voter or mentioned person: the file has only their account."""
    return _person(source, ["account", account])


def _person(source: Source, named: list[str]) -> str:
    return people.imported_id(source.secret, source.format, named)


def node_id(source: Source, thread: ImportedThread, url: str) -> str:
    """Return the wanted id of a thread's node: the path of its address, after the site's name.

    For Plaza's own lines: the id in the file, with this site's name in place of another site's.
    """
    if source.format == OWN_FORMAT:
        name = thread.key.partition(":")[2] or thread.key
        return f"{source.site}:{_clean(name.split(':'), thread.key)}"
    return node_at(source.site, url)


def node_at(site: str, url: str) -> str:
    """Return the wanted id of the node of a page at an address: the path, with `:` for `/`."""
    parts = urlsplit(url)
    segments = [unquote(each) for each in parts.path.split("/") if each]
    if parts.query:
        segments.append(parts.query)
    return f"{site}:{_clean(segments, url)}"


def other_node_id(wanted: str, url: str) -> str:
    """Return the second choice of a node's id, in case another page's node has the wanted id."""
    return f"{wanted}~{key_of(url)[:_SUFFIX_CHARACTERS].replace('_', '-')}"


def _clean(segments: list[str], whole: str) -> str:
    """Return segments as a name; a changed, cut or dots-only name ends with a digest of `whole`."""
    clean = [_FOREIGN.sub("-", each) for each in segments]
    name = ":".join(clean)
    if not name:
        return "home"
    is_same = clean == segments and len(name) <= _NAME_CHARACTERS
    if is_same and not _DOTS.fullmatch(name):
        return name
    suffix = digest_of(whole).hex()[:_SUFFIX_CHARACTERS]
    return f"{name[:_NAME_CHARACTERS]}~{suffix}"


class PageAddresses(NamedTuple):
    """The present addresses of a file's pages.

    base: the address before paths without a host; None: such a path has no address.
    moved: the new address by the key of the old address, or by the old path.
    """

    base: str | None = None
    moved: Mapping[str, str] = {}

    def of(self, url: str | None) -> str | None:
        """Return the present address of a page; None: it has none.

        Raises ValueError for an address that is neither http nor https.
        """
        if not url:
            return None
        found = self.moved.get(old_key(url))
        if found is not None:
            return found
        if url.startswith(("http://", "https://")):
            return plain(url)
        if "://" in url:
            raise ValueError("no address of a page")
        if self.base is None:
            return None
        absolute = f"{self.base.rstrip('/')}/{url.lstrip('/')}"
        return self.moved.get(old_key(absolute)) or plain(absolute)


def old_key(url: str) -> str:
    """Return the key of an old address or path in `PageAddresses.moved`."""
    return key_of(url) if "://" in url else url
