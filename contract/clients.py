"""Make clients from the API's document: a Python package, and TypeScript's types.

Neither is committed: the document is the contract, and a client is made anew for each release.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from contract.programs import NoNode, node_modules, program
from deploy.declared import ROOT
from deploy.openapi.files import KEPT

TYPESCRIPT = ROOT / "contract" / "typescript"
PYTHON = ROOT / "contract" / "python"


def main() -> None:
    """Make the clients that the command line names."""
    parser = argparse.ArgumentParser(prog="script/clients", description=__doc__)
    parser.add_argument("language", choices=("python", "typescript"))
    parser.add_argument("out", type=Path, help="the folder to write to")
    given = parser.parse_args()
    # The scripts run in the project's folder, wherever they were called from.
    out = Path(os.environ.get("PLAZA_CALLED_FROM", ".")).resolve() / given.out
    try:
        print(python_client(out) if given.language == "python" else typescript_types(out))
    except NoNode as failure:
        sys.exit(f"No types were made: {failure}.")


def python_client(out: Path) -> Path:
    """Write the package `plaza_client` into a folder; return its path. It needs httpx and attrs."""
    package = out / "plaza_client"
    command = [program("openapi-python-client"), "generate", "--meta", "none", "--overwrite"]
    command += ["--fail-on-warning", "--config", str(PYTHON / "generator.yml")]
    # The generator formats what it writes with the ruff that it finds.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "openapi.json"
        document.write_text(json.dumps(_with_one_body_each(json.loads(KEPT.read_text()))))
        subprocess.run(  # noqa: S603 - our own environment's program
            [*command, "--path", str(document), "--output-path", str(package)],
            check=True,
            env={**os.environ, "PATH": path},
            stdout=subprocess.DEVNULL,
        )
    return package


def _with_one_body_each(document: dict[str, Any]) -> dict[str, Any]:
    """Leave JSON alone where a body may be JSON: a browser's beacon names it `text/plain`."""
    for operations in document["paths"].values():
        for operation in operations.values():
            content = operation.get("requestBody", {}).get("content", {})
            if "application/json" in content:
                content.pop("text/plain", None)
    return document


def typescript_types(out: Path) -> Path:
    """Write `plaza.d.ts` into a folder; return its path. Raises NoNode without npm."""
    types = out / "plaza.d.ts"
    tool = str(typescript_tools() / "openapi-typescript")
    out.mkdir(parents=True, exist_ok=True)
    # A field with a default may be left out of what is sent.
    command = [tool, str(KEPT), "--output", str(types), "--default-non-nullable", "false"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - pinned by its lock
    return types


def typescript_tools() -> Path:
    """Install what package-lock.json pins, once; return the folder of its programs.

    Raises NoNode without npm.
    """
    return node_modules(TYPESCRIPT) / ".bin"


if __name__ == "__main__":
    main()
