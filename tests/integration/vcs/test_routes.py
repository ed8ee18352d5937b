# SPDX-License-Identifier: MPL-2.0
"""The way from a worker to a server: TLS with a private CA, a pool of the server's network, the operator's proxy."""

import pytest

from support.authority import Authority
from support.connect_proxy import ConnectProxy
from support.git_servers import HttpServer
from support.wait import until


@pytest.fixture
def https(folder):
    """https(*certificate) starts a server with TLS."""
    servers = []

    def start(*certificate):
        servers.append(HttpServer(folder / f"https-{len(servers)}", certificate=certificate).start())
        return servers[-1]

    yield start
    for server in servers:
        server.release()


@pytest.fixture
def connect_proxy():
    proxy = ConnectProxy()
    yield proxy
    proxy.release()


def test_https_with_a_private_ca_and_a_server_that_only_a_pool_reaches(rows, https, authority, folder, worker, api):
    """The pool's worker may connect to this machine, the shared one may not."""
    (folder / "unknown").mkdir()
    servers = [https(*authority.issue()), https(*Authority(folder / "unknown").issue()), https(*authority.issue("named", ("DNS:git.example.test",)))]
    shas = [server.repository().commit({"main.tf": ""}) for server in servers]
    pool, token = api.pool("edge")
    worker(ca_file=authority.file)
    worker(ca_file=authority.file, agent_token=token, vcs_allow="127.0.0.1")
    ends = [rows.fetched(rows.fetch(rows.repository(rows.connection(server.url, pool=pool)), sha)) for server, sha in zip(servers, shas)]
    assert [end["state"] for end in ends] == ["stored", "errored", "errored"]
    assert ends[1]["error"] == "The server's certificate is of no CA that the worker trusts (--ca-file)."
    assert ends[2]["error"].startswith("The server's certificate is of another name. (git: ")
    shared = rows.fetched(rows.fetch(rows.repository(rows.connection(servers[0].url)), shas[0]))
    assert shared["error"] == f"127.0.0.1 port {servers[0].port} is refused: it is a loopback address, which --vcs-allow does not name."


def test_the_operators_proxy(rows, http, https, authority, connect_proxy, git_worker):
    """Only the proxy can resolve the servers' names. Addresses are judged all the same, and the loopback is reached directly."""
    variables = {"HTTPS_PROXY": connect_proxy.url, "HTTP_PROXY": connect_proxy.url, "NO_PROXY": "direct.test"}
    worker = git_worker(ca_file=authority.file, vcs_allow=f"127.0.0.1:{http.port}", environment=variables)
    tls = https(*authority.issue("named", ("DNS:git.example.test",)))
    connect_proxy.names = {"git.example.test:443": tls.port, "git.example.test:80": http.port}
    connect_proxy.denied = {"denied.example.test:443"}
    sha = http.repository().commit({"main.tf": ""})
    tls_sha = tls.repository().commit({"main.tf": ""})

    def error(url, sha=sha):
        content = rows.fetch(rows.repository(rows.connection(url)), sha)
        until(lambda: rows.content(content)["error"] or rows.content(content)["state"] == "stored", lambda: f"a try ends: {rows.jobs()}")
        rows.ask("delete from git_jobs")
        return rows.content(content)["error"]

    assert error("https://git.example.test/git", tls_sha) is None and error("http://git.example.test/git") is None
    assert set(connect_proxy.requests) == {("git.example.test:443", 200), ("git.example.test:80", 200)}
    connect_proxy.requests.clear()
    assert error(http.url) is None
    assert error("https://[::ffff:169.254.169.254]/git").endswith("it is a cloud's metadata service, which --vcs-allow does not name.")
    assert error("https://10.0.0.1/git") == "10.0.0.1 port 443 is refused: it is a private address, which --vcs-allow does not name."
    assert error("https://direct.test/git").startswith("direct.test can't be resolved: ")
    assert connect_proxy.requests == []
    name = f"the proxy 127.0.0.1 port {connect_proxy.port}"
    assert error("https://denied.example.test/git") == f"denied.example.test port 443 is refused: {name} answers with status 403."
    assert error("https://gone.example.test/git") == f"gone.example.test port 443 can't be reached through {name}: it answers with status 502."
    connect_proxy.password = "another"
    assert error("https://git.example.test/git", tls_sha) == f"git.example.test port 443 is refused: {name} answers with status 407: it requires another user and password."
    connect_proxy.close()
    assert error("https://git.example.test/git", tls_sha) == f"git.example.test port 443 can't be reached through {name}: Connection refused."
    connect_proxy.open()
    assert "secret-of-the-proxy" not in worker.process.log()
