"""The command `script/plaza`, as an operator calls it: imports, exports, comparisons."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo.errors import ServerSelectionTimeoutError

from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from deploy import discussions
from deploy.declared import ROOT
from deploy.progress_bar import Bar
from tests.comments.support.importing import at_url

pytestmark = pytest.mark.processes

URL = "https://blog.example/a-page"
AT = "2020-01-01T00:00:00.000Z"


def lines(number: int, words: int = 20) -> Iterator[dict[str, Any]]:
    """Yield the lines of an export with so many comments."""
    yield {"plaza": 1, "kind": "export", "site": "old", "at": AT}
    yield {"kind": "node", "id": "old:a-page", "url": URL, "title": "A page", "locked": False}
    for each in range(number):
        yield {
            "kind": "comment",
            "id": f"c{each:09}",
            "parent": f"c{each - 1:09}" if each % 3 else None,
            "posted": f"2020-01-01T{each // 3_600:02}:{each // 60 % 60:02}:{each % 60:02}.000Z",
            "edited": None,
            "author": {"id": f"p{each % 7}", "name": f"Person {each % 7}"},
            "text": f"text {each} " + "word " * words,
            "state": "visible",
            "up": 1,
            "down": 0,
            "votes": [],
        }
    yield {"kind": "end", "nodes": 1, "comments": number}


def write(path: Path, number: int, words: int = 20) -> Path:
    with path.open("w") as file:
        for line in lines(number, words):
            print(json.dumps(line), file=file)
    return path


class Plaza:
    """The command in a folder."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "PLAZA_MONGODB_URI": settings.mongodb_uri.get_secret_value(),
            "PLAZA_DATABASE": settings.database,
            "PLAZA_SIGNING_KEYS": "a signing key of the command as long as it has to be",
        }

    def __call__(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [str(ROOT / "script" / "plaza"), *arguments]
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def plaza(settings: Settings, runtime: Runtime, tmp_path: Path) -> Plaza:
    del runtime  # empties the collections
    return Plaza(settings, tmp_path)


def test_a_file_comes_over_goes_out_and_is_compared(plaza: Plaza, runtime: Runtime) -> None:
    write(plaza.folder / "old.ndjson", 700)

    dry = plaza("import", "--site", "blog", "--dry-run", "old.ndjson")
    nothing = runtime.database["comments.node"].count_documents({})
    done = plaza("import", "--site", "blog", "--format", "plaza", "old.ndjson")
    again = plaza("import", "--site", "blog", "old.ndjson")

    assert (dry.returncode, dry.stderr) == (0, "")
    assert dry.stdout == "700 of 700 comments would be imported\n"
    assert nothing == 0
    assert done.stdout == "700 of 700 comments are imported\n"
    assert again.stdout == "0 of 700 comments are imported\n700 were here already\n"
    assert len(at_url(runtime, URL).walk()) == 700

    same = plaza("verify", "--site", "blog", "old.ndjson")
    out = plaza("export", "--site", "blog")
    packed = plaza("export", "--site", "blog", "out.ndjson.gz")
    copied = plaza("import", "--site", "copy", "out.ndjson.gz")

    assert (same.returncode, same.stdout) == (
        0,
        "700 of 700 comments are here as in the file\n",
    )
    unpacked = gzip.decompress((plaza.folder / "out.ndjson.gz").read_bytes()).decode()
    assert unpacked.splitlines()[1:] == out.stdout.splitlines()[1:]
    assert packed.stdout == "700 comments of blog are in out.ndjson.gz\n"
    assert [path.name for path in plaza.folder.glob("*.part")] == []
    assert copied.stdout == "700 of 700 comments are imported\n"


def test_wxr_is_read_back_and_needs_the_name_of_a_file(plaza: Plaza) -> None:
    write(plaza.folder / "old.ndjson", 40)
    plaza("import", "--site", "blog", "old.ndjson")

    nameless = plaza("export", "--site", "blog", "--format", "wxr")
    out = plaza("export", "--site", "blog", "--format", "wxr", "out.xml.gz")
    copied = plaza("import", "--site", "copy", "out.xml.gz")

    assert nameless.returncode == 1
    assert "needs the name of a file" in nameless.stderr
    assert out.stdout == "40 comments of blog are in out.xml.gz\n"
    assert copied.stdout == "40 of 40 comments are imported\n"


def test_wxr_counts_the_comments_that_it_has(plaza: Plaza, runtime: Runtime) -> None:
    write(plaza.folder / "old.ndjson", 3)
    plaza("import", "--site", "blog", "old.ndjson")
    removed = runtime.database["comments.comment"].update_one({}, {"$set": {"state": "removed"}})
    assert removed.modified_count == 1

    out = plaza("export", "--site", "blog", "--format", "wxr", "out.xml")

    assert out.stdout == "2 comments of blog are in out.xml\n"


def test_a_database_that_does_not_answer_is_told_by_the_name_of_its_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_environment: object) -> Runtime:
        raise ServerSelectionTimeoutError("Topology Description: <...>")

    monkeypatch.setattr(Runtime, "from_environment", fail)
    file = str(write(tmp_path / "old.ndjson", 1))
    monkeypatch.setattr(sys, "argv", ["plaza", "import", "--site=blog", file])

    with pytest.raises(SystemExit) as ended:
        discussions.main()

    assert ended.value.code == (
        "script/plaza: the database of PLAZA_MONGODB_URI does not answer; "
        "the same command goes on from here"
    )


@pytest.mark.parametrize("given", ["", "mongodb://db.example"])
def test_without_an_address_the_database_is_that_of_a_running_local_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    monkeypatch.setattr(discussions, "uri_of_running", lambda _folder: "mongodb://127.0.0.1:9")
    monkeypatch.delenv("PLAZA_MONGODB_URI", raising=False)
    if given:
        monkeypatch.setenv("PLAZA_MONGODB_URI", given)

    found = discussions._environment()

    assert found["PLAZA_MONGODB_URI"] == (given or "mongodb://127.0.0.1:9")
    assert ("for script/server here" in capsys.readouterr().err) == (not given)


@pytest.mark.parametrize("form", ["plaza", "wxr"])
def test_a_folder_that_is_missing_is_told(plaza: Plaza, form: str) -> None:
    write(plaza.folder / "old.jsonl", 1)
    assert plaza("import", "--site=blog", "old.jsonl").returncode == 0
    done = plaza("export", "--site=blog", f"--format={form}", "backups/blog.gz")

    said = "script/plaza: blog.gz cannot be written: No such file or directory\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_what_differs_has_an_exit_code(plaza: Plaza, runtime: Runtime) -> None:
    write(plaza.folder / "old.ndjson", 5)
    plaza("import", "--site", "blog", "old.ndjson")
    at_url(runtime, URL).set_state("c000000003", "hidden")

    found = plaza("verify", "--site", "blog", "old.ndjson")

    assert found.returncode == 3
    assert found.stdout.splitlines() == [
        "4 of 5 comments are here as in the file",
        "1 state",
        "  state: c000000003",
    ]
    assert found.stderr == "script/plaza: the file and the site differ\n"


def test_a_broken_file_an_unknown_one_and_a_running_import_are_told(
    plaza: Plaza, runtime: Runtime
) -> None:
    whole = write(plaza.folder / "old.ndjson", 5).read_text()
    (plaza.folder / "half.ndjson").write_text(whole[: len(whole) // 2])
    (plaza.folder / "other.txt").write_text("Dear all")

    broken = plaza("import", "--site", "blog", "half.ndjson")
    busy = plaza("import", "--site", "blog", "old.ndjson")
    unknown = plaza("import", "--site", "blog", "other.txt")
    missing = plaza("import", "--site", "blog", "none.ndjson")
    wrong = plaza("import", "--site", "Blog", "old.ndjson")

    assert (broken.returncode, broken.stdout) == (1, "")
    assert broken.stderr.startswith("script/plaza: the file is broken at line ")
    assert runtime.database["comments.node"].count_documents({}) == 0
    assert busy.returncode == 4
    assert "another import of the site runs, until 20" in busy.stderr
    assert (unknown.returncode, unknown.stderr.count("\n")) == (1, 1)
    assert "name it with --format" in unknown.stderr
    assert missing.returncode == 1
    assert missing.stderr == "script/plaza: none.ndjson: No such file or directory\n"
    assert wrong.returncode == 2
    assert "a site's id has" in wrong.stderr


def test_addresses_of_the_old_pages_lead_to_the_new(plaza: Plaza, runtime: Runtime) -> None:
    told = [
        {
            "id": "/moon/",
            "title": "Moon",
            "comments": [{"author": "Ann", "created": 1577836800.0, "id": 1, "text": "Full"}],
        }
    ]
    (plaza.folder / "isso.json").write_text(json.dumps(told))
    (plaza.folder / "urls.csv").write_text("/moon/,https://new.example/moon\n")
    (plaza.folder / "wrong.csv").write_text("one\n")

    lost = plaza("import", "--site", "blog", "--format", "isso", "isso.json")
    bad = plaza("import", "--site", "blog", "--url-map", "wrong.csv", "isso.json")
    found = plaza("import", "--site", "blog", "--url-map", "urls.csv", "isso.json")

    assert "1 path_without_base" in lost.stdout
    assert bad.returncode == 2
    assert "an old and a new address" in bad.stderr
    assert (found.returncode, found.stdout) == (0, "1 of 1 comments are imported\n")
    assert at_url(runtime, "https://new.example/moon").texts() == ["Full"]


@pytest.mark.parametrize(
    "command", [[], ["import"], ["export"], ["verify"], ["import-pages"], ["import-products"]]
)
def test_help_reads_well(plaza: Plaza, command: list[str]) -> None:
    told = plaza(*command, "--help")

    assert told.returncode == 0
    assert told.stdout.startswith(f"usage: script/plaza {' '.join(command)}".rstrip())
    assert "exit codes: 0 done" in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 100


def test_a_bar_is_for_terminals_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Bar().show("reading", 0.5, "7 parts")
    assert capsys.readouterr().err == ""

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar = Bar()
    bar.show("reading", 0.5, "7 parts")
    bar.show("reading", 0.6, "too soon")
    bar.end()

    shown = capsys.readouterr().err
    assert "reading [############............]  50% 7 parts, 0 s" in shown
    assert "too soon" not in shown
    assert shown.endswith("\r\x1b[2K")


# Runs `script/plaza import` in a process that tells how far its memory has grown.
MEASURED = """
import re
from pathlib import Path
from deploy import discussions
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
began = peak()
discussions.main()
print("grown", peak() - began)
"""


def test_memory_does_not_grow_with_the_file(plaza: Plaza) -> None:
    """The texts take 29 MB, beside the 48 MB of a batch in its forms."""
    number = 3_000
    write(plaza.folder / "old.ndjson", number, words=1_900)

    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "import", "--site", "blog", "old.ndjson"],
        cwd=ROOT,
        env={**plaza.environment, "PLAZA_CALLED_FROM": str(plaza.folder)},
        capture_output=True,
        text=True,
        check=True,
    )

    report, grown = done.stdout.split("grown ")
    assert report == f"{number:,} of {number:,} comments are imported\n"
    assert int(grown) * 1_024 < 64 * 1_000_000
