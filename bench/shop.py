"""Cost of a shop: its stock, its checkout, its catalogue and the moves of its categories."""

from collections.abc import Iterator

from bench import shop_checkout, shop_lists, shop_moves, shop_stock
from bench.case import Case
from bench.stage import Stage


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield the cases of each."""
    for each in (shop_stock, shop_checkout, shop_lists, shop_moves):
        yield from each.groups(stage)
