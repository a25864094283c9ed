"""How the tests are shared out where several workers run them."""

from xdist.scheduler import LoadScopeScheduling

# Folders and files whose tests start processes: packages, servers, clusters, workers to be killed.
PROCESSES = frozenset(
    {
        "deploy",
        "local",
        "resilience",
        "test_action_kill.py",
        "test_bench.py",
        "test_kill.py",
        "test_load_test.py",
        "test_overspending.py",
        "test_readme.py",
        "test_sharding.py",
        "test_transfers.py",
    }
)


class ProcessesTogether(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each test to the next worker that is free, but those of `PROCESSES` to one worker.

    They share what is dear to make, and no two of them take the machine from each other. As the
    largest group they are begun with.
    """

    def _split_scope(self, nodeid: str) -> str:
        path, _, _ = nodeid.partition("::")
        return "processes" if PROCESSES & set(path.split("/")) else nodeid
