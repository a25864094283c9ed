"""The table of the commands of all features, and their dispatch."""

from typing import Any

from chalicelib.ads import jobs as ads
from chalicelib.comments import repair
from chalicelib.comments.entries import upkeep
from chalicelib.comments.terms import upkeep as terms
from chalicelib.database import migration
from chalicelib.jobs.commands import Arguments, Command, run_command
from chalicelib.runtime import Runtime
from chalicelib.shop import jobs as shop
from chalicelib.social import jobs as social
from chalicelib.social.timelines.repair import copy_walls
from chalicelib.wiring import blocks, happenings, marks, schema


def _init_db(runtime: Runtime, given: Arguments) -> dict[str, list[str]]:
    report = migration.migrate(
        runtime.database,
        schema.collections(runtime.settings),
        schema.FAMILIES,
        contract=given["contract"],
    )
    return {"done": report.done, "left": report.left}


COMMANDS = (
    Command("init_db", _init_db, optional={"contract": False}),
    Command(
        "reconcile_ads",
        lambda runtime, given: ads.reconcile(
            runtime, given["campaign_id"], given["from"], given["to"]
        ),
        required=("campaign_id", "from", "to"),
    ),
    Command(
        "verify_news",
        lambda runtime, given: social.verify_news(runtime, given["user_id"]),
        required=("user_id",),
    ),
    Command(
        "copy_walls",
        lambda runtime, given: copy_walls(runtime, given["after"]),
        optional={"after": ""},
    ),
    Command(
        "verify_stock",
        lambda runtime, given: shop.verify_stock(runtime, given["site"], given["sku"]),
        required=("site", "sku"),
    ),
    Command(
        "verify_marks",
        lambda runtime, given: marks.verify(runtime, given["kind"], given["after"]),
        required=("kind",),
        optional={"after": ""},
    ),
    Command(
        "choose_mark_design",
        lambda runtime, given: marks.choose(
            runtime, given["kind"], given["thing"], given["design"]
        ),
        required=("kind", "thing", "design"),
    ),
    Command(
        "join_blocks",
        lambda runtime, given: blocks.join(runtime, given["after"]),
        optional={"after": ""},
    ),
    Command(
        "settle_actions",
        lambda runtime, given: happenings.settle_again(runtime, given["after"]),
        optional={"after": ""},
    ),
    Command(
        "rerender_comments",
        lambda runtime, given: repair.render_again(runtime, after=given["after"]),
        optional={"after": ""},
    ),
    Command(
        "compare_entries",
        lambda runtime, given: upkeep.compare_nodes(
            runtime, given["after"], is_repairing=given["repair"]
        ),
        optional={"after": "", "repair": False},
    ),
    Command(
        "compare_terms",
        lambda runtime, given: terms.compare_nodes(
            runtime, given["after"], is_repairing=given["repair"]
        ),
        optional={"after": "", "repair": False},
    ),
)


def run(runtime: Runtime, event: Any) -> Any:
    """Run the command that an event names; raises InvalidCommand."""
    return run_command(runtime, COMMANDS, event)
