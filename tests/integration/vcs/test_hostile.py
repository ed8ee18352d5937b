# SPDX-License-Identifier: MPL-2.0
"""Names and addresses from outside, and where git may connect."""

import itertools
import os
import socket

import pytest

from support.resolver import Resolver, WithResolver
from support.wait import until


@pytest.fixture
def repository(http):
    repository = http.repository()
    repository.commit({"main.tf": ""})
    return repository


def error(rows, row, sha="1" * 40):
    """How the first try of a fetch ends."""
    content = rows.fetch(row, sha)
    until(lambda: rows.content(content)["error"] or rows.content(content)["state"] == "stored", lambda: f"a try ends: {rows.jobs()}")
    rows.ask("delete from git_jobs")
    return rows.content(content)["error"]


def test_private_addresses_need_vcs_allow(rows, http, worker, repository):
    worker()
    sha = repository.git("rev-parse", "HEAD")
    for host, what in (("127.0.0.1", "a loopback address"), ("localhost", "a loopback address"), ("[::1]", "a loopback address"),
                       ("[::ffff:127.0.0.1]", "a loopback address"), ("169.254.169.254", "a cloud's metadata service"), ("10.1.2.3", "a private address"),
                       ("[fd00:ec2::254]", "a cloud's metadata service")):
        row = rows.repository(rows.connection(f"http://{host}:{http.port}/git"))
        assert error(rows, row, sha) == f"{host.strip('[]')} port {http.port} is refused: it is {what}, which --vcs-allow does not name."
    for host in ("2130706433", "0x7f000001"):
        assert "is refused" in error(rows, rows.repository(rows.connection(f"http://{host}:{http.port}/git")), sha)
    assert http.requests() == []


def test_vcs_allow_names_addresses_and_ports(rows, http, worker, repository):
    worker(vcs_allow=f"127.0.0.1:{http.port}")
    sha = repository.git("rev-parse", "HEAD")
    assert error(rows, rows.repository(rows.connection(http.url)), sha) is None
    with socket.create_server(("127.0.0.1", 0)) as other:
        row = rows.repository(rows.connection(f"http://127.0.0.1:{other.getsockname()[1]}/git"))
        assert "is refused: it is a loopback address" in error(rows, row, sha)
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()


IDENTIFIERS = ["--upload-pack=touch${IFS}/tmp/x", "ext::sh -c id", "../../etc", "a b", "x\ny", "$(touch /tmp/x)", "`id`", "-rf", "x;id", '"x"', "file:///etc/passwd"]
ADDRESSES = ["ext::sh -c id", "file:///etc", "ftp://127.0.0.1/x", "http://user:password@127.0.0.1/x", "ssh://-oProxyCommand=id/x", "https://", "git://-x/y"]


def test_hostile_identifiers_and_addresses(rows, http, git_worker):
    git_worker()
    connection = rows.connection(http.url)
    for identifier in IDENTIFIERS:
        assert error(rows, rows.repository(connection, identifier)), identifier
    for url in ADDRESSES:
        assert error(rows, rows.repository(rows.connection(url))), url


def test_hostile_branches(rows, http, git_worker, repository):
    """They are compared and fetched like others."""
    git_worker()
    row = rows.repository(rows.connection(http.url))
    names = ["a'quote", 'b"quote', "$(id)", "`id`", "semi;colon", "x&y", "<b>", "ü"]
    for name in names:
        repository.push(f"HEAD:refs/heads/{name}")
    assert set(rows.look(row)) == {"refs/heads/main", *(f"refs/heads/{name}" for name in names)}
    repository.branch("topic")
    topic = repository.commit({"topic.tf": ""})
    for name in names:
        assert rows.diff(row, kind="pr_open", sha=topic, pull_request=1, base=name) == ["topic.tf"]
    for name in ("--upload-pack=touch /tmp/x", "x..y", "-x", "a b", "x:y"):
        assert rows.diff(row, kind="pr_open", sha=topic, pull_request=1, base=name) != ["topic.tf"]


def test_a_secret_that_the_server_repeats_is_blackened(rows, http, git_worker, repository):
    git_worker()
    (http.folder / "backend").write_text('#!/bin/sh\nprintf "Status: 403 Forbidden\\r\\nContent-Type: text/plain\\r\\n\\r\\nsecret-of-ada-1 $HTTP_AUTHORIZATION\\n"\n')
    said = error(rows, rows.repository(rows.connection(http.url)))
    assert said.startswith("The server refused access") and "secret-of-ada-1" not in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root binds port 53 and mounts a resolv.conf")
def test_names_whose_addresses_change(rows, http, folder, tokens, scheduler, bus, repository):
    """A connection goes to the address that was judged, whatever the name's next lookup says."""
    answers = iter(())
    asked = []

    def address(name):
        asked.append(name)
        return next(answers, None)

    resolver = Resolver(address)
    worker = WithResolver("worker-1", folder, resolver=resolver, scheduler_url=scheduler.all[0].url, agent_token=tokens["agent-token"], data_dir=folder / "worker-1",
                          vcs_allow=f"127.0.0.1:{http.port}", name="worker-1", **bus.options).start()
    sha, row = repository.git("rev-parse", "HEAD"), rows.repository(rows.connection(f"http://git.test:{http.port}/git"))
    refused = f"git.test port {http.port} is refused: it is a loopback address, which --vcs-allow does not name."
    try:
        with socket.create_server(("127.0.0.2", http.port)) as other:
            answers = itertools.cycle(["127.0.0.1", "127.0.0.2"])
            assert error(rows, row, sha) == (None if asked == ["git.test"] else refused), asked
            answers = itertools.cycle(["127.0.0.2", "127.0.0.1"])
            assert error(rows, row, "1" * 40) == refused
            other.setblocking(False)
            with pytest.raises(BlockingIOError):
                other.accept()
    finally:
        worker.release()
        resolver.release()
