"""Files of every format from their first byte to the discussions that readers see."""

import io
from pathlib import Path

import pytest

from chalicelib.comments import nodes
from chalicelib.comments.importing import running, verifying
from chalicelib.comments.importing.formats.detection import PARSERS
from chalicelib.comments.importing.identities import PageAddresses
from chalicelib.comments.importing.running import ImportOrder
from chalicelib.runtime import Runtime
from tests.comments.importing.support.reading import written
from tests.comments.importing.support.written_files import NAMES, format_of
from tests.comments.support.discussion import Discussion
from tests.comments.support.entries import NONE, difference
from tests.comments.support.importing import everything
from tests.support.clock import START, Clock

FILES = Path(__file__).parent / "formats" / "files"
ADDRESSES = PageAddresses(base="https://blog.example")
# With pages of one comment each, all of them but the skipped ones.
REAL = [("disqus", "disqus.xml"), ("isso", "isso.json"), ("wordpress", "wordpress.xml")]


def order(name: str, digest: str) -> ImportOrder:
    return ImportOrder("blog", name, digest, ADDRESSES)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *((format_of(name), written(name, 40)) for name in NAMES),
        *((name, (FILES / file).read_bytes()) for name, file in REAL),
    ],
    ids=[*NAMES, *(f"real {name}" for name, _ in REAL)],
)
def test_a_file_comes_over_once(runtime: Runtime, clock: Clock, name: str, content: bytes) -> None:
    clock.time = START.replace(year=2030)

    done = running.run(runtime, order(name, "1"), lambda: PARSERS[name](io.BytesIO(content)))

    counts = done["counts"]
    assert counts["imported"] > 0
    assert counts["imported"] + counts.get("left", 0) >= counts["comments"]
    found = [Discussion(runtime, row["_id"]) for row in nodes.NODES.of(runtime.database).find()]
    assert sum(len(each.stored()) for each in found) == counts["imported"]
    assert all(difference(each) == NONE for each in found)
    before = everything(runtime, ["comments.import"])
    again = running.run(runtime, order(name, "2"), lambda: PARSERS[name](io.BytesIO(content)))
    assert everything(runtime, ["comments.import"]) == before
    assert again["counts"]["present"] == counts["imported"]
    rules = running.conversion_of(runtime, order(name, ""), "", clock())
    compared = verifying.compare(runtime, rules, PARSERS[name](io.BytesIO(content)))
    assert compared.same == counts["imported"]
    assert set(compared.different) <= {"unusable", "missing"}
