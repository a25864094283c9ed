"""Calls out of the process, each with a time limit that the other side cannot extend."""

import http.client
import ipaddress
import re
import socket
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from typing import NamedTuple, TypeVar
from urllib.parse import SplitResult, urlsplit

from chalicelib import deadlines

Result = TypeVar("Result")

# The most abandoned calls of a way that may still run; the resolution of an unknown name can hold a
# thread for half a minute.
MOST_ABANDONED = 16
# The time-out of a connection attempt; a running server accepts in far less.
CONNECT_SECONDS = 2.0


class Way:
    """The way to a provider: it bounds the time of each call and the number of abandoned calls."""

    def __init__(self) -> None:
        self._abandoned = 0
        self._lock = threading.Lock()

    def call(self, seconds: float, work: Callable[[], Result]) -> Result:
        """Return the result of `work`; raises its errors, and TimeoutError after `seconds`.

        The invocation's remaining time may shorten the wait. Raises TimeoutError at once if no time
        is left, or while `MOST_ABANDONED` abandoned calls still run. `work` runs in a thread, since
        the time-out of a socket bounds neither a name's resolution nor a server that sends a byte a
        second. Abandoned work runs on.
        """
        patience = deadlines.patience(seconds)
        if patience <= 0 or self._abandoned >= MOST_ABANDONED:
            raise TimeoutError("no time is left for the call")
        outcome: Future[Result] = Future()
        context = copy_context()
        threading.Thread(target=context.run, args=(_run, work, outcome), daemon=True).start()
        try:
            return outcome.result(patience)
        except TimeoutError:
            self._abandon(outcome)
            raise

    def _abandon(self, outcome: "Future[Result]") -> None:
        with self._lock:
            self._abandoned += 1
        # Runs at once if the work has ended meanwhile.
        outcome.add_done_callback(self._count_end)

    def _count_end(self, _outcome: object) -> None:
        with self._lock:
            self._abandoned -= 1


def _run(work: Callable[[], Result], outcome: "Future[Result]") -> None:
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - raised where the call waits
        outcome.set_exception(error)
    else:
        outcome.set_result(result)


class HttpRequest(NamedTuple):
    """A request to the path of `url` with `path` appended.

    `path` may have a query; the query of `url` does not count. Empty `body`: no body.
    """

    url: SplitResult
    method: str
    path: str
    body: str | bytes
    headers: Mapping[str, str]


class HttpAnswer(NamedTuple):
    """An answer; the lookup of a header ignores the case of its name."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


# Answers before the answer, such as early hints (103), that one call may get.
_MOST_INTERIM = 10


class _FinalAnswer(http.client.HTTPResponse):
    """The answer behind those of 102 and 103, which `http.client` would take for it."""

    def begin(self) -> None:
        """Read the status and the headers; raises HTTPException after too many interim answers."""
        for _ in range(_MOST_INTERIM):
            super().begin()
            if not http.HTTPStatus.SWITCHING_PROTOCOLS < self.status < http.HTTPStatus.OK:
                return
            # Without headers, it reads on.
            self.headers = None  # type: ignore[assignment]
        raise http.client.HTTPException("too many interim answers")


class PublicConnection(http.client.HTTPSConnection):
    """A TLS connection to a server of the public internet, and never to a private address.

    `connect` resolves the name once, so no second answer of a resolver leads elsewhere. `is_over`
    returns whether the caller has stopped waiting. Then no handshake begins, since a server could
    draw it out.
    """

    is_over: Callable[[], bool] = staticmethod(lambda: False)

    def connect(self) -> None:
        """Connect; raises OSError, also if any address of the host is not public."""
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        addresses = [str(address[0]) for *_, address in found]
        if not all(map(is_public, addresses)):
            raise ConnectionRefusedError("the host has an address that is not public")
        self.sock = self._open(addresses)
        secured = ssl.create_default_context().wrap_socket(
            self.sock, server_hostname=self.host, do_handshake_on_connect=False
        )
        # Set before the handshake: after a time-out, `ask` shuts this socket down.
        self.sock = secured
        if self.is_over():
            raise TimeoutError
        secured.do_handshake()

    def _open(self, addresses: Sequence[str]) -> socket.socket:
        """Return a connection to the first address that takes one; raises OSError."""
        *others, last = dict.fromkeys(addresses)
        for address in others:
            if self.is_over():
                raise TimeoutError
            with suppress(OSError):
                return socket.create_connection((address, self.port), CONNECT_SECONDS)
        return socket.create_connection((last, self.port), CONNECT_SECONDS)


# IPv6 has public addresses in this range alone (IANA, IPv6 Global Unicast Address Assignments). The
# reserved prefixes of NAT64, which lead to IPv4 (RFC 6052, RFC 8215), are outside.
_PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")
# Networks that are not public, although Python 3.11 calls some of their addresses global: protocol
# assignments, documentation, and ways to an IPv4 address (Teredo, 6to4 and its relays).
_SPECIAL = tuple(
    ipaddress.ip_network(each)
    for each in ("2001::/23", "2002::/16", "3fff::/20", "192.0.0.0/24", "192.88.99.0/24")
)


def is_public(address: str) -> bool:
    """Return whether an IP address is public; raises ValueError for any other text."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if any(found in each for each in _SPECIAL) or found.is_multicast:
        return False
    return found.is_global and (found.version == 4 or found in _PUBLIC_IPV6)  # noqa: PLR2004


_HTTPS_PORTS = (None, 443)
_ADDRESS = re.compile(r"https?://[!-~]{1,2000}")
# A last label begins with a letter: resolvers read `0x7f.1` and `2130706433` as IPv4 addresses.
_PUBLIC_NAME = re.compile(
    r"(?=.{1,253}\Z)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])"
)
_PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".home.arpa")


def split_destination(url: str, *, is_near: bool) -> SplitResult:
    """Return the parts of an address that a stranger named; raises ValueError to refuse it.

    Accept https on port 443 of a public IP address or of a name that may be public, in ASCII,
    without credentials or a fragment. `is_near`: accept http and all ports and hosts, too.
    """
    if not _ADDRESS.fullmatch(url) or "\\" in url or "#" in url:
        raise ValueError("this is no address")
    found = urlsplit(url)
    if "@" in found.netloc or not found.hostname:
        raise ValueError("an address has a host, and no credentials")
    if not is_near and (found.scheme != "https" or found.port not in _HTTPS_PORTS):
        raise ValueError("the address is not https on port 443")
    if not is_near and not _may_be_public(found.hostname):
        raise ValueError("the host is not public")
    return found


def _may_be_public(host: str) -> bool:
    """Return whether a host is a public IP address, or a name that may lead to one."""
    try:
        return is_public(host)
    except ValueError:
        return bool(_PUBLIC_NAME.fullmatch(host)) and not host.endswith(_PRIVATE_SUFFIXES)


def ask(
    way: Way,
    request: HttpRequest,
    seconds: float,
    most_bytes: int,
    opens: type[http.client.HTTPConnection] | None = None,
) -> HttpAnswer:
    """Return a server's answer; raises OSError, also if no answer comes in time.

    Raises http.client.HTTPException for an answer that is not HTTP, or has more than `most_bytes`.
    `opens`: the kind of connection; None: by the URL's scheme. An abandoned connection is closed,
    and sends no more bytes.
    """
    is_over = threading.Event()
    connection = _connection(request.url, opens)
    if isinstance(connection, PublicConnection):
        connection.is_over = is_over.is_set

    def exchange() -> HttpAnswer:
        try:
            connection.connect()
            if is_over.is_set():
                raise TimeoutError
            connection.sock.settimeout(seconds)
            return _exchange(connection, request, most_bytes)
        finally:
            connection.close()

    try:
        return way.call(seconds, exchange)
    except TimeoutError:
        is_over.set()
        # The thread may close the socket, and remove it, at any time.
        opened = connection.sock
        if opened is not None:
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
        raise


class OutgoingPost(NamedTuple):
    """A POST to an address that a stranger named; a `str` body is ASCII.

    `is_near`: as in `split_destination`.
    """

    url: str
    body: str | bytes
    headers: Mapping[str, str]
    is_near: bool


def post(way: Way, given: OutgoingPost, seconds: float, most_bytes: int) -> HttpAnswer:
    """Return the answer to a POST, without following a redirect.

    Raises ValueError to refuse the address, and otherwise as `ask`.
    """
    found = split_destination(given.url, is_near=given.is_near)
    query = f"?{found.query}" if found.query else ""
    address = found._replace(path=found.path or "/")
    request = HttpRequest(address, "POST", query, given.body, given.headers)
    return ask(way, request, seconds, most_bytes, None if given.is_near else PublicConnection)


def _connection(
    url: SplitResult, opens: type[http.client.HTTPConnection] | None
) -> http.client.HTTPConnection:
    is_tls = url.scheme == "https"
    by_scheme = http.client.HTTPSConnection if is_tls else http.client.HTTPConnection
    kind = opens or by_scheme
    # Without a port, `kind` would read the end of an IPv6 address as a port.
    made = kind(str(url.hostname), url.port or kind.default_port, timeout=CONNECT_SECONDS)
    made.response_class = _FinalAnswer
    return made


def _exchange(
    connection: http.client.HTTPConnection, request: HttpRequest, most_bytes: int
) -> HttpAnswer:
    path = request.url.path + request.path
    connection.request(request.method, path, request.body or None, dict(request.headers))
    # After `Connection: close` the answer owns the socket; only closing the answer closes it.
    with connection.getresponse() as answer:
        body = answer.read(most_bytes + 1)
    if len(body) > most_bytes:
        raise http.client.HTTPException("the answer is too long")
    return HttpAnswer(answer.status, answer.headers, body)
