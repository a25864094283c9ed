"""How the tests are shared out where several workers run them."""

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[2]
MARK = "pytestmark = pytest.mark.processes"
# Folders with many such tests, which share what is slow to make: packages, a browser.
_OWN_GROUPS = ("deploy", "local", "web")


class ProcessesFirst(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each test to the next worker that is free, but those of a group to one worker.

    The groups are the tests of files marked `processes`, which mostly wait. As the largest they are
    begun with, each on a worker, and the others fill up what is left.
    """

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def unit_of(nodeid: str) -> str:
    """Return the unit in which a worker takes a test: its group, or the test alone."""
    path, _, _ = nodeid.partition("::")
    if not _is_marked(path):
        return nodeid
    folder = path.split("/")[1]
    return f"processes of {folder}" if folder in _OWN_GROUPS else "processes"


@cache
def _is_marked(path: str) -> bool:
    """Return whether a file has the mark; the scheduler knows tests by name alone."""
    return MARK in (ROOT / path).read_text().splitlines()
