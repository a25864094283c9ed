"""Discussions of a site from and into files; its pages and products from files.

The deployment's settings stand in the environment. A run that was ended goes on when the same
command is given again. docs/imports.md lists the formats.
"""

import argparse
import contextlib
import csv
import gzip
import hashlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

from pymongo.errors import PyMongoError

from chalicelib.comments.errors import ImportRunning
from chalicelib.comments.importing import exporting, running, verifying, wxr
from chalicelib.comments.importing.formats.detection import HEAD_BYTES, PARSERS, detect
from chalicelib.comments.importing.identities import PageAddresses, old_key
from chalicelib.comments.importing.lease import ImportTakenOver
from chalicelib.comments.importing.rows import Import, ImportSample
from chalicelib.comments.importing.running import ImportOrder, ImportProgress
from chalicelib.comments.importing.shapes import Item
from chalicelib.database import is_outage
from chalicelib.errors import Problem, Unavailable
from chalicelib.foreign.broken import BrokenFile
from chalicelib.runtime import Runtime
from chalicelib.settings import InvalidSettings
from deploy import imports
from deploy.commands_of_files import (
    BUSY,
    DIFFERENT,
    EPILOG,
    SAMPLES_SHOWN,
    Failure,
    add_site,
    opened,
    path_of,
)
from deploy.progress_bar import Bar
from local.local_secrets import FOLDER, local_secrets
from local.mongod import uri_of_running


def import_file(runtime: Runtime, given: argparse.Namespace) -> Iterator[str]:
    """Import a file; yield the lines of the report. Raises Failure."""
    with opened(given.file) as file:
        name, digest = _format_of(given, file), _digest_of(given, file)
        wanted = ImportOrder(given.site, name, digest, _addresses_of(given), given.dry_run)
        size, bar = os.fstat(file.fileno()).st_size, Bar()

        def tell(progress: ImportProgress) -> None:
            if progress.part == "reading":
                bar.show("reading", min(file.tell() / max(size, 1), 1), f"{progress.done:,} parts")
            else:
                bar.show("storing", None, f"{progress.done:,} comments")

        try:
            done = running.run(runtime, wanted, _reader(name, file), tell)
        finally:
            bar.end()
    yield from _report(done)


def export_site(runtime: Runtime, given: argparse.Namespace) -> Iterator[str]:
    """Write the discussions of a site; yield the lines of the report. Raises Failure."""
    bar, number = Bar(), 0

    def counted() -> Iterator[exporting.Line]:
        nonlocal number
        for line in exporting.lines_of(runtime, given.site):
            yield line
            is_written = given.format != "wxr" or line.get("state") in wxr.APPROVED
            number += line["kind"] == "comment" and is_written
            bar.show("exporting", None, f"{number:,} comments")

    try:
        if given.format == "wxr":
            names = _write_wxr(runtime, given, counted())
        else:
            names = _write_lines(given.file, counted())
    finally:
        bar.end()
    if names:
        yield f"{number:,} comments of {given.site} are in {', '.join(names)}"


def _write_lines(path: Path | None, lines: Iterator[exporting.Line]) -> list[str]:
    with _writable(path) as out:
        for line in lines:
            out.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    return [path.name] if path else []


def _write_wxr(
    runtime: Runtime, given: argparse.Namespace, lines: Iterator[exporting.Line]
) -> list[str]:
    """Write one file or more, the second with `-2` in its name; return their names."""
    if given.file is None:
        raise Failure("an export as WXR needs the name of a file: it may become several")
    render = partial(wxr.html_of, runtime, given.site)
    parts = wxr.parts_of(lines, render)
    names: list[str] = []
    for number, of_file in itertools.groupby(parts, key=lambda part: part.file):
        path = _numbered(given.file, number)
        with _writable(path) as out:
            for part in of_file:
                out.write(part.content)
        names.append(path.name)
    return names


def _numbered(path: Path, number: int) -> Path:
    stem, dot, ending = path.name.partition(".")
    return path if number == 1 else path.with_name(f"{stem}-{number}{dot}{ending}")


def verify_file(runtime: Runtime, given: argparse.Namespace) -> Iterator[str]:
    """Compare a file with a site; yield the lines of the report. Raises Failure."""
    with opened(given.file) as file:
        name = _format_of(given, file)
        wanted = ImportOrder(given.site, name, "", _addresses_of(given))
        conversion = running.conversion_of(runtime, wanted, "", runtime.now())
        found = verifying.compare(runtime, conversion, _reader(name, file)())
    yield f"{found.same:,} of {found.comments:,} comments are here as in the file"
    if found.left:
        yield f"{found.left:,} are comments that an import leaves out"
    yield from (f"{number:,} {reason}" for reason, number in found.different.items())
    yield from _samples(found.samples)
    if found.different:
        raise Failure("the file and the site differ", DIFFERENT)


# The codes of comments that come over otherwise than they were, with what they are then.
_CHANGED = {
    "cut": "texts end after 10,000 characters",
    "future": "are of after the import, and have its time",
    "renamed": "authors are Anonymous: they had a name of staff, or none",
    "unknown_parent": "answer a comment that the file does not have, and begin a thread",
    "circle": "answer themselves, and begin a thread",
    "flattened": "replies stand in a discussion without threads",
}


def _report(done: Import) -> Iterator[str]:
    counts = done["counts"]
    title = "would be imported" if done["is_dry_run"] else "are imported"
    yield f"{counts.get('imported', 0):,} of {counts.get('comments', 0):,} comments {title}"
    told = {"present": "were here already", "left": "parts of the file did not come over"}
    yield from (f"{counts[name]:,} {text}" for name, text in told.items() if counts.get(name))
    for name, number in sorted(counts.items()):
        kind, _, reason = name.partition(" ")
        if kind == "reason" and reason not in _CHANGED:
            yield f"  {number:,} {reason}"
    for name, text in _CHANGED.items():
        if number := counts.get(name, 0) or counts.get(f"reason {name}", 0):
            yield f"{number:,} {text}"
    yield from _samples(done["samples"])


def _samples(samples: Sequence[ImportSample]) -> Iterator[str]:
    for sample in samples[:SAMPLES_SHOWN]:
        yield f"  {sample['reason']}: {sample['where']}"


def _reader(name: str, file: BinaryIO) -> Callable[[], Iterator[Item]]:
    def read() -> Iterator[Item]:
        file.seek(0)
        return PARSERS[name](file)

    return read


def _format_of(given: argparse.Namespace, file: BinaryIO) -> str:
    if given.format is not None:
        return str(given.format)
    file.seek(0)
    found = detect(file.read(HEAD_BYTES))
    if found is None:
        raise Failure("the format of the file is unknown: name it with --format")
    return found


def _digest_of(given: argparse.Namespace, file: BufferedReader) -> str:
    file.seek(0)
    whole = hashlib.file_digest(file, "sha256")
    whole.update(json.dumps([given.base, given.url_map and sorted(given.url_map.items())]).encode())
    return whole.hexdigest()


def _addresses_of(given: argparse.Namespace) -> PageAddresses:
    return PageAddresses(given.base, given.url_map or {})


@contextlib.contextmanager
def _writable(path: Path | None) -> Iterator[BinaryIO]:
    """Yield a file that has its name only when it is whole, or the standard output.

    Raises Failure if the file cannot be written.
    """
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            if path.suffix == ".gz":
                with gzip.open(file, "wb") as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield file
        part.replace(path)
    except OSError as failure:
        raise Failure(f"{path.name} cannot be written: {failure.strerror}") from None


def _base_of(text: str) -> str:
    if not text.startswith(("https://", "http://")):
        raise argparse.ArgumentTypeError("it begins with https:// or http://")
    return text


def _url_map_of(text: str) -> Mapping[str, str]:
    """Return the new addresses by the keys of the old ones; raises ArgumentTypeError."""
    try:
        with path_of(text).open(newline="", encoding="utf-8-sig") as file:
            pairs = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as failure:
        raise argparse.ArgumentTypeError(str(failure)) from None
    wrong = next((row for row in pairs if len(row) != 2), None)  # noqa: PLR2004 - old and new
    if wrong is not None:
        raise argparse.ArgumentTypeError(f"a line has an old and a new address, not {wrong}")
    return {old_key(old.strip()): new.strip() for old, new in pairs}


def _parser() -> argparse.ArgumentParser:
    shape: Any = {"formatter_class": argparse.RawDescriptionHelpFormatter, "epilog": EPILOG}
    parser = argparse.ArgumentParser(prog="script/plaza", description=__doc__, **shape)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    bring = commands.add_parser("import", help="import a file of another system", **shape)
    bring.set_defaults(run=import_file)
    bring.add_argument("--dry-run", action="store_true", help="tell what would come over")
    compare = commands.add_parser("verify", help="compare a file with the site", **shape)
    compare.set_defaults(run=verify_file)
    for each in (bring, compare):
        add_site(each)
        named = f"{', '.join(sorted(PARSERS))}; default: by its beginning"
        each.add_argument("--format", choices=PARSERS, metavar="FORMAT", help=named)
        base = "where the pages stand whose addresses are paths, as https://blog.example"
        each.add_argument("--base", type=_base_of, metavar="URL", help=base)
        pairs = "a CSV file of old and new addresses, without a head"
        each.add_argument("--url-map", type=_url_map_of, metavar="CSV", help=pairs)
        each.add_argument("file", type=path_of, metavar="FILE", help="it may be a .gz")
    export = commands.add_parser("export", help="write the discussions of a site", **shape)
    export.set_defaults(run=export_site)
    add_site(export)
    kinds = "plaza (the default), or wxr for Disqus and WordPress"
    export.add_argument("--format", choices=("plaza", "wxr"), metavar="FORMAT", help=kinds)
    out = "default: the standard output; a .gz is compressed"
    export.add_argument("file", nargs="?", type=path_of, metavar="FILE", help=out)
    imports.add_commands(commands, shape)
    return parser


def _environment() -> Mapping[str, str]:
    """Return the settings: without the address of a database, those of a running local server."""
    uri = None if os.environ.get("PLAZA_MONGODB_URI") else uri_of_running(FOLDER / "mongodb")
    if uri is None:
        return os.environ
    print("script/plaza: PLAZA_MONGODB_URI is not set: for script/server here", file=sys.stderr)
    return {**os.environ, **local_secrets(os.environ), "PLAZA_MONGODB_URI": uri}


def main() -> None:
    """Run a command by the settings of the environment, and print its report."""
    given = _parser().parse_args()
    # The lines of an export have the standard output for themselves.
    try:
        runtime = Runtime.from_environment(_environment())
        for line in given.run(runtime, given):
            print(line)
    except Failure as failure:
        print(f"script/plaza: {failure}", file=sys.stderr)
        sys.exit(failure.code)
    except ImportRunning as running_now:
        until = (running_now.facts or {}).get("until", "in a minute")
        print(f"script/plaza: another import of the site runs, until {until}", file=sys.stderr)
        sys.exit(BUSY)
    except (ImportTakenOver, InvalidSettings, PyMongoError, Unavailable) as failure:
        is_gone = isinstance(failure, PyMongoError) and is_outage(failure)
        told = "the database of PLAZA_MONGODB_URI does not answer" if is_gone else failure
        sys.exit(f"script/plaza: {told}; the same command goes on from here")
    except Problem as problem:
        sys.exit(f"script/plaza: {problem.title}")
    except BrokenFile as broken:
        sys.exit(f"script/plaza: the file is broken at {broken}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
