"""Installed packages: each version is pinned, and each file has its hash."""

import http.server
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deploy.audit import NotAsked, found
from deploy.declared import ROOT
from deploy.wheels import ARCHITECTURES, UnverifiedPackage, install_verified
from tests.support.stand_ins import answering

pytestmark = pytest.mark.processes

LOCKS = tuple(
    "-".join(filter(None, ("requirements", part))) for part in ("", "local", "dev", "load", "audit")
)
# What a server on one machine imports, and the commands that install no more than it.
IMPORT_LOCALLY = """
import importlib, json, pkgutil, sys
from importlib.metadata import packages_distributions
import app, local
for each in pkgutil.iter_modules(local.__path__, "local."):
    if each.name not in ("local.lambda_runtime", "local.environments"):
        importlib.import_module(each.name)
names = {each.partition(".")[0] for each in sys.modules}
known = packages_distributions()
print(json.dumps(sorted({known[each][0].lower().replace("_", "-") for each in names & {*known}})))
"""


def pins(lock: str) -> dict[str, list[str]]:
    """Return the pinned `name==version` of a locked file, each with its hashes."""
    text = re.sub(r"^ *#.*\n", "", (ROOT / f"{lock}.txt").read_text(), flags=re.MULTILINE)
    found = {}
    for each in re.findall(r"^\S.*(?:\n .*)*", text, re.MULTILINE):
        found[each.split(maxsplit=1)[0]] = re.findall(r"--hash=sha256:[0-9a-f]{64}", each)
    return found


def chosen(lock: str) -> set[str]:
    """Return the packages chosen by name, as the locked file spells them."""
    lines = (ROOT / f"{lock}.in").read_text().splitlines()
    names = [re.split(r" ;|\[.*?\]", line) for line in lines if not line.startswith(("#", "-"))]
    return {"".join(parts[:2] if "==" not in parts[0] else parts[:1]).lower() for parts in names}


@pytest.mark.parametrize("lock", LOCKS)
def test_everything_is_pinned_with_its_hashes(lock: str) -> None:
    found = pins(lock)

    assert chosen(lock) <= found.keys()
    for pin, hashes in found.items():
        assert re.fullmatch(r"[a-z0-9.-]+==[^=]+", pin)
        assert hashes, pin


@pytest.mark.parametrize("lock", LOCKS)
def test_no_file_says_where_packages_come_from(lock: str) -> None:
    for suffix in ("in", "txt"):
        text = (ROOT / f"{lock}.{suffix}").read_text()
        assert "://" not in text
        assert "-index" not in text


def test_what_is_tested_is_what_ships() -> None:
    shipped, local, tested = (pins(f"requirements{part}") for part in ("", "-local", "-dev"))

    assert shipped == {pin: local[pin] for pin in shipped}
    assert local == {pin: tested[pin] for pin in local}


def test_a_server_on_one_machine_imports_no_more_than_is_installed_for_it() -> None:
    command = [sys.executable, "-c", IMPORT_LOCALLY]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    installed = {pin.partition("==")[0] for pin in pins("requirements-local")}

    imported = set(json.loads(done.stdout))
    assert {"chalice", "pymongo", "waitress"} <= imported
    assert imported <= installed


def test_a_wheel_that_is_not_the_one_that_was_chosen_is_refused(tmp_path: Path) -> None:
    ours = (ROOT / "requirements.txt").read_text()
    entry = re.search(r"^mdurl==.*(?:\n +--hash.*)*", ours, re.MULTILINE)
    assert entry
    other = re.sub(r"sha256:(.)", lambda each: f"sha256:{'10'[each[1] == '1']}", entry[0])
    (tmp_path / "good.txt").write_text(entry[0])
    (tmp_path / "other.txt").write_text(other)
    (tmp_path / "unhashed.txt").write_text("mdurl==0.1.2\n")

    install_verified(tmp_path / "good.txt", tmp_path / "good")
    assert (tmp_path / "good" / "mdurl").is_dir()
    for name in ("other", "unhashed"):
        with pytest.raises(UnverifiedPackage):
            install_verified(tmp_path / f"{name}.txt", tmp_path / name)
        assert not (tmp_path / name / "mdurl").exists()


# The processor in the header of a shared library (ELF's `e_machine`).
MACHINES = {"x86_64": 62, "arm64": 183}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_wheel_is_there_for_each_processor(architecture: str, tmp_path: Path) -> None:
    install_verified(ROOT / "requirements.txt", tmp_path, architecture)

    libraries = {
        str(path.relative_to(tmp_path)): int.from_bytes(path.read_bytes()[18:20], "little")
        for path in tmp_path.rglob("*.so*")
    }
    assert {"nh3", "orjson", "pydantic_core", "pymongo"} <= {
        each.split("/")[0] for each in libraries
    }
    assert set(libraries.values()) == {MACHINES[architecture]}, libraries


def report(**package: Any) -> dict[str, Any]:
    return {"dependencies": [{"name": "left-pad", "version": "1.0", "vulns": [], **package}]}


def test_an_advisory_is_a_line_that_says_what_mends_it() -> None:
    advisory = {"id": "PYSEC-1", "aliases": ["CVE-2026-1"], "fix_versions": ["1.1"]}

    assert list(found(report(vulns=[advisory]))) == [
        "left-pad 1.0: PYSEC-1 CVE-2026-1; mended in 1.1"
    ]
    assert list(found(report())) == []


def test_a_package_that_was_not_asked_about_is_not_clean() -> None:
    """pip-audit itself ends with 0 and `No known vulnerabilities found` where it skips all."""
    with pytest.raises(NotAsked, match="not found"):
        list(found(report(skip_reason="not found")))


class Advisories(http.server.BaseHTTPRequestHandler):
    """An advisory service that has one against chalice."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = asked["package"]["name"]
        known = {"id": "PLAZA-1", "summary": "s", "affected": [{"package": asked["package"]}]}
        body = json.dumps({"vulns": [known]} if name == "chalice" else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Advisories)
    with answering(server):
        yield f"http://127.0.0.1:{server.server_port}/v1/query"


def audit(url: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "deploy.audit", "--osv-url", url]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_an_audit_names_what_has_an_advisory_and_fails(service: str) -> None:
    done = audit(service)

    assert done.returncode == 1, done.stderr
    assert re.search(r"chalice 1\.\S+: PLAZA-1; mended in no version yet", done.stdout)
    assert "requirements-load.txt: 0 advisories" in done.stdout


def test_an_audit_that_nobody_answers_says_so_and_fails() -> None:
    done = audit("http://127.0.0.1:9/v1/query")

    assert done.returncode == 2
    assert "nothing is known" in done.stderr
    assert "Traceback" not in done.stderr
