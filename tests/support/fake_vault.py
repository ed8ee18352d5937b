# SPDX-License-Identifier: MPL-2.0
"""A Vault as far as a worker calls one: logins with a JWT, secrets engines, renewals and revocations of tokens."""

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Request:
    def __init__(self, handler):
        self.method, self.path = handler.command, handler.path.removeprefix("/v1/")
        self.headers = dict(handler.headers)
        text = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        self.body = json.loads(text) if text else None
        self.token = handler.headers.get("X-Vault-Token")


class FakeVault:
    """`requests` has all requests, `live` the tokens that are valid. `secrets` has the data of a secret by its path. `special` has by
    the beginning of a path what answers in Vault's place: a function of the handler. `lease`: seconds."""

    def __init__(self, certificate=None, lease=1200):
        self.requests, self.live, self.secrets, self.special = [], set(), {}, {}
        self.lease = lease
        self.lock = threading.Lock()
        self.over = threading.Event()
        vault = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def serve(self):
                request = Request(self)
                with vault.lock:
                    vault.requests.append(request)
                try:
                    special = next((fn for path, fn in vault.special.items() if request.path.startswith(path)), None)
                    special(self) if special else vault.serve(self, request)
                except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
                    self.close_connection = True

            do_GET = do_POST = do_PUT = serve

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_port
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def release(self):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()

    @staticmethod
    def reply(handler, status, body=None, headers=None):
        text = b"" if body is None else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    def auth(self, token):
        return {"auth": {"client_token": token, "accessor": "accessor", "policies": ["default"], "lease_duration": self.lease, "renewable": True, "token_type": "service"}}

    def serve(self, handler, request):
        if request.path.startswith("auth/") and request.path.endswith("/login"):
            with self.lock:
                token = f"hvs.token-{len(self.requests)}-of-{self.port}"
                self.live.add(token)
            self.reply(handler, 200, self.auth(token))
        elif request.token not in self.live:
            self.reply(handler, 403, {"errors": ["permission denied"]})
        elif request.path == "auth/token/renew-self":
            self.reply(handler, 200, self.auth(request.token))
        elif request.path == "auth/token/revoke-self":
            self.live.discard(request.token)
            self.reply(handler, 204)
        elif urlsplit(request.path).path in self.secrets:
            self.reply(handler, 200, {"data": self.secrets[urlsplit(request.path).path], "lease_id": "lease", "renewable": False})
        else:
            self.reply(handler, 404, {"errors": []})

    def of(self, path):
        """The requests whose path ends so."""
        return [request for request in list(self.requests) if urlsplit(request.path).path.endswith(path)]
