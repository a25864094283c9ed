"""Wheels of the package, verified by hash: Chalice's own download checks none."""

import shutil
import subprocess
import sys
from pathlib import Path

# Lambda's processors: their names in uv's platforms. A function on arm64 is a fifth cheaper.
ARCHITECTURES = {"x86_64": "x86_64", "arm64": "aarch64"}
# The first Python whose Lambda runtime is Amazon Linux 2023, which has glibc 2.34.
_AMAZON_LINUX_2023 = (3, 12)


class UnverifiedPackage(Exception):
    """A wheel does not match the requirements, or is not available; uv has printed why."""


def install_verified(requirements: Path, folder: Path, architecture: str = "x86_64") -> None:
    """Install pinned requirements for Lambda into a folder, on any machine.

    Nothing is built. Raises UnverifiedPackage if a wheel's hash is not in the requirements.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    glibc = "2_34" if sys.version_info >= _AMAZON_LINUX_2023 else "2_17"
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--system-certs"]
    command += ["--require-hashes", "--no-build", "--no-deps", "--target", str(folder)]
    platform = f"{ARCHITECTURES[architecture]}-manylinux_{glibc}"
    command += ["--python-platform", platform, "--python-version", version]
    done = subprocess.run([*command, "-r", str(requirements)], check=False)  # noqa: S603
    if done.returncode:
        raise UnverifiedPackage(f"the wheels of {requirements.name} could not be verified")
    # Files of uv itself, and commands that no function calls.
    (folder / ".lock").unlink(missing_ok=True)
    shutil.rmtree(folder / "bin", ignore_errors=True)
