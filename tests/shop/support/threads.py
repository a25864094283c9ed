"""Several at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def in_threads(work: Callable[[int], object], count: int) -> None:
    """Do `work(number)` in as many threads at once; raise what any of them raises."""
    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(work, number) for number in range(count)]:
            done.result()
