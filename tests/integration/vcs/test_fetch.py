# SPDX-License-Identifier: MPL-2.0
"""Fetching commits over HTTP, with a password."""

from support.shared_git import api, database, git_worker, scheduler, shared_worker  # noqa: F401


def test_a_commit_is_fetched_and_stored(rows, http, git_worker):
    git_worker()
    repository = http.repository()
    sha = repository.commit({"main.tf": "# one\n", "modules/a/main.tf": "", "run.sh": "#!/bin/sh\n"})
    content = rows.fetched(rows.fetch(rows.repository(rows.connection(http.url)), sha))
    assert content["state"] == "stored" and content["error"] is None and content["blob_id"] and len(content["hash"]) == 64
    assert rows.jobs() == []
    assert any(" 401 " in line for line in http.requests()), "git asks without a login first"


def test_a_wrong_password_is_one_clear_error(rows, http, git_worker):
    git_worker()
    sha = http.repository().commit({"main.tf": ""})
    content = rows.fetched(rows.fetch(rows.repository(rows.connection(http.url, password="wrong-password")), sha))
    assert content["error"] == "The server refused the connection's user and password."
    assert rows.jobs() == []


def test_without_a_sandbox(rows, http, git_worker):
    git_worker(sandbox="none", job_network="host")
    repository = http.repository()
    sha = repository.commit({"main.tf": ""})
    row = rows.repository(rows.connection(http.url))
    assert rows.fetched(rows.fetch(row, sha))["state"] == "stored"
    assert rows.look(row) == {"refs/heads/main": sha}
    assert rows.diff(row, before=sha, sha=repository.commit({"x.tf": ""})) == ["x.tf"]
