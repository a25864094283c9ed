"""The programs that only the contract needs, in an environment of their own."""

from deploy.declared import ROOT
from local.environments import environment

REQUIREMENTS, ENVIRONMENT = ROOT / "requirements-contract.txt", ROOT / ".venv-contract"


def program(name: str) -> str:
    """Return the path of a program, which is installed if it is not there yet."""
    return str(environment(ENVIRONMENT, REQUIREMENTS) / name)
