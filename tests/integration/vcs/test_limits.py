# SPDX-License-Identifier: MPL-2.0
"""Limits of commits, links, names that clash, and large repositories. Each error names the limit or the path."""

import os

import pytest

from support.shared_git import api, database, git_worker, scheduler, shared_worker  # noqa: F401


@pytest.fixture
def repository(http):
    repository = http.repository()
    repository.commit({"main.tf": ""})
    return repository


@pytest.fixture
def error(rows, http):
    """error(sha): how the fetch of the commit fails."""
    return lambda sha: rows.fetched(rows.fetch(rows.repository(rows.connection(http.url)), sha))["error"]


def test_bytes_and_files(repository, error, git_worker):
    git_worker(fetch_size=1, fetch_files=50)
    bomb = repository.commit({"zeros": bytes(2 << 20)})
    assert error(bomb) == "The files of the commit are larger than 1 MiB (--fetch-size)."
    repository.git("rm", "-q", "zeros")
    sent = repository.commit({"random": os.urandom(3 << 20)})
    assert error(sent) == "The server sent more than 1 MiB (--fetch-size)."
    repository.git("rm", "-q", "random")
    many = repository.commit({f"many/{number}": "" for number in range(60)})
    assert error(many) == "The commit has more than 50 files (--fetch-files)."


def test_links(repository, error, git_worker):
    git_worker()
    place = repository.work / "modules"
    place.mkdir()
    (place / "inside").symlink_to("../main.tf")
    assert error(repository.commit()) is None
    for target in ("/etc/passwd", "../../etc/passwd", "x/../../../etc"):
        (place / "inside").unlink()
        (place / "inside").symlink_to(target)
        assert error(repository.commit()) == "The link modules/inside leads out of the repository."


def test_names_that_differ_in_case_alone(repository, error, git_worker):
    git_worker()
    sha = repository.commit({"modules/README": "", "modules/readme": ""})
    assert error(sha) == "modules/README and readme differ in case alone."


def test_the_same_commit_gives_the_same_archive(repository, rows, http, git_worker):
    """On another worker, and after the content was archived. The blob is stored once."""
    git_worker()
    sha = repository.commit({"a.tf": "a", "b/c.tf": "c", "run.sh": "#!/bin/sh\n"})
    row = rows.repository(rows.connection(http.url))
    one = rows.fetched(rows.fetch(row, sha))
    rows.ask("delete from vcs_contents where repository_id = %s", row)
    git_worker(git_slots=1)
    two = rows.fetched(rows.fetch(rows.repository(rows.connection(http.url)), sha))
    assert one == two and one["state"] == "stored"
