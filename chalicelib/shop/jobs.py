"""Schedules and commands of shops; two runs may overlap, and a run may be missing."""

from chalicelib.jobs import outbox
from chalicelib.jobs.schedules import run_steps
from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue import indexing
from chalicelib.shop.categories.messages import JOB, JOBS
from chalicelib.shop.orders import books


def resend_overdue(runtime: Runtime) -> None:
    """Send the messages of the catalogue's overdue jobs again."""
    outbox.sweep(runtime, JOB, JOBS)


def tend_catalogue(runtime: Runtime) -> None:
    """Send the messages of overdue jobs again, and refresh search words made by older rules."""
    run_steps(
        runtime,
        {"jobs": resend_overdue, "words": indexing.refresh, "assets": indexing.count_assets},
    )


def verify_stock(runtime: Runtime, site: str, sku: str) -> dict[str, int]:
    """Return the differences of a stock's counters in units.

    `held`: from its entries. `moved`: from its movements and sales. Both are 0 if it is sound.
    """
    differences = books.verify(runtime, site, sku)
    return {"held": differences["held"], "moved": differences["moved"]}
