"""Fuzz every operation of the document on servers of its own: no 5xx, nothing undeclared.

At once as an admin, whom most operations let in, as nobody, and as an author where only authors
succeed. Each has a database and a server of its own, so that a seed leads to the same calls and the
same state. Each run begins with calls that succeed, and each operation has to succeed once.
"""

import argparse
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from bench.stage import Stage, fresh_stage
from contract.programs import program
from contract.successes import WEBHOOK_SECRET, Prepared, operation_of, prepare
from deploy.declared import ROOT
from deploy.openapi.files import KEPT
from tests.push.support.keys import KEYS
from tests.security.support.world import PICTURE

# The first expects 405 of `HEAD`, `OPTIONS` and `TRACE` too: two are answered, and API Gateway
# refuses the third with 404. Our own check replaces the last: it knows faults beyond any schema.
LEFT_OUT = "unsupported_method,positive_data_acceptance"
_CASES = re.compile(r"^\s*(\d+) generated", re.MULTILINE)


# The callers of the access matrix for whom the fuzz calls.
_CALLERS = {"an admin": "admin", "nobody": "anonymous", "an author": "owner"}


class Run(NamedTuple):
    """A run of the fuzz: its output, its exit code, and the operations that succeeded."""

    output: str
    code: int
    succeeded: set[str]


def main(arguments: Sequence[str] | None = None) -> None:
    """Fuzz, print the number of cases, and exit with 1 if a check failed."""
    parser = argparse.ArgumentParser(prog="script/contract", description=__doc__)
    parser.add_argument("--examples", type=int, default=10, help="an operation; default: 10")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    given, further = parser.parse_known_args(arguments)
    command = _command(given.examples, given.seed, further)
    with (
        tempfile.TemporaryDirectory(prefix="plaza-contract-") as name,
        fresh_stage(Path(name)) as stage,
        ThreadPoolExecutor() as pool,
    ):
        stages = {
            who: replace(stage.with_database(f"plaza-{caller}"), folder=Path(name) / caller)
            for who, caller in _CALLERS.items()
        }
        prepared = {who: prepare(stages[who], caller) for who, caller in _CALLERS.items()}
        begun = {
            who: pool.submit(_fuzz, stages[who], [*command, *_only(who, prepared)], prepared[who])
            for who in _CALLERS
        }
        runs = {who: run.result() for who, run in begun.items()}
    failed = [who for who in runs if runs[who].code]
    for who in failed:
        print(f"As {who}:\n{runs[who].output}")
    refused = [] if further else _find_refused(runs.values())
    if refused:
        print("Never answered with success:", *refused, sep="\n  ")
    cases = sum(int(found) for run in runs.values() for found in _CASES.findall(run.output))
    told = f"failed as {' and '.join(failed)}" if failed else "all as declared"
    print(f"{cases} cases: {told}")
    sys.exit(bool(failed or refused))


def _only(who: str, prepared: Mapping[str, Prepared]) -> list[str]:
    """Return options that leave to an author the operations where nobody else succeeds."""
    if who != "an author":
        return []
    others = {name for each in prepared if each != who for name in prepared[each].successes}
    left = set(prepared[who].successes) - others
    return [f"--include-name={each}" for each in _operations() if operation_of(each) in left]


def _operations() -> list[str]:
    document = json.loads(KEPT.read_bytes())
    return [
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method in methods
    ]


def _find_refused(runs: Iterable[Run]) -> list[str]:
    succeeded = {name for run in runs for name in run.succeeded}
    # The fuzz itself reads the document.
    succeeded.add("GET /openapi.json")
    return [each for each in _operations() if each not in succeeded]


def _command(examples: int, seed: int, further: Sequence[str]) -> list[str]:
    options = ["--max-examples", str(examples), "--seed", str(seed), "--workers", "1"]
    checks = ["--exclude-checks", LEFT_OUT, "--continue-on-failure", "--max-redirects", "0"]
    config = ["--config-file", str(ROOT / "contract" / "schemathesis.toml")]
    return [program("schemathesis"), *config, "run", "--no-color", *options, *checks, *further]


def _fuzz(stage: Stage, command: Sequence[str], prepared: Prepared) -> Run:
    """Start a server and fuzz it."""
    stage.folder.mkdir()
    calls, succeeded = stage.folder / "calls.json", stage.folder / "succeeded"
    picture = base64.b64encode(PICTURE).decode()
    known = prepared.successes
    successes = {
        each: known[operation_of(each)] for each in _operations() if operation_of(each) in known
    }
    calls.write_text(json.dumps({"successes": successes, "picture": picture}))
    succeeded.touch()
    environment = {
        **os.environ,
        "SCHEMATHESIS_HOOKS": "contract.checks",
        "PYTHONPATH": str(ROOT),
        "PLAZA_CONTRACT_CALLS": str(calls),
        "PLAZA_CONTRACT_SUCCEEDED": str(succeeded),
    }
    token = prepared.token
    header = ["--header", f"Authorization: Bearer {token}"] if token else []
    with stage.server(
        PLAZA_STRIPE_WEBHOOK_SECRETS=WEBHOOK_SECRET,
        PLAZA_VAPID_PUBLIC_KEY=KEYS["vapid_public_key"],
    ) as url:
        done = subprocess.run(  # noqa: S603 - our own environment's program
            [*command, f"{url}/openapi.json", *header],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    return Run(done.stdout + done.stderr, done.returncode, set(succeeded.read_text().splitlines()))


if __name__ == "__main__":
    main()
