"""Schedules and commands of shops; each may run twice at once, or miss a run."""

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
    """Send the messages of overdue jobs again, and make the search words of older rules anew."""
    run_steps(runtime, {"jobs": resend_overdue, "words": indexing.refresh})


def verify_stock(runtime: Runtime, site: str, sku: str) -> dict[str, int]:
    """Return the units that a stock lacks or has too many: by its entries, and by its books."""
    differences = books.verify(runtime, site, sku)
    return {"held": differences["held"], "moved": differences["moved"]}
