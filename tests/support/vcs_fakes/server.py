# SPDX-License-Identifier: MPL-2.0
"""What all fakes of VCS providers share: an HTTP server with a table of routes, which checks and keeps every request; faults on demand; and git over HTTP.

A request that the provider would refuse for its form (an unknown path, a missing header, a field of a wrong type) is answered as the provider would, and makes check() fail: the
product never has a reason to send it. Refusals that may happen (a wrong token, a repository that is not there) are answered only."""

import base64
import itertools
import json
import os
import re
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from support.process import which
from support.vcs_fakes.repository import Repository


class Request:
    """One request: what the fake's routes are called with, and what `requests` keeps."""

    def __init__(self, method, target, headers, body):
        parts = urlsplit(target)
        self.method = method
        self.target = target
        self.path = parts.path  # still percent-encoded
        self.query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        self.headers = headers
        self.raw = body
        self.at = time.monotonic()
        self.status = None  # of the answer
        self.user = None  # what identified the caller: a token's name

    @property
    def body(self):
        return json.loads(self.raw) if self.raw else None

    def __repr__(self):
        return f"{self.method} {self.target} -> {self.status}"


class Answer(Exception):
    """Raised or returned by routes."""

    def __init__(self, status, document=None, headers=None, text=None):
        super().__init__(status, document)
        self.status = status
        self.document = document
        self.headers = headers or {}
        self.text = text


def route(method, pattern, writes=None):
    """Marks a method of a fake as a route. `{name}` is one segment, `{name+}` any number of them; they arrive decoded."""
    expression = re.sub(r"\{(\w+)(\+?)\}", lambda found: f"(?P<{found[1]}>{'.+?' if found[2] else '[^/]+'})", pattern)

    def mark(function):
        function.routes = [*getattr(function, "routes", ()), (method, re.compile(expression + "/?"), method != "GET" if writes is None else writes)]
        return function

    return mark


def fits(value, kind):
    """Whether a value is of a type, one of a set, or what a function says."""
    if isinstance(kind, set):
        return any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in kind)
    if isinstance(kind, type):
        return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    return kind(value)


def page(items, number, size):
    """The items of a page, and whether there are more."""
    first = (number - 1) * size
    return items[first:first + size], first + size < len(items)


used_ports = set()


def server_on_new_port(handler):
    """On a port that no earlier server of these tests had: calls for a released one may still be under way."""
    while True:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        if server.server_port not in used_ports:
            used_ports.add(server.server_port)
            return server
        server.server_close()


class Served:
    """An HTTP server at `url`, with the handler that _handler() returns. `complaints` has the requests that a client must not send. tls: the files of its certificate and key."""

    def __init__(self, tls=None):
        self.complaints = []
        self.server = server_on_new_port(self._handler())
        self.server.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def release(self):
        self.server.shutdown()
        self.server.server_close()

    def check(self):
        """Fails if a request was not as the provider documents it."""
        assert not self.complaints, "\n".join(self.complaints)


class Provider(Served):
    """A fake. Its tokens are in `tokens`: {token: name of its user}. `requests` has all requests."""

    base = ""  # of the paths of its API
    dialect = None  # its service-provider in the product's API
    accepts = ("application/json",)

    def __init__(self, folder):
        self.folder = folder / f"{type(self).__name__.lower()}"
        self.folder.mkdir(parents=True)
        self.tokens = {"good-token": "robot"}
        self.users = {"robot": 1}
        self.repositories = {}
        self.requests = []
        self.faults = []  # (matches, answer or function): used once each, the oldest first
        self.numbers = itertools.count(1000)
        self.lock = threading.RLock()
        self.sent = []  # deliveries: (url, event, status)
        self.routes = [(method, pattern, writes, function) for name in dir(type(self)) if hasattr(getattr(type(self), name), "routes") for function in [getattr(self, name)]
                       for method, pattern, writes in function.routes]
        super().__init__()

    @property
    def api_url(self):
        return f"{self.url}{self.base}"

    # ---- for tests ----

    def repository(self, identifier, files=None, fork_of=None, **options):
        """A repository with one commit of files on main; None: without a commit. A fork has all of its origin."""
        made = Repository(self, identifier, next(self.numbers), fork_of=fork_of, **options)
        self.repositories[identifier.lower()] = made
        if fork_of is None and files is not None:
            made.copy.commit_and_push(files)
        return made

    def rename(self, repository, identifier):
        """Its id stays, and nothing has its old name."""
        del self.repositories[repository.identifier.lower()]
        repository.identifier = identifier
        self.repositories[identifier.lower()] = repository

    def calls(self, method=None, path=""):
        """The requests so far with that method, whose target has that text or matches that expression."""
        return [each for each in self.requests if (method is None or each.method == method) and re.search(path, unquote(each.target))]

    def fault(self, method, path, *answers):
        """The next requests with that method whose target matches get these answers: a status, an Answer, or "hang up"."""
        for answer in answers:
            self.faults.append((method, re.compile(path), answer))

    def rate_limit(self, method, path, seconds, times=1):
        """The next requests are over the provider's limit, which ends in that many seconds."""
        self.fault(method, path, *[self.limited(seconds)] * times)

    def limited(self, seconds):
        return Answer(429, {"message": "Too Many Requests"}, {"Retry-After": str(seconds)})

    # ---- for routes ----

    def complain(self, request, what):
        self.complaints.append(f"{self.dialect}: {request.method} {request.target}: {what}")

    def refuse(self, request, status, what):
        """Complains, and answers with an error."""
        self.complain(request, what)
        raise Answer(status, self.error(what))

    def error(self, text):
        return {"message": text}

    def fields(self, request, value, **known):
        """Checks an object: `known` has the type of each member, a set of its values, or a function; a tuple (type,) makes the member optional. Others are refused."""
        if not isinstance(value, dict):
            self.refuse(request, 400, f"an object was expected, not {value!r}")
        for name in value.keys() - known.keys():
            self.refuse(request, 422, f"{name} is no field of it")
        for name, kind in known.items():
            optional = isinstance(kind, tuple)
            kind = kind[0] if optional else kind
            if name not in value:
                if not optional:
                    self.refuse(request, 422, f"{name} is missing")
                continue
            given = value[name]
            if not fits(given, kind):
                self.refuse(request, 422, f"{name} can't be {given!r}")
        return value

    def numbers_of(self, request, size_name="per_page", size=20, largest=100):
        """The page and its size that the query asks for."""
        try:
            number, size = int(request.query.get("page", 1)), int(request.query.get(size_name, size))
        except ValueError:
            self.refuse(request, 400, "page and size are numbers")
        if number < 1 or not 1 <= size <= largest:
            self.refuse(request, 400, f"a page has 1 to {largest} items")
        return number, size

    def find(self, identifier):
        found = self.repositories.get(identifier.lower())
        if not found or found.gone:
            raise Answer(404, self.error("Not Found"))
        return found

    def authenticate(self, request):
        """Sets request.user, or raises an Answer."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer" or token not in self.tokens:
            raise Answer(401, self.error("Bad credentials"))
        request.user = self.tokens[token]

    def git_user(self, user, password):
        """True if git may log in with these."""
        return password in self.tokens

    def identifier_of(self, path):
        """The identifier in the path of a clone URL."""
        return path.removesuffix(".git")

    # ---- the server ----

    def answer(self, request):
        for place, (method, pattern, answer) in enumerate(self.faults):
            if method == request.method and pattern.search(unquote(request.target)):
                del self.faults[place]
                if isinstance(answer, int):
                    raise Answer(answer, self.error("as the test wishes"))
                if isinstance(answer, Answer):
                    raise answer
                return answer
        self.examine(request)
        for method, pattern, writes, function in self.routes:
            found = pattern.fullmatch(request.path)
            if found and method == request.method:
                if writes and request.raw and not request.headers.get("Content-Type", "").startswith("application/json"):
                    self.refuse(request, 415, "Content-Type is not application/json")
                return function(request, **{name: unquote(value) for name, value in found.groupdict().items()})
        self.refuse(request, 404, "there is no such route")
        return None

    def examine(self, request):
        """Checks what all requests to the API need."""
        if not request.headers.get("User-Agent"):
            self.refuse(request, 403, "User-Agent is missing")
        self.authenticate(request)

    def standard_headers(self, request):
        return {}

    def _handler(self):
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                if re.search(r"/(info/refs|git-upload-pack|git-receive-pack)(\?|$)", self.path):
                    return provider.git(self)
                request = Request(self.command, self.path, self.headers, self.rfile.read(int(self.headers.get("Content-Length") or 0)))
                with provider.lock:
                    provider.requests.append(request)
                    try:
                        answer = provider.answer(request)
                    except Answer as raised:
                        answer = raised
                    except ValueError as error:
                        provider.complain(request, f"not JSON: {error}")
                        answer = Answer(400, provider.error("Problems parsing JSON"))
                if answer == "hang up":
                    self.close_connection = True
                    return None
                if not isinstance(answer, Answer):
                    answer = Answer(200, answer)
                request.status = answer.status
                return self.write(answer, provider.standard_headers(request))

            def write(self, answer, more):
                body = answer.text.encode() if answer.text is not None else b"" if answer.document is None else json.dumps(answer.document).encode()
                self.send_response(answer.status)
                for name, value in {"Content-Type": "text/plain" if answer.text is not None else "application/json", **more, **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

            def log_message(self, *_):
                pass

        return Handler

    # ---- git over HTTP ----

    def git(self, handler):
        """Serves a repository with git's own http-backend. Reading only, and only with a login that the provider takes."""
        path, _, query = handler.path.partition("?")
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        kind, _, secret = handler.headers.get("Authorization", "").partition(" ")
        user, _, password = base64.b64decode(secret).decode().partition(":") if kind.lower() == "basic" else ("", "", "")
        found = re.fullmatch(r"/(.+)/(info/refs|git-upload-pack)", unquote(path))
        request = Request(handler.command, handler.path, handler.headers, b"")
        request.user = self.tokens.get(password)
        self.requests.append(request)
        repository = self.repositories.get(self.identifier_of(found[1]).lower()) if found else None
        if not self.git_user(user, password):
            request.status = 401
            return handler.write(Answer(401, text="log in"), {"WWW-Authenticate": 'Basic realm="git"'})
        if not repository or repository.gone:
            request.status = 404
            return handler.write(Answer(404, text="no such repository"), {})
        environment = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(repository.bare.parent), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": f"/{repository.bare.name}/{found[2]}",
            "QUERY_STRING": query, "REQUEST_METHOD": handler.command, "CONTENT_TYPE": handler.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""), "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""), "REMOTE_USER": user or "nobody",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
        }
        done = subprocess.run([which("git"), "http-backend"], env=environment, input=body, capture_output=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        request.status = int(headers.pop("Status", "200").split()[0])
        handler.send_response(request.status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)
        return None


def link(request, number, more, url):
    """GitHub's and GitLab's Link header."""
    if not more:
        return {}
    return {"Link": f'<{url}{urlsplit(request.target).path}?{urlencode({**request.query, "page": number + 1})}>; rel="next"'}
