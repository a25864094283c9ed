"""What the ad network's schedules do; every part may run twice at once, or miss a run."""

from chalicelib.ads import transfers
from chalicelib.runtime import Runtime


def tend(runtime: Runtime) -> dict[str, int]:
    """Finish what others have left unfinished; return what was done, by name."""
    return transfers.clean_up(runtime.database, runtime.now())
