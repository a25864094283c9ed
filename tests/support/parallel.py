"""How the tests are shared out where several workers run them."""

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[2]
MARK = "pytestmark = pytest.mark.processes"


class ProcessesTogether(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each test to the next worker that is free, but files marked `processes` to one worker.

    Their tests share what is slow to make, and no two of them take the machine from each other.
    As the largest group they are begun with.
    """

    def _split_scope(self, nodeid: str) -> str:
        path, _, _ = nodeid.partition("::")
        return "processes" if _is_marked(path) else nodeid


@cache
def _is_marked(path: str) -> bool:
    """Return whether a file has the mark; the scheduler knows tests by name alone."""
    return MARK in (ROOT / path).read_text().splitlines()
