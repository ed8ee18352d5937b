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
    """error(sha, folder): how the fetch of the commit, or of a folder of it, fails."""
    return lambda sha, folder="": rows.fetched(rows.fetch(rows.repository(rows.connection(http.url)), sha, directory=folder))["error"]


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


def test_a_folder_of_a_commit(repository, error, rows, http, git_worker):
    """Its content is that of a commit with these files at its root. A link, a file and a name that leads elsewhere are no folder."""
    git_worker()
    alone = http.repository("acme/alone")
    whole = alone.commit({"main.tf": "inner", "sub/x.tf": ""})
    sha = repository.commit({"modules/a/main.tf": "inner", "modules/a/sub/x.tf": "", "other/secret": ""})
    folder = rows.fetched(rows.fetch(rows.repository(rows.connection(http.url)), sha, directory="modules/a"))
    assert folder == rows.fetched(rows.fetch(rows.repository(rows.connection(http.url), "acme/alone.git"), whole)) and folder["state"] == "stored"
    (repository.work / "alias").symlink_to("modules/a")
    sha = repository.commit()
    for name in ("main.tf", "alias", "alias/sub", "modules/a/main.tf/x"):
        assert error(sha, name) == f"{name} is no folder, or a link leads to it."
    for name in ("absent", "modules/absent", "x" * 300):
        assert error(sha, name).startswith(f"The commit has no folder {name[:200]}")
    for name in ("..", "modules/../../x", "/etc", ".git", "modules/.GIT", "a//b"):
        assert error(sha, name) == "The source directory is not a valid path."
    link = repository.work / "modules/a/sub/link"
    link.symlink_to("../main.tf")
    assert error(repository.commit(), "modules/a") is None
    for target in ("../../../other/secret", "../../a/main.tf", "/etc/passwd"):
        link.unlink()
        link.symlink_to(target)
        assert error(repository.commit(), "modules/a") == "The link sub/link leads out of modules/a."


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
