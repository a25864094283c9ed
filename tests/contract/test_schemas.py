"""The document's patterns and schemas in JavaScript, where clients compile them."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from contract.clients import TYPESCRIPT, typescript_tools
from contract.programs import NoNode
from deploy.openapi.files import KEPT

pytestmark = pytest.mark.processes


def compiled(document: Path) -> Any:
    """Return the document's numbers of patterns and schemas, and all that JavaScript refuses."""
    try:
        typescript_tools()
    except NoNode as failure:
        if "CI" in os.environ:
            raise
        pytest.skip(str(failure))
    command = ["node", str(TYPESCRIPT / "schemas.mjs"), str(document)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def test_javascript_compiles_every_pattern_and_every_schema() -> None:
    found = compiled(KEPT)

    assert found["refused"] == []
    assert found["patterns"] > 400
    assert found["schemas"] > 1_000


def test_a_needless_escape_and_an_unknown_reference_are_refused(tmp_path: Path) -> None:
    spoilt = {
        "components": {
            "schemas": {
                "Link": {"type": "string", "pattern": r"^[^\"]+$"},
                "Page": {"$ref": "#/components/schemas/Nowhere"},
            }
        }
    }
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(spoilt))

    refused = " ".join(compiled(document)["refused"])

    assert "Invalid escape" in refused
    assert "Nowhere" in refused
