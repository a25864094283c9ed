"""Build what browsers load from `web`: modules joined, made small, named by their content.

Each element becomes one file, with all that it imports but the base of all elements.
Languages other than English have a file for each matter.
The loader alone has a name that stays, and knows the names of this release's files.
"""

import argparse
import gzip
import hashlib
import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

import minify

from chalicelib import __version__
from chalicelib.web.files import CONSOLE, EMBED, LOADER, MANIFEST, PAGE_STYLES, WORKER
from deploy.declared import ROOT

SOURCES = ROOT / "web" / "embed"
CONSOLE_SOURCES = ROOT / "web" / "console"
# Files that the console shares with the elements.
_SHARED_WITH_CONSOLE = ("api.js", "element.js", "keyboard.js", "times.js")
ELEMENTS = {
    "plaza-ad": "ad.js",
    "plaza-bell": "bell.js",
    "plaza-cart": "cart.js",
    "plaza-comments": "comments.js",
    "plaza-count": "count.js",
    "plaza-feed": "feed.js",
    "plaza-hit": "hit.js",
    "plaza-watch": "watch.js",
}
# Modules that an element loads later, if its reader or its site needs them.
LATER = {
    "BUILT_ACTS": "acts.js",
    "BUILT_ADDRESS": "cart-form.js",
    "BUILT_CHANGES": "changes.js",
    "BUILT_CHOICES": "choices.js",
    "BUILT_COMPLETION": "completion.js",
    "BUILT_FLAG": "flag.js",
    "BUILT_GUESTS": "guest.js",
    "BUILT_INBOX": "inbox.js",
    "BUILT_LETTERS": "letters.js",
    "BUILT_MARKS": "marks.js",
    "BUILT_PERSON": "person.js",
    "BUILT_PROVIDERS": "providers.js",
    "BUILT_PUSH": "push.js",
    "BUILT_TOPICS": "topics.js",
    "BUILT_VISIT": "visit.js",
    "BUILT_WRITING": "writing.js",
}
# Modules that the loader itself loads.
OF_LOADER = {"BUILT_BASE": "live.js", "BUILT_SCHEME": "scheme.js"}
# Files that stay modules of their own: browsers load them once for all elements.
_SHARED_BY_ELEMENTS = ("live.js",)
# The language whose words the elements contain.
_OWN_LANGUAGE = "en"
_HASH_CHARACTERS = 12
_IMPORT = re.compile(
    r'^import (?:(?P<one>\w+)|\{ (?P<some>[\w, ]+) \}) from "\./(?P<file>[\w./-]+)";$', re.MULTILINE
)
_TOP_LEVEL = re.compile(r"^(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
_DESTRUCTURING = re.compile(r"^(\s*)const (?=[\[{])", re.MULTILINE)
_LET_BEFORE = re.compile(
    r"^\s*(?P<let>let \w+[^;]*;)\n(?:\s*(?:/\*\*|//)[^\n]*\n)*\s*(?:const|let) [\[{]", re.MULTILINE
)
# Code that no source may have: it breaks a page's policy, or renders text as markup.
_FORBIDDEN = re.compile(
    r"\beval\(|new Function|\.outerHTML|insertAdjacentHTML|\bstyle=|document\.write"
)


class CannotJoin(Exception):
    """Sources that do not fit into one file; the message says which and why."""


def main() -> None:
    """Build, and print the size of each file."""
    argparse.ArgumentParser(prog="script/web", description=__doc__).parse_args()
    for name, text in {**build(EMBED), **build_console(CONSOLE)}.items():
        print(f"{len(gzip.compress(text.encode(), 9)):>7,} B gzip  {name}")


def build(folder: Path) -> dict[str, str]:
    """Write the files into a folder, in place of what it has; return them by name."""
    files = built(SOURCES)
    write(folder, files)
    return files


def build_console(folder: Path) -> dict[str, str]:
    """Write the console's files into a folder, in place of what it has; return them by name.

    They stay modules, each small: what several pages import has one state for all of them.
    """
    files = {file.name: _console_file(file) for file in sorted(CONSOLE_SOURCES.iterdir())}
    files |= {name: _console_file(SOURCES / name) for name in _SHARED_WITH_CONSOLE}
    write(folder, files)
    return files


def _console_file(file: Path) -> str:
    text = file.read_text()
    if found := _FORBIDDEN.search(text):
        raise CannotJoin(f"{file.name} uses {found[0]}")
    if file.suffix == ".css":
        return small(text, "text/css")
    return small(text.replace('"./../embed/', '"./')) if file.suffix == ".js" else text


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder, in place of all that it has."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        replace(folder / name, text)
    for old in folder.iterdir():
        if old.name not in files and old.suffix != ".part":
            old.unlink(missing_ok=True)


def replace(file: Path, text: str) -> None:
    """Replace a file in one step: another process may read or build it meanwhile."""
    if file.exists() and file.read_text() == text:
        return
    with tempfile.NamedTemporaryFile("w", dir=file.parent, suffix=".part", delete=False) as part:
        part.write(text)
    # Lambda reads the package as another user.
    Path(part.name).chmod(0o644)
    Path(part.name).replace(file)


def built(sources: Path) -> dict[str, str]:
    """Return the files that ship, by name; raises CannotJoin."""
    constants = {name: json.dumps(f"./{file}") for name, file in LATER.items()}
    languages = [each.name for each in sorted((sources / "words").iterdir())]
    languages.remove(_OWN_LANGUAGE)
    constants["BUILT_LANGUAGES"] = json.dumps(languages, separators=(",", ":"))
    files = {name: text for each in languages for name, text in _words(sources, each).items()}
    for entry in (*ELEMENTS.values(), *LATER.values(), *OF_LOADER.values()):
        files[entry] = small(joined(sources, entry, constants))
    files[WORKER] = small((sources / WORKER).read_text())
    files[PAGE_STYLES] = small((sources / PAGE_STYLES).read_text(), "text/css")
    release = f"{__version__}-{_hash(files)}"
    addresses = {name: f"../{release}/{entry}" for name, entry in ELEMENTS.items()}
    constants = {name: json.dumps(f"../{release}/{entry}") for name, entry in OF_LOADER.items()}
    constants["BUILT_FILES"] = json.dumps(addresses, separators=(",", ":"))
    files[LOADER] = small(joined(sources, LOADER, constants))
    files[MANIFEST] = json.dumps({"release": release, "files": sorted(files)})
    return files


def _words(sources: Path, language: str) -> dict[str, str]:
    """Return a language's files of words, one for each matter, by name."""
    matters = sorted((sources / "words" / language).glob("*.js"))
    return {f"words-{language}-{file.stem}.js": small(file.read_text()) for file in matters}


def _hash(files: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()[:_HASH_CHARACTERS]


def small(text: str, kind: str = "text/javascript") -> str:
    """Return a minified script or style sheet.

    The minifier moves a destructuring in front of the declaration before it: that declaration, such
    as a reading of the clock, then runs too late. It does not join `const` and `let`, so each
    destructuring becomes a `let`. Raises CannotJoin for a `let` directly before a destructuring.
    """
    if found := _LET_BEFORE.search(text):
        raise CannotJoin(f"a let stands directly before a destructuring: {found['let']}")
    ordered = _DESTRUCTURING.sub(r"\1let ", text)
    return f"{minify.string(kind, ordered)}\n"


def joined(sources: Path, entry: str, constants: Mapping[str, str]) -> str:
    """Return a module with all that it imports, as one module; raises CannotJoin."""
    texts: dict[str, str] = {}
    _read(sources, entry, texts)
    parts = [_part(file, text, is_entry=file == entry) for file, text in texts.items()]
    owners: dict[str, str] = {}
    for file, part in zip(texts, parts, strict=True):
        for name in _TOP_LEVEL.findall(part):
            if owners.setdefault(name, file) != file:
                raise CannotJoin(f"{name} stands in {owners[name]} and in {file}")
    text = "\n".join(parts)
    for name, value in constants.items():
        text = re.sub(rf"\b{name}\b", lambda _: value, text)  # noqa: B023 - called at once
    return text


def _read(sources: Path, file: str, texts: dict[str, str]) -> None:
    """Add a file and its imports to `texts`, each after its own imports; raises CannotJoin."""
    text = (sources / file).read_text()
    if found := _FORBIDDEN.search(text):
        raise CannotJoin(f"{file} uses {found[0]}")
    for imported in _IMPORT.finditer(text):
        if imported["file"] not in (*texts, *_SHARED_BY_ELEMENTS):
            _read(sources, imported["file"], texts)
    texts[file] = text


def _part(file: str, text: str, *, is_entry: bool) -> str:
    """Return a file as a part of one module, where its imports and exports are plain names."""
    if file.endswith(".css"):
        style = json.dumps(small(text, "text/css"), ensure_ascii=False)
        return f"const {_name(file)} = {style};"
    text = _IMPORT.sub(_local, text)
    lines = re.findall(r"^import .*$", text, re.MULTILINE)
    if left := next((each for each in lines if not _is_shared(each)), None):
        raise CannotJoin(f"{file} imports in a form that is not known: {left}")
    if is_entry:
        return text
    text = re.sub(r"^export default \{", f"const {_name(file)} = {{", text, flags=re.MULTILINE)
    return re.sub(r"^export (?!default)", "", text, flags=re.MULTILINE)


def _local(found: re.Match[str]) -> str:
    """Return the statement in place of an import within one module."""
    if _is_shared(found[0]):
        return found[0]
    return f"const {found['one']} = {_name(found['file'])};" if found["one"] else ""


def _is_shared(line: str) -> bool:
    return line.endswith(tuple(f' from "./{file}";' for file in _SHARED_BY_ELEMENTS))


def _name(file: str) -> str:
    """Return the name of a file's default export within a joined module."""
    return re.sub(r"\W", "_", file)


if __name__ == "__main__":
    main()
