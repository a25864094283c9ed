"""Bytecode for the package: without it, each cold start compiles, as Lambda's disk is read-only."""

import compileall
import os
import py_compile
import tempfile
import zipfile
from pathlib import Path

# Where Lambda unpacks a package; tracebacks show it.
LAMBDA_ROOT = "/var/task"
# The first date that a zip can hold: the same content makes the same package.
_NO_DATE = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o644 << 16


def add_bytecode(package: Path) -> None:
    """Add the compiled form of every module to a package.

    Python does not compare it with its source (PEP 552, unchecked), since the two are always
    packaged together. A Python of another minor version ignores it.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with zipfile.ZipFile(package) as archive:
            archive.extractall(root)
        compileall.compile_dir(
            root,
            quiet=2,
            stripdir=folder,
            prependdir=LAMBDA_ROOT,
            workers=os.cpu_count() or 1,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
        with zipfile.ZipFile(package, "a", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(root.rglob("*.pyc")):
                entry = zipfile.ZipInfo(str(file.relative_to(root)), _NO_DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = _READABLE
                archive.writestr(entry, file.read_bytes())
