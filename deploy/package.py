"""Write a stage's Lambda package and its SAM template into a folder."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from chalicelib.http.document import FILE as DOCUMENT
from chalicelib.web.files import CONSOLE, EMBED
from deploy.bytecode import add_bytecode
from deploy.declared import CONFIG, ROOT, stage_environment
from deploy.openapi.files import own_app, ship, written
from deploy.resources import with_few_resources
from deploy.template import merge_template, nested_stacks
from deploy.web import build, build_console
from deploy.wheels import ARCHITECTURES, UnverifiedPackage, install_verified

# Left over from other runs of Python and Chalice.
_CACHES = shutil.ignore_patterns("__pycache__", "deployments", "deployed", "venv")


def main() -> None:
    """Package the stage of the command line."""
    parser = argparse.ArgumentParser(prog="script/package", description=__doc__)
    parser.add_argument("stage", choices=sorted(CONFIG["stages"]))
    parser.add_argument("out", type=Path, help="the folder to write the zip and the templates to")
    parser.add_argument(
        "--architecture",
        choices=sorted(ARCHITECTURES),
        default="x86_64",
        help="the functions' processor: x86_64 unless named",
    )
    given = parser.parse_args()
    # The scripts run in the project's folder, wherever they were called from.
    out = Path(os.environ.get("PLAZA_CALLED_FROM", ".")).resolve() / given.out
    try:
        package(given.stage, out, given.architecture)
    except UnverifiedPackage as failure:
        sys.exit(f"Nothing was packaged: {failure}.")
    print(f"{out / 'deployment.zip'} and {out / 'sam.json'}")


def package(stage: str, out: Path, architecture: str) -> None:
    """Write `deployment.zip` and `sam.json` of a stage into `out`, for a processor."""
    environment = {**os.environ, **stage_environment(stage), "PYTHONDONTWRITEBYTECODE": "1"}
    # Chalice needs a region; the template names none, so it deploys to any region.
    environment.setdefault("AWS_DEFAULT_REGION", "us-east-1")
    # The import reads the environment: the app's queues have the stage's names.
    os.environ.update(environment)
    from app import app

    with tempfile.TemporaryDirectory() as folder:
        project, merged = Path(folder, "project"), Path(folder, "merged.json")
        _copy_project(project, architecture)
        install_verified(ROOT / "requirements.txt", project / "vendor", architecture)
        merged.write_text(json.dumps(merge_template(app, stage)))
        chalice = str(Path(sys.executable).with_name("chalice"))
        command = [chalice, "--project-dir", str(project), "package"]
        options = ["--stage", stage, "--merge-template", str(merged), str(out)]
        subprocess.run([*command, *options], check=True, env=environment)  # noqa: S603
    add_bytecode(out / "deployment.zip")
    main_stack = out / "sam.json"
    _write(main_stack, with_few_resources(json.loads(main_stack.read_text())))
    for nested in nested_stacks(app, stage):
        _write(out / nested.file, nested.template)


def _write(file: Path, template: dict[str, Any]) -> None:
    """Write a template without indentation: that halves it, and CloudFormation takes only 1 MB."""
    file.write_text(json.dumps(template, separators=(",", ":")))


def _copy_project(folder: Path, architecture: str) -> None:
    """Copy the files that ship, without the requirements: Chalice packs only those in `vendor`."""
    shutil.copytree(ROOT / "chalicelib", folder / "chalicelib", ignore=_CACHES)
    shutil.copytree(ROOT / ".chalice", folder / ".chalice", ignore=_CACHES)
    chosen = {**CONFIG, "lambda_architecture": architecture}
    (folder / ".chalice" / "config.json").write_text(json.dumps(chosen))
    shutil.copy(ROOT / "app.py", folder)
    build(folder / EMBED.relative_to(ROOT))
    build_console(folder / CONSOLE.relative_to(ROOT))
    ship(written(own_app()), folder / DOCUMENT.relative_to(ROOT))


if __name__ == "__main__":
    main()
