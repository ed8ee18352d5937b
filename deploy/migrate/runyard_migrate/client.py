# SPDX-License-Identifier: MPL-2.0
"""A client of TFE's API: connections that are kept, limits of rate, repeats, pages.

Each thread has its own connection. A request is repeated after 429, 5xx and lost connections. A creation is
not: after `Unclear`, the caller must look whether the object exists.
"""

import concurrent.futures
import contextlib
import http.client
import json
import ssl
import threading
import time
import urllib.parse
import urllib.request

JSON_API = "application/vnd.api+json"
TRIES = 9
LONGEST_WAIT = 60.0
LONGEST_ANSWER = 64 << 20
CHUNK = 1 << 20
LOST = (http.client.HTTPException, ConnectionError, TimeoutError, ssl.SSLError, OSError)


class Failure(Exception):
    """A request that failed for good."""

    def __init__(self, method, path, status, text):
        if "://" in path:  # a link with a signature or a token in it
            path = "/".join(path.split("/")[:3]) + "/..."
        super().__init__(f"{method} {path.partition('?')[0]}: " + " ".join(str(one) for one in (status, text) if one))
        self.status, self.text = status, text


class Unclear(Failure):
    """A creation whose answer was lost: the object may exist."""


class Pace:
    """At most `rate` requests per second, of all threads; none before a time that the server named."""

    def __init__(self, rate):
        self.rate, self.fixed = rate, bool(rate)
        self.next, self.lock = 0.0, threading.Lock()

    def wait(self):
        with self.lock:
            now = time.monotonic()
            start = max(self.next, now)
            self.next = start + (1.0 / self.rate if self.rate else 0)
        time.sleep(max(0.0, start - now))

    def limit(self, value):
        """The server's own limit, per second. Nine tenths are used: others may work with the same token."""
        if value and not self.fixed and value.isdigit() and int(value) > 0:
            self.rate = int(value) * 0.9

    def pause(self, seconds):
        with self.lock:
            self.next = max(self.next, time.monotonic() + seconds)


@contextlib.contextmanager
def threads(number):
    """A pool of threads. What they have not begun is given up when the program is interrupted."""
    with concurrent.futures.ThreadPoolExecutor(number) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def seconds(text):
    try:
        return min(LONGEST_WAIT, max(0.0, float(text)))
    except (TypeError, ValueError):
        return None


def errors_of(body):
    """The errors of a JSON:API document, as one line."""
    try:
        found = json.loads(body).get("errors", [])
        return "; ".join(" ".join(str(e[k]) for k in ("title", "detail") if e.get(k)) if isinstance(e, dict) else str(e) for e in found)[:500]
    except (ValueError, AttributeError, TypeError):
        return ""


class Client:
    """Requests to one server. A read-only client refuses every method but GET, except for `allowed` path ends."""

    def __init__(self, url, token, read_only=False, rate=0, cafile=None, timeout=120, side="the server", progress=None):
        self.side, self.progress = side, progress or (lambda text: None)
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Failure("GET", url, 0, "is no address of a server")
        self.url = parts._replace(netloc=parts.netloc.lower()).geturl().rstrip("/")  # the reasons of locks have it: one spelling
        self.token, self.read_only, self.timeout = token, read_only, timeout
        self.pace, self.local = Pace(rate), threading.local()
        self.encrypted = parts.scheme == "https"
        self.trust = ssl.create_default_context(cafile=cafile)
        self.requests, self.writes = 0, 0

    # ---- one request ----

    def connect(self, scheme, netloc):
        """This thread's connection to the server, through the proxy of the environment if there is one."""
        kept = self.local.__dict__.setdefault("kept", {})
        if (scheme, netloc) in kept:
            return kept[scheme, netloc]
        at = urllib.parse.urlsplit(f"{scheme}://{netloc}")
        proxy = None if urllib.request.proxy_bypass(at.hostname) else urllib.request.getproxies().get(scheme)
        via = urllib.parse.urlsplit(proxy) if proxy else at
        if scheme == "https":
            connection = http.client.HTTPSConnection(via.hostname, via.port, timeout=self.timeout, context=self.trust)
        else:
            connection = http.client.HTTPConnection(via.hostname, via.port, timeout=self.timeout)
        if proxy:
            connection.set_tunnel(at.hostname, at.port or (443 if scheme == "https" else 80))
        kept[scheme, netloc] = connection
        return connection

    def send(self, method, url, body, headers):
        """Sends a request once. The answer is not read yet."""
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "https" and self.encrypted:  # tokens and states are for the server alone
            raise Failure(method, url, 0, f"{self.side}, {self.url}, leads to an address without TLS, which is refused: mend its links and redirections")
        connection = self.connect(parts.scheme, parts.netloc)
        path = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
        if hasattr(body, "seek"):
            body.seek(0)
        try:
            connection.request(method, path, body=body, headers=headers)
            return connection.getresponse()
        except LOST:
            self.drop(url)
            raise

    def drop(self, url):
        parts = urllib.parse.urlsplit(url)
        connection = self.local.kept.pop((parts.scheme, parts.netloc), None)
        if connection:
            connection.close()

    def headers(self, method, url, body, media):
        sent = {"User-Agent": "runyard-migrate", "Accept": JSON_API + ", */*"}
        if self.token and urllib.parse.urlsplit(url).netloc.lower() == urllib.parse.urlsplit(self.url).netloc and "/signed/" not in url:
            sent["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            sent["Content-Type"] = media
        if hasattr(body, "seek"):
            sent["Content-Length"] = str(body.seek(0, 2))
        elif body is None and method != "GET":
            sent["Content-Length"] = "0"
        return sent

    def address(self, path):
        """The server names itself in links by its own address, which may not be the one that is used here."""
        if "://" not in path:
            return f"{self.url}/api/v2/{path}"
        parts = urllib.parse.urlsplit(path)
        return self.url + urllib.parse.urlunsplit(("", "", *parts[2:])) if parts.path.startswith("/api/v2/") else path

    def call(self, method, path, body=None, to=None, media=JSON_API, allow=False, repeat=False):
        """The answer's document, or bytes if it is none; with `to`, the content is written to that file. Raises Failure.
        `repeat`: the request may be carried out twice. `allow`: it is sent to a read-only server."""
        if self.read_only and method != "GET" and not allow:
            raise Failure(method, path, 0, "is refused: the source is only read")
        url = self.address(path)
        body = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        wait, last = 0.5, (0, "")
        for attempt in range(TRIES):
            if attempt:
                self.progress(f"trying again: {self.side} answers {last[0] or 'nothing'} {last[1]}".rstrip())
                time.sleep(wait)
                wait = min(wait * 2, 20.0)
            self.pace.wait()
            self.requests += 1
            self.writes += method != "GET"
            try:
                answer, url_read = self.follow(method, url, body, media)
                content = self.read(answer, to if answer.status < 300 else None)
            except LOST as why:
                self.drop(url)
                last = (0, type(why).__name__)
                if method == "POST" and not repeat:
                    raise Unclear(method, path, 0, f"no answer: {last[1]}") from None
                continue
            self.pace.limit(answer.getheader("X-RateLimit-Limit"))
            self.local.headers = answer.headers
            if answer.status < 300:
                return self.document(content, answer)
            last = (answer.status, errors_of(content))
            if answer.status == 429:
                self.pace.pause(seconds(answer.getheader("Retry-After")) or seconds(answer.getheader("X-RateLimit-Reset")) or wait)
            elif answer.status < 500 and answer.status not in (408, 425):
                break
            elif method == "POST" and not repeat:
                raise Unclear(method, path, *last)
        if last[0] == 401:
            raise Failure(method, path, 401, f"{self.side}, {self.url}, refuses the token")
        raise Failure(method, path, last[0], last[1] if last[0] else f"no answer from {self.side}, {self.url}: {last[1]}")

    def follow(self, method, url, body, media):
        for _ in range(5):
            answer = self.send(method, url, body, self.headers(method, url, body, media))
            target = answer.getheader("Location")
            if method != "GET" or answer.status not in (301, 302, 303, 307, 308) or not target:
                return answer, url
            answer.read()
            url = urllib.parse.urljoin(url, target)
        raise http.client.HTTPException("too many redirections")

    @staticmethod
    def read(answer, to):
        """Reads all of the answer. An incomplete one raises IncompleteRead."""
        if to is None:
            content = answer.read(LONGEST_ANSWER + 1)
            if len(content) > LONGEST_ANSWER:
                raise http.client.HTTPException("the answer is too large")
            if answer.length:
                raise http.client.IncompleteRead(content, answer.length)
            return content
        to.seek(0)
        to.truncate()
        while True:
            chunk = answer.read(CHUNK)
            if not chunk:
                if answer.length:
                    raise http.client.IncompleteRead(b"", answer.length)
                to.flush()
                return b""
            to.write(chunk)

    @staticmethod
    def document(content, answer):
        if not content:
            return {}
        if "json" in (answer.getheader("Content-Type") or ""):
            return json.loads(content)
        return content

    # ---- what callers use ----

    def get(self, path):
        return self.call("GET", path)

    def list(self, path):
        """All resources of a list, each once. A list that changed while its pages were read is read again: an element that slid
        to an earlier page is missing."""
        for _ in range(4):
            found, totals, number = {}, set(), 1
            while number:
                mark = "&" if "?" in path else "?"
                answer = self.get(f"{path}{mark}page%5Bnumber%5D={number}&page%5Bsize%5D=100")
                data = answer.get("data") if isinstance(answer, dict) else None
                for one in data if isinstance(data, list) else [data] if data else []:
                    found[one.get("type"), one.get("id") or json.dumps(one, sort_keys=True)] = one
                pages = (answer.get("meta") or {}).get("pagination") or {}
                totals.add(pages.get("total-count"))
                number = pages.get("next-page")
            if totals <= {None, len(found)}:
                return list(found.values())
        said = " or ".join(str(one) for one in sorted(totals - {None}))
        raise Failure("GET", path, 0, f"the list says {said} elements and has {len(found)}: it changed each time it was read. Run the command again")
