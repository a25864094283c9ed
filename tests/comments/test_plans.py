"""What MongoDB reads for the schedule: the nodes that are due, by an index, and no others."""

from typing import Any

import pytest

from chalicelib.comments import nodes
from chalicelib.comments.lifecycle import vacancies
from chalicelib.comments.repair import repair_counts
from chalicelib.comments.stores import promotion
from chalicelib.runtime import Runtime


@pytest.mark.parametrize("sweep", [repair_counts, vacancies.sweep, promotion.resend_moves])
def test_a_sweep_reads_what_is_due(
    runtime: Runtime, sweep: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        nodes.insert(runtime.database, nodes.new_node(f"n{number}"))
    collection = nodes.NODES.of(runtime.database)
    asked: list[Any] = []

    def noted(where: Any, *given: Any) -> Any:
        asked.append(where)
        return collection.find(where, *given)

    class Noting:
        find = staticmethod(noted)

    monkeypatch.setattr(type(nodes.NODES), "of", lambda *_: Noting())
    sweep(runtime)

    (where,) = asked
    plan: Any = collection.find(where).explain()
    assert plan["executionStats"]["totalDocsExamined"] == 0
