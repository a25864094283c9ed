"""Parts that the commands of `script/plaza` share: files, sites, failures and exit codes."""

import argparse
import contextlib
import os
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from chalicelib.sites.ids import is_site_id

# The exit codes beside 0 and, for a wrong command line, 2.
FAILED, DIFFERENT, BUSY = 1, 3, 4
SAMPLES_SHOWN = 20
EPILOG = """exit codes: 0 done, 1 failed, 2 wrong command line, 3 the file and the site differ,
4 another import of the site runs"""


class Failure(Exception):
    """The command cannot end well; the message is for its caller."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


@contextlib.contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """Yield a file to read; raises Failure."""
    try:
        with path.open("rb") as file:
            yield file
    except OSError as failure:
        raise Failure(f"{path.name}: {failure.strerror}") from None


def path_of(text: str) -> Path:
    """Return a path from the folder where the command was called."""
    return Path(os.environ.get("PLAZA_CALLED_FROM", "")) / text


def site_of(text: str) -> str:
    """Return a site's id; raises ArgumentTypeError."""
    if not is_site_id(text):
        raise argparse.ArgumentTypeError("a site's id has 1 to 64 of a-z 0-9 _ -")
    return text


def add_site(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the site."""
    parser.add_argument("--site", required=True, type=site_of, help="the id of the site")
