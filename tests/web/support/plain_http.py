"""Pages of plain http, which browsers trust less: under names that are not the machine's own.

Browsers count `localhost` and `127.0.0.1` as secure contexts. The browser of the tests resolves all
names under `.test` to this machine, and these are not.
"""

import re
from collections.abc import Iterator, Mapping

from playwright.sync_api import Page

# Members of objects that have a well-known name; any other member counts wherever it is read.
_OWNERS = {"Crypto": "crypto", "Navigator": "navigator", "Document": "document", "Screen": "screen"}
_COMMENT = re.compile(r"/\*.*?\*/|^\s*//[^\n]*|(?<=[;{},])\s*//[^\n]*", re.DOTALL | re.MULTILINE)
_NAMES = """() => {
    const found = Object.getOwnPropertyNames(window);
    for (const name of [...found]) {
        const owner = window[name];
        if (typeof owner !== "function") continue;
        for (const each of [owner, owner.prototype || {}])
            found.push(...Object.getOwnPropertyNames(each).map((member) => `${name}.${member}`));
    }
    return found;
}"""


def at_name(address: str, name: str, now: str = "127.0.0.1") -> str:
    """Return the address of a server of this machine under another name."""
    return address.replace(now, name, 1)


def missing_names(secure: Page, plain: Page) -> set[str]:
    """Return what scripts of a secure page have and those of another lack.

    A global is its name, a member `Owner.member`, where the owner itself is on both.
    """
    missing = set(secure.evaluate(_NAMES)) - set(plain.evaluate(_NAMES))
    return {name for name in missing if name.partition(".")[0] not in missing or "." not in name}


def unguarded(source: str, missing: set[str]) -> list[str]:
    """Return what a source uses of `missing` names without `?.` right behind, in its order."""
    text = _COMMENT.sub("", source)
    # Most names stand in no source, which is found out faster without patterns.
    named = [name for name in missing if name.rpartition(".")[2] in text]
    uses = [use for name in named for use in _uses(text, name)]
    return [text[start:end] for start, end in sorted(uses)]


def _uses(text: str, name: str) -> Iterator[tuple[int, int]]:
    for pattern in _patterns(name):
        for found in re.finditer(pattern, text):
            if not text.startswith("?.", found.end()):
                yield found.span()


def _patterns(name: str) -> list[str]:
    owner, _, member = name.partition(".")
    if not member:
        # Of a global that is not there, `?.` asks in vain: it has to be a member of `window`.
        return [rf"(?<![\w$.\"'#-]){owner}\??(?=[.(\[])", rf"\b(?:window|globalThis)\.{owner}\b"]
    if owner not in _OWNERS:
        return [rf"\.{member}\b"]
    place = _OWNERS[owner]
    return [
        rf"\b{place}\??\.{member}\b",
        rf"\b{place}\[[\"']{member}[\"']\]",
        rf"\{{[^{{}}]*\b{member}\b[^{{}}]*\}} = (?:window\.)?{place}\b",
    ]


def all_unguarded(sources: Mapping[str, str], missing: set[str]) -> list[str]:
    """Return the unguarded uses of several files, each after the name of its file."""
    return [f"{file}: {use}" for file, text in sources.items() for use in unguarded(text, missing)]
