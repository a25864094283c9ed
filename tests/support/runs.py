"""What a run of the tests consists of."""

import pytest

# A run that came to its end: one that was interrupted knows nothing of the tests it left out.
ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


def is_whole(config: pytest.Config) -> bool:
    """Return whether all tests were to be run."""
    options = config.option
    chosen = options.keyword or options.markexpr or options.deselect
    chosen = chosen or getattr(options, "lf", False)
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not chosen
