"""The schedule of due deliveries and of hooks that ended."""

from chalicelib.jobs.schedules import run_steps
from chalicelib.runtime import Runtime
from chalicelib.webhooks import deliveries, notifications


def resend_overdue(runtime: Runtime) -> None:
    """Send messages again for overdue deliveries, and report the hooks that Plaza switched off."""
    steps = {"deliveries": deliveries.WORK.sweep, "ends": notifications.report_ends}
    run_steps(runtime, steps)
