# SPDX-License-Identifier: MPL-2.0
"""The CLI over TLS with a private CA: the scheduler's own TLS, and that of a proxy in front; and `terraform login`."""

import contextlib
import json
import re
import socket
import ssl
import threading
import urllib.request
from types import SimpleNamespace

import pytest

from support.api import Api
from support.browser import Browser
from support.terraform import Terraform


class Proxy:
    """Terminates TLS and forwards the contents."""

    def __init__(self, certificate, key):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def serve(self, port):
        self.behind = port
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._connect, args=(self.listener.accept()[0],), daemon=True).start()

    def _connect(self, plain):
        with contextlib.suppress(OSError):
            front = self.context.wrap_socket(plain, server_side=True)
            back = socket.create_connection(("127.0.0.1", self.behind))
            threading.Thread(target=self._pass, args=(back, front), daemon=True).start()
            self._pass(front, back)

    @staticmethod
    def _pass(one, other):
        with contextlib.suppress(OSError):
            while some := one.recv(65536):
                other.sendall(some)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def release(self):
        self.listener.close()


@pytest.fixture
def user(tmp_path, authority, engine):
    """user(scheduler, api, host, ...): a user who trusts the test's CA."""
    created = []

    def make(server, api, host, **more):
        created.append(Terraform(SimpleNamespace(scheduler=server, api=api), engine, tmp_path / "user", host=host, SSL_CERT_FILE=authority.file, **more))
        return created[-1]

    yield make
    for one in created:
        one.release()


def log_in(user, browser, name, password):
    """Logs in with the terminal and the browser; returns the saved token."""
    terminal = user.terminal("login", user.host).expect("Do you want to proceed?").expect("Enter a value:").type("yes")
    terminal.expect("access the login page for").expect(user.engine.words("Terraform will now wait for the host to signal"))
    url = re.search(r"https://\S+/oauth/authorize\?[^\s']+", terminal.text).group(0)
    browser.ask(url)
    browser.send("/app/login", username=name, password=password)
    browser.send("/oauth/authorize", press="approve")
    with urllib.request.urlopen(browser.headers["Location"]) as answer:
        assert answer.status == 200
    assert "Retrieved token for" in terminal.ended() or "Success!" in terminal.text
    saved = json.loads(next(user.folder.parent.glob("*.home")).joinpath(".terraform.d/credentials.tfrc.json").read_text())
    return saved["credentials"][user.host]["token"]


def check_plan_apply_destroy(user):
    user.settings("cloud", name="secure")
    user.init()
    assert "Plan: 1 to add" in user.run("plan")
    assert "Apply complete! Resources: 1 added" in user.apply()
    assert user.pipe("output", "-raw", "word") == "unset"
    user.mode("secure", "local")
    assert "Destroy complete! Resources: 1 destroyed." in user.run("destroy", "-auto-approve")


def test_login_and_runs_with_the_schedulers_own_tls(authority, scheduler, worker, tokens, user, request):
    server = scheduler(**authority.serving())
    worker(ca_file=authority.file)
    one = user(server, request.getfixturevalue("api"), f"localhost:{server.port}", signed_in=False)
    assert "Required token could not be found" in one.settings("cloud", name="secure").run("init", code=1)
    token = log_in(one, Browser(server.url.replace("127.0.0.1", "localhost"), trust=authority.context()), "admin", tokens["password"])
    assert Api(server.url, token, trust=authority.context()).get("account/details").data["attributes"]["username"] == "admin"
    check_plan_apply_destroy(one)
    assert one.engine.words("Terraform has removed the stored API token") in one.run("logout", one.host)


def test_runs_through_a_proxy_that_terminates_tls(authority, scheduler, worker, user, request):
    proxy = Proxy(*authority.issue())
    server = scheduler(public_url=f"https://localhost:{proxy.port}")
    proxy.serve(server.port)
    worker()
    try:
        check_plan_apply_destroy(user(server, request.getfixturevalue("api"), f"localhost:{proxy.port}"))
    finally:
        proxy.release()


def test_the_cli_refuses_a_certificate_of_an_unknown_ca(authority, scheduler, user, request, tmp_path):
    server = scheduler(**authority.serving())
    one = user(server, request.getfixturevalue("api"), f"localhost:{server.port}")
    one.environment.pop("SSL_CERT_FILE")
    assert "certificate signed by unknown authority" in one.settings("cloud", name="secure").run("init", code=1)
