"""Advisories against the packages that Plaza ships or is developed with."""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from deploy.declared import ROOT
from local.environments import environment

# `dev` includes the packages that ship.
FILES = tuple(ROOT / f"requirements-{part}.txt" for part in ("dev", "load", "audit"))
AUDITOR = (ROOT / ".venv-audit", ROOT / "requirements-audit.txt")
CLEAN, FOUND, NOT_ASKED = 0, 1, 2


class NotAsked(Exception):
    """The advisory service did not answer for every package; the message says why."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Audit the requirements; exit with 1 for an advisory, with 2 if the service gave no answer."""
    parser = argparse.ArgumentParser(prog="script/audit", description=__doc__)
    parser.add_argument("--osv-url", help="another address of the advisory service (OSV)")
    given = parser.parse_args(arguments)
    try:
        pip_audit = environment(*AUDITOR) / "pip-audit"
    except subprocess.CalledProcessError:
        # pip has said why.
        print("pip-audit could not be installed, so nothing is known.", file=sys.stderr)
        sys.exit(NOT_ASKED)
    options = ["--osv-url", given.osv_url] if given.osv_url else []
    code = CLEAN
    for file in FILES:
        try:
            advisories = list(found(_answer(pip_audit, file, options)))
        except NotAsked as failure:
            sys.exit(_not_asked(file, failure))
        print(f"{file.name}: {len(advisories)} advisories", *advisories, sep="\n  ")
        if advisories:
            code = FOUND
    if code == FOUND:
        print(
            "Raise what is named in its requirements*.in, or run script/lock --upgrade, and test."
        )
    sys.exit(code)


def found(report: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each advisory of pip-audit's report.

    Raises NotAsked if the service did not answer for a package: that does not mean it is safe.
    """
    for package in report["dependencies"]:
        if reason := package.get("skip_reason"):
            raise NotAsked(reason)
        for advisory in package["vulns"]:
            names = " ".join([advisory["id"], *advisory.get("aliases", [])])
            mended = ", ".join(advisory["fix_versions"]) or "no version yet"
            yield f"{package['name']} {package['version']}: {names}; mended in {mended}"


def _answer(pip_audit: Path, file: Path, options: Sequence[str]) -> dict[str, Any]:
    command = [str(pip_audit), "--vulnerability-service", "osv", "--format", "json", *options]
    # The file lists every package already, so nothing has to be resolved.
    command += ["--require-hashes", "--disable-pip", "--progress-spinner", "off", "-r", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        lines = done.stderr.strip().splitlines() or [f"pip-audit ended with {done.returncode}"]
        raise NotAsked(lines[-1]) from None
    return report


def _not_asked(file: Path, failure: NotAsked) -> int:
    print(
        f"{file.name}: the advisory service could not be asked, so nothing is known.\n"
        f"  {failure}\n"
        "Run script/audit where api.osv.dev can be reached, or name another with --osv-url.",
        file=sys.stderr,
    )
    return NOT_ASKED


if __name__ == "__main__":
    main()
