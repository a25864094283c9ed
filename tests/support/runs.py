"""What a run of the tests consists of."""

import pytest


def is_whole(config: pytest.Config) -> bool:
    """Return whether all tests were to be run."""
    options = config.option
    chosen = options.keyword or options.markexpr or options.deselect
    chosen = chosen or getattr(options, "lf", False)
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not chosen
