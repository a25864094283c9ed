"""What a run of the tests consists of."""

import pytest

# A run that came to its end: one that was interrupted knows nothing of the tests it left out.
ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


# Options that leave tests out.
_CHOOSING = (
    "collectonly",
    "deselect",
    "ignore",
    "ignore_glob",
    "keyword",
    "lf",
    "markexpr",
    "maxfail",
    "stepwise",
)


def is_whole(config: pytest.Config) -> bool:
    """Return whether all tests were to be run."""
    chosen = any(getattr(config.option, each, None) for each in _CHOOSING)
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not chosen
