"""A request's patience with a database that may be gone."""

from pymongo import MongoClient

from chalicelib.database import Document

# API Gateway stops waiting after 29 s, and a cold start may use some of them; an election usually
# ends within 12 s.
REQUEST_SECONDS = 20.0
# Long enough to find a server that has come back: the driver looks at most twice a second.
SHORT_SECONDS = 1.0


class Outage:
    """A container's record of an outage of its database.

    The first request waits for an election. Once a request has waited in vain, the container's
    other requests wait for a second each, until the driver finds a primary. Otherwise an outage
    would block every container all the time.
    """

    def __init__(self, client: MongoClient[Document]) -> None:
        self._client = client
        self._is_suspected = False

    def patience(self) -> float:
        """Return the seconds that the next request may use for the database."""
        if self._is_suspected and self._client.topology_description.has_writable_server():
            self._is_suspected = False
        return SHORT_SECONDS if self._is_suspected else REQUEST_SECONDS

    def suspect(self) -> None:
        """Record that a request failed for lack of the database or of time."""
        self._is_suspected = True
