# SPDX-License-Identifier: MPL-2.0
"""Fetching over ssh and git://, and what servers do wrong."""

import pytest

from support.git_servers import HttpServer, new_key
from support.shared_git import api, database, git_worker, scheduler, shared_worker  # noqa: F401
from support.wait import until


def sentence(rows, *arguments):
    return rows.fetched(rows.fetch(*arguments))["error"]


def first_error(rows, repository, sha):
    """The error of the first try of a fetch that is tried again."""
    content = rows.fetch(repository, sha)
    until(lambda: rows.content(content)["error"], "the first try ends")
    assert rows.jobs() == [("fetch", "waiting", 1, rows.content(content)["error"])]
    return rows.content(content)["error"]


def test_git_protocol(rows, daemon, git_worker):
    git_worker()
    sha = daemon.repository().commit({"main.tf": ""})
    row = rows.repository(rows.connection(daemon.url, password=None))
    assert rows.fetched(rows.fetch(row, sha))["state"] == "stored"
    assert rows.look(row) == {"refs/heads/main": sha}


def test_ssh_pins_the_host_key_at_its_first_use(rows, ssh, git_worker):
    git_worker()
    sha = ssh.repository().commit({"main.tf": ""})
    row = rows.repository(rows.connection(ssh.url, password=None, ssh_key=ssh.key))
    assert rows.fetched(rows.fetch(row, sha)) | {"blob_id": "", "hash": "", "size": 0} == {"state": "stored", "error": None, "blob_id": "", "hash": "", "size": 0}
    assert rows.host_keys(row) == ssh.host_keys
    assert rows.look(row) == {"refs/heads/main": sha}
    assert rows.host_keys(row) == ssh.host_keys


def test_ssh_refuses_another_host_key_and_another_key(rows, ssh, git_worker, folder):
    git_worker()
    sha = ssh.repository().commit({"main.tf": ""})
    wrong = ssh.host_keys.replace("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA")[: len(ssh.host_keys) - 1] + "\n"
    new_key(folder / "other_host")
    kind, key = (folder / "other_host.pub").read_text().split()[:2]
    for pinned in (f"[127.0.0.1]:{ssh.port} {kind} {key}\n", wrong, f"[127.0.0.1]:{ssh.port} ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTY=\n"):
        row = rows.repository(rows.connection(ssh.url, password=None, ssh_key=ssh.key, host_keys=pinned))
        assert sentence(rows, row, sha) == "The server's host key is not the one that is pinned for it."
    row = rows.repository(rows.connection(ssh.url, password=None, ssh_key=new_key(folder / "other")))
    assert sentence(rows, row, sha) == "The server refused the connection's SSH key."
    row = rows.repository(rows.connection(ssh.url, password=None, ssh_key="no key"))
    assert "key" in sentence(rows, row, sha)


def test_a_server_that_asks_for_a_login_again_and_again(rows, http, git_worker):
    git_worker()
    sha = http.repository().commit({"main.tf": ""})
    assert sentence(rows, rows.repository(rows.connection(http.url, password="wrong")), sha) == "The server refused the connection's user and password."
    assert sentence(rows, rows.repository(rows.connection(http.url, password=None)), sha) == "The server asks for a login, and the connection has none for it."
    assert sum("401" in line for line in http.requests()) <= 6


def test_a_missing_repository_and_a_commit_that_is_gone(rows, http, git_worker):
    git_worker()
    repository = http.repository()
    repository.commit({"main.tf": ""})
    connection = rows.connection(http.url)
    assert sentence(rows, rows.repository(connection, "acme/none.git"), "1" * 40).startswith("The server has no such repository, or does not show it.")
    assert sentence(rows, rows.repository(connection), "1" * 40) == f"commit {'1' * 40} no longer exists in acme/network.git"


def test_a_commit_that_is_not_the_head_and_a_server_that_gives_refs_alone(rows, http, git_worker):
    git_worker()
    repository = http.repository()
    old = repository.commit({"main.tf": "# old\n"})
    for number in range(60):
        repository.commit({"main.tf": f"# {number}\n"}, push=number == 59)
    row = rows.repository(rows.connection(http.url))
    assert rows.fetched(rows.fetch(row, old))["state"] == "stored"
    repository.bare.joinpath("config").write_text("[core]\n\tbare = true\n\trepositoryformatversion = 0\n[protocol]\n\tversion = 0\n[uploadpack]\n\tallowAnySHA1InWant = false\n")
    (http.folder / "gitconfig").write_text("[safe]\n\tdirectory = *\n[protocol]\n\tversion = 0\n[uploadpack]\n\tadvertiseBundleURIs = false\n")
    rows.ask("delete from vcs_contents where repository_id = %s", row)
    rows.ask("insert into vcs_refs values (%s, 'refs/heads/main', %s)", row, old)
    assert rows.fetched(rows.fetch(row, old))["state"] == "stored"


def test_redirects_are_not_followed_and_get_no_credential(rows, folder, http, git_worker):
    git_worker()
    other = HttpServer(folder / "other").start()
    repository = other.repository()
    sha = repository.commit({"main.tf": ""})
    redirecting = HttpServer(folder / "redirecting", more=f'url.redirect = ("^/git/(.*)" => "{other.url}/$1")').start()
    try:
        assert sentence(rows, rows.repository(rows.connection(redirecting.url)), sha).startswith("The server redirects to another address, which is not followed.")
        assert other.requests() == []
    finally:
        redirecting.release()
        other.release()


def test_a_server_that_can_not_be_reached_is_tried_again(rows, http, git_worker):
    git_worker()
    repository = http.repository()
    sha = repository.commit({"main.tf": ""})
    row = rows.repository(rows.connection(http.url))
    http.process.stop()
    assert first_error(rows, row, sha) == f"127.0.0.1 port {http.port} can't be reached: Connection refused."
    http.start()
    rows.ask("update git_jobs set due_at = now()")
    until(lambda: not rows.jobs(), "the second try succeeds")
    assert rows.ask("select state, error from vcs_contents where repository_id = %s", row) == [("stored", None)]
    named = rows.repository(rows.connection("http://no-such-host.invalid/git"))
    assert first_error(rows, named, sha).startswith("no-such-host.invalid can't be resolved: ")


BROKEN = """#!/bin/sh
case "$PATH_INFO$REQUEST_METHOD" in
*git-upload-packPOST*) {0} ;;
*) exec {1}/git-http-backend ;;
esac
"""


@pytest.mark.parametrize("what, action", [
    ("truncated", "{1}/git-http-backend | head -c 700"),
    ("failing", 'printf "Status: 503 Service Unavailable\\r\\n\\r\\n"'),
    ("busy", 'printf "Status: 429 Too Many Requests\\r\\n\\r\\n"'),
])
def test_broken_answers_are_tried_again(rows, http, git_worker, what, action):
    git_worker()
    repository = http.repository()
    sha = repository.commit({"main.tf": "x" * 20000, "random": bytes(range(256)) * 40})
    exec_path = repository.git("--exec-path")
    (http.folder / "backend").write_text(BROKEN.replace("{0}", action).replace("{1}", exec_path))
    error = first_error(rows, rows.repository(rows.connection(http.url)), sha)
    assert {"truncated": "ended the connection too early", "failing": "The server failed.", "busy": "limits the rate"}[what] in error


def test_a_slow_server_meets_the_time_limit(rows, http, git_worker):
    git_worker(fetch_seconds=2)
    repository = http.repository()
    sha = repository.commit({"main.tf": ""})
    (http.folder / "backend").write_text("#!/bin/sh\nsleep 300\n")
    assert first_error(rows, rows.repository(rows.connection(http.url)), sha) == "git took longer than 2 s (--fetch-seconds)."
