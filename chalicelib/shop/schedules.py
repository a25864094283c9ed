"""What shops do by the clock; every part may run twice at once, or miss a run."""

from chalice.app import Chalice, CloudWatchEvent, Rate

from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.shop.orders import books, sweep
from chalicelib.shop.tree.messages import JOB, JOBS


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare what runs by the clock."""

    @app.schedule(Rate(1, Rate.MINUTES))
    def tend_catalogue(_event: CloudWatchEvent) -> None:
        resend_overdue(runtime)

    @app.schedule(Rate(1, Rate.MINUTES))
    def tend_shop(_event: CloudWatchEvent) -> dict[str, int]:
        return sweep.sweep(runtime)


def resend_overdue(runtime: Runtime) -> None:
    """Send messages again for the catalogue's jobs that are overdue."""
    outbox.sweep(runtime, JOB, JOBS)


def verify_stock(runtime: Runtime, site: str, sku: str) -> dict[str, int]:
    """Return by how many units a stock differs from what is held, and from its books."""
    differences = books.verify(runtime, site, sku)
    return {"held": differences["held"], "moved": differences["moved"]}
