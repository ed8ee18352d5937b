# SPDX-License-Identifier: MPL-2.0
"""Reading the refs of repositories, and comparing commits."""

import pytest

from support.shared_git import api, database, git_worker, scheduler, shared_worker  # noqa: F401
from support.wait import until


@pytest.fixture
def repository(http):
    repository = http.repository()
    repository.commit({"main.tf": "# one\n", "modules/a/main.tf": "", "old.tf": ""})
    return repository


@pytest.fixture
def row(rows, http, git_worker):
    git_worker()
    return rows.repository(rows.connection(http.url))


def test_a_look_reads_branches_tags_and_pull_requests(rows, repository, row):
    one = repository.git("rev-parse", "HEAD")
    repository.branch("feature/x")
    two = repository.commit({"x.tf": ""})
    repository.git("tag", "light")
    repository.git("tag", "-a", "-m", "annotated", "v1.0")
    repository.push("light", "v1.0", "HEAD:refs/pull/7/head", "HEAD:refs/hidden/x")
    assert rows.look(row) == {"refs/heads/main": one, "refs/heads/feature/x": two, "refs/tags/light": two, "refs/tags/v1.0": two, "refs/pull/7/head": two}
    assert rows.ask("select default_branch, look_failures, look_error from vcs_repositories where id = %s", row) == [("main", 0, None)]
    written = lambda: rows.ask("select name, ctid::text, xmin::text, xmax::text from vcs_refs where repository_id = %s and name <> 'refs/heads/feature/x' order by 1", row)  # noqa: E731
    before = written()
    rows.look(row)
    assert written() == before, "refs that are as they were are not written again"
    repository.push(":refs/heads/feature/x")
    rows.look(row)
    assert written() == before
    until(lambda: rows.ask("select sha from vcs_refs where repository_id = %s and name = 'refs/heads/feature/x'", row) == [("",)], "the deletion is remembered")


def test_a_failing_repository_is_looked_at_later(rows, row, repository):
    gone = rows.repository(rows.ask("select connection_id from vcs_repositories where id = %s", row)[0][0], "acme/gone.git")
    rows.job("look", gone)
    until(lambda: not rows.jobs(), "the look ends")
    error, failures, later = rows.ask("select look_error, look_failures, look_due > now() + interval '4 minutes' from vcs_repositories where id = %s", gone)[0]
    assert error.startswith("The server has no such repository, or does not show it.") and failures == 1 and later


def test_the_changed_files_of_pushes(rows, row, repository):
    one = repository.git("rev-parse", "HEAD")
    for number in range(8):
        last = repository.commit({f"modules/b/{number}.tf": "", "old.tf": None if number == 3 else "x" * number} if number <= 3 else {f"modules/b/{number}.tf": ""})
    files = rows.diff(row, before=one, sha=last)
    assert files == [f"modules/b/{number}.tf" for number in range(8)] + ["old.tf"]
    many = repository.commit({f"many/{number}.tf": "" for number in range(301)})
    assert len(rows.diff(row, before=last, sha=many)) == 301
    assert rows.ask("select detail ->> 'author' from vcs_events where sha = %s", many) == [("Ada Author",)]


def test_a_force_push_compares_both_trees(rows, row, repository):
    repository.branch("a")
    a = repository.commit({"a.tf": ""})
    repository.git("checkout", "-q", "main")
    repository.branch("b")
    b = repository.commit({"b.tf": ""})
    assert rows.diff(row, before=a, sha=b) == ["a.tf", "b.tf"]


def test_a_new_branch_and_a_pull_request_begin_where_they_left_their_base(rows, row, repository):
    rows.look(row)
    repository.branch("topic")
    topic = repository.commit({"topic.tf": ""})
    repository.git("checkout", "-q", "main")
    repository.commit({"later.tf": ""})
    assert rows.diff(row, ref="refs/heads/topic", sha=topic) == ["topic.tf"]
    repository.branch("release")
    repository.commit({"release.tf": ""})
    repository.git("checkout", "-q", "topic")
    repository.git("merge", "-q", "--no-edit", "main")
    head = repository.commit({"more.tf": ""})
    repository.push("HEAD:refs/pull/3/head")
    assert rows.diff(row, kind="pr_open", ref="refs/heads/topic", sha=head, pull_request=3, base="main") == ["more.tf", "topic.tf"]
    assert rows.diff(row, kind="pr_open", ref="refs/heads/topic", sha=head, pull_request=3, base="release") == ["more.tf", "topic.tf"]


def test_a_commit_that_is_gone_leaves_the_files_unknown(rows, row, repository):
    sha = repository.git("rev-parse", "HEAD")
    assert rows.diff(row, before="1" * 40, sha=sha) == "The server does not have both commits any more."


def test_names_of_files_with_any_bytes(rows, row, repository):
    one = repository.git("rev-parse", "HEAD")
    names = {"ü ber.tf": "", 'quote".tf': "", "new\nline.tf": "", "-rf": "", "$(x).tf": ""}
    two = repository.commit(names)
    assert sorted(rows.diff(row, before=one, sha=two)) == sorted(names)
