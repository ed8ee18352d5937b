# SPDX-License-Identifier: MPL-2.0
"""Submodules: relative addresses, ssh, and what is refused."""

import pytest

from support.git_servers import HttpServer
from support.shared_git import api, database, git_worker, scheduler, shared_worker  # noqa: F401


def add(repository, path, url, sha):
    """Adds a submodule without fetching it."""
    modules = repository.work / ".gitmodules"
    before = modules.read_text() if modules.exists() else ""
    modules.write_text(f'{before}[submodule "{path}"]\n\tpath = {path}\n\turl = {url}\n')
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{sha},{path}")
    repository.git("add", ".gitmodules")
    repository.git("commit", "-q", "-m", "submodule")
    repository.push()
    return repository.git("rev-parse", "HEAD")


@pytest.fixture
def modules(http):
    repository = http.repository("acme/modules")
    return repository, repository.commit({"module.tf": "# module\n"})


@pytest.fixture
def main(http):
    repository = http.repository()
    repository.commit({"main.tf": ""})
    return repository


def fetched(rows, row, sha, submodules=True):
    return rows.fetched(rows.fetch(row, sha, submodules))


def test_relative_submodules_of_the_same_server_get_the_credential(rows, http, git_worker, modules, main):
    git_worker()
    nested, inner = http.repository("acme/deep/nested"), None
    inner = nested.commit({"inner.tf": ""})
    middle = add(modules[0], "nested", "../deep/nested.git", inner)
    sha = add(main, "modules/a", "../modules.git", middle)
    row = rows.repository(rows.connection(http.url))
    with_them, without = fetched(rows, row, sha), fetched(rows, row, sha, submodules=False)
    assert with_them["state"] == without["state"] == "stored" and with_them["hash"] != without["hash"] and with_them["size"] > without["size"]


def test_ssh_submodules_use_the_connections_key(rows, http, ssh, git_worker, main, folder):
    git_worker()
    other = ssh.repository("acme/secret")
    inner = other.commit({"secret.tf": ""})
    sha = add(main, "secret", f"{ssh.url}/acme/secret.git", inner)
    row = rows.repository(rows.connection(http.url, ssh_key=ssh.key))
    assert fetched(rows, row, sha)["state"] == "stored"
    assert rows.host_keys(row) == ssh.host_keys
    without = rows.repository(rows.connection(http.url))
    assert fetched(rows, without, sha)["error"] == f"Submodule secret: the address {ssh.url}/acme/secret.git is not permitted. The connection has no SSH key."
    wrong = rows.repository(rows.connection(http.url, ssh_key=ssh.key, host_keys=ssh.host_keys.replace("AAAAC3NzaC1lZDI1NTE5AAAAI", "AAAAC3NzaC1lZDI1NTE5AAAAIA")[:-2] + "\n"))
    assert fetched(rows, wrong, sha)["error"] == "Submodule secret: The server's host key is not the one that is pinned for it."


def test_another_server_gets_no_credential(rows, folder, http, git_worker, main):
    git_worker()
    other = HttpServer(folder / "other").start()
    try:
        inner = other.repository("acme/other").commit({"x.tf": ""})
        sha = add(main, "other", f"{other.url}/acme/other.git", inner)
        row = rows.repository(rows.connection(http.url))
        assert fetched(rows, row, sha)["error"] == f"Submodule other: the address {other.url}/acme/other.git is not permitted."
        assert other.requests() == []
    finally:
        other.release()


ADDRESSES = ["ext::sh -c touch% /tmp/x", "file:///etc", "/etc", "--upload-pack=touch /tmp/x", "-oProxyCommand=touch", "ssh://-oProxyCommand=touch/x",
             "git://127.0.0.1/x", "fd::17/foo", "../../../../../../etc", "https://user:password@127.0.0.1/x.git", "http://169.254.169.254/latest",
             "https://169.254.169.254/latest.git", "https://[::1]/x.git", "https://[fd00:ec2::254]/x.git", "https://localhost/x.git"]


def test_hostile_addresses(rows, http, git_worker, main, modules):
    """git itself refuses some of them in .gitmodules."""
    git_worker(vcs_allow=f"127.0.0.1:{http.port}")
    row = rows.repository(rows.connection(http.url))
    for url in ADDRESSES:
        content = fetched(rows, row, add(main, "x", url, modules[1]))
        said = ("Submodule x: ", "169.254.169.254", "::1", "fd00:", "localhost port 443 is refused", "The repository has a damaged or dangerous object.")
        assert content["state"] == "errored" and content["error"].startswith(said), (url, content)
        main.git("rm", "-q", "--cached", "x")
        (main.work / ".gitmodules").unlink()


def test_a_submodule_without_address(rows, http, git_worker, main, modules):
    git_worker()
    main.git("update-index", "--add", "--cacheinfo", f"160000,{modules[1]},x")
    main.git("commit", "-q", "-m", "x")
    main.push()
    row = rows.repository(rows.connection(http.url))
    assert fetched(rows, row, main.git("rev-parse", "HEAD"))["error"] == "Submodule x: .gitmodules has no URL for it."


def test_a_submodule_that_contains_itself(rows, http, git_worker, main):
    git_worker()
    inner = main.git("rev-parse", "HEAD")
    for _ in range(12):
        inner = add(main, "again", "../network.git", inner)
        main.git("rm", "-q", "--cached", "again")
    row = rows.repository(rows.connection(http.url))
    assert "nested deeper than" in fetched(rows, row, inner)["error"]
