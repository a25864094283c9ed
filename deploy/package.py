"""Write a stage's Lambda package and its SAM template into a folder."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from deploy.bytecode import add_bytecode
from deploy.declared import CONFIG, ROOT, stage_environment
from deploy.template import merge_template


def main() -> None:
    """Package the stage of the command line."""
    parser = argparse.ArgumentParser(prog="script/package", description=__doc__)
    parser.add_argument("stage", choices=sorted(CONFIG["stages"]))
    parser.add_argument("out", type=Path, help="the folder to write deployment.zip and sam.json to")
    given = parser.parse_args()
    # The scripts run in the project's folder, wherever they were called from.
    out = Path(os.environ.get("PLAZA_CALLED_FROM", ".")).resolve() / given.out
    package(given.stage, out)
    print(f"{out / 'deployment.zip'} and {out / 'sam.json'}")


def package(stage: str, out: Path) -> None:
    """Write `deployment.zip` and `sam.json` of a stage into `out`."""
    environment = {**os.environ, **stage_environment(stage), "PYTHONDONTWRITEBYTECODE": "1"}
    # Chalice insists on one; the template names none, so it deploys anywhere.
    environment.setdefault("AWS_DEFAULT_REGION", "us-east-1")
    # The app is imported to learn its queues, as the stage names them.
    os.environ.update(environment)
    from app import app

    for cache in (ROOT / "chalicelib").rglob("__pycache__"):
        # Chalice would ship it.
        shutil.rmtree(cache, ignore_errors=True)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as merged:
        json.dump(merge_template(app, stage), merged)
        merged.flush()
        chalice = str(Path(sys.executable).with_name("chalice"))
        command = [chalice, "--project-dir", str(ROOT), "package"]
        options = ["--stage", stage, "--merge-template", merged.name, str(out)]
        subprocess.run([*command, *options], check=True, env=environment)  # noqa: S603
    add_bytecode(out / "deployment.zip")


if __name__ == "__main__":
    main()
