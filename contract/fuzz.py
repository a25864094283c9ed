"""Fuzz every operation of the document on servers of its own: no 5xx, nothing undeclared.

Twice, at once: as an admin, whom most operations let in, and as nobody. Each has a database and a
server of its own, so that a seed leads to the same calls and the same state.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.stage import Stage, fresh_stage
from contract.programs import program
from deploy.declared import ROOT
from local.tokens import mint

# API Gateway answers 404 to a method that a path has not, where 405 is expected. The last is
# replaced by our own, which knows the faults that no schema can foresee.
LEFT_OUT = "unsupported_method,positive_data_acceptance"
_CASES = re.compile(r"^\s*(\d+) generated", re.MULTILINE)


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
        stages = {"an admin": stage, "nobody": stage.with_database("plaza-nobody")}
        tokens = {"an admin": _admin(stage), "nobody": None}
        runs = {who: pool.submit(_fuzz, stages[who], command, tokens[who]) for who in stages}
        outputs = {who: run.result() for who, run in runs.items()}
    cases = sum(int(found) for text, _ in outputs.values() for found in _CASES.findall(text))
    failed = [who for who, (_, code) in outputs.items() if code]
    for who in failed:
        print(f"As {who}:\n{outputs[who][0]}")
    told = f"failed as {' and '.join(failed)}" if failed else "all as declared"
    print(f"{cases} cases: {told}")
    sys.exit(bool(failed))


def _command(examples: int, seed: int, further: Sequence[str]) -> list[str]:
    options = ["--max-examples", str(examples), "--seed", str(seed), "--workers", "1"]
    checks = ["--exclude-checks", LEFT_OUT, "--continue-on-failure", "--max-redirects", "0"]
    config = ["--config-file", str(ROOT / "contract" / "schemathesis.toml")]
    return [program("schemathesis"), *config, "run", "--no-color", *options, *checks, *further]


def _admin(stage: Stage) -> str:
    return mint(stage.runtime.settings, stage.runtime.now(), "admin", roles=["admin"])


def _fuzz(stage: Stage, command: Sequence[str], token: str | None) -> tuple[str, int]:
    """Start a server and fuzz it; return the output of schemathesis, and its exit code."""
    with stage.server() as url:
        return _run([*command, f"{url}/openapi.json"], token)


def _run(command: Sequence[str], token: str | None) -> tuple[str, int]:
    """Run schemathesis; return what it printed, and its exit code."""
    header = ["--header", f"Authorization: Bearer {token}"] if token else []
    done = subprocess.run(  # noqa: S603 - our own environment's program
        [*command, *header],
        env={**os.environ, "SCHEMATHESIS_HOOKS": "contract.checks", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr, done.returncode


if __name__ == "__main__":
    main()
