# SPDX-License-Identifier: MPL-2.0
"""The guides of deploy/docs, as their readers follow them: every block of each is run in its order against a real site, and what it prints is compared with
what the guide shows. A block that can't run here has a reason, which its skipped test prints (pytest -rs)."""

import os
import re
import shutil

import pytest

from support.git_servers import HttpServer
from support.guides import Shell, blocks_of, guides, shows
from support.process import clean_environment, free_port, program
from support.runyard import KEYS
from support.servers import ROOT
from support.terraform import SERVICES

HOST = "runyard.example.com"
BLOCKS = [block for guide in guides() for block in blocks_of(guide)]
TERRAFORM = shutil.which("terraform")


@pytest.fixture(scope="module")
def git_server(full_site):
    """https://git.example.com of the guides, with the repository that they name."""
    server = HttpServer(full_site.folder / "git").start()
    server.repository("team/network").commit({"main.tf": 'resource "terraform_data" "network" {\n  input = "from git"\n}\n'}, message="Describe the network")
    yield server
    server.release()


@pytest.fixture
def shell(folder, full_site, git_server):
    """The shell of a reader who has prepared it as the guide for users says."""
    url, token = full_site.scheduler.url, full_site.tokens["token"]
    home = folder / "home"
    home.mkdir()
    services = "".join(f'    "{name}" = "{url}/api/v2/"\n' for name in SERVICES) + f'    "modules.v1" = "{url}/api/registry/v1/modules/"\n'
    (home / "terraform.rc").write_text(f'host "{HOST}" {{\n  services = {{\n{services}  }}\n}}\ncredentials "{HOST}" {{\n  token = "{token}"\n}}\n')
    environment = clean_environment(HOME=home, CHECKPOINT_DISABLE=1, TF_CLI_CONFIG_FILE=home / "terraform.rc", RUNYARD_URL=url, RUNYARD_TOKEN=token, RUNYARD_ORG="acme",
                                    RUNYARD_DATABASE_URL=full_site.database, RUNYARD_KEYS=KEYS, RUNYARD_BROKERS=full_site.scheduler.options["brokers"],
                                    PATH=f"{os.path.dirname(program('runyard-scheduler'))}:{os.environ['PATH']}")
    replaced = {"https://git.example.com": git_server.url, "secret-of-ada": git_server.password, "8099": str(free_port()), "~/runyard": str(ROOT)}
    shell = Shell(folder, environment, replaced)
    yield shell
    shell.release()


@pytest.mark.skipif(not TERRAFORM, reason="the guides use terraform")
@pytest.mark.parametrize("guide", guides(), ids=lambda path: path.stem)
def test_a_guide_can_be_followed(shell, guide):
    for block in blocks_of(guide):
        if not block.skip:
            shell.do(block)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_a_block_says_what_a_test_does_with_it(block):
    assert block.is_known, f"{block.place}: {block.language} {block.words}"
    if block.skip:
        assert re.search(r"\w+ \w+", block.skip), "a reason is a sentence"
        pytest.skip(f"{block.language} at {block.place}: {block.skip}")


def test_output_is_compared_as_a_whole():
    assert shows("a\n...\nd", "a\nb\nc\nd\n") and shows("run-...", "run-abc") and shows("...\nb", "\x1b[1ma\nb")
    assert not shows("a", "a\nb") and not shows("a\n...\nd", "a\nb") and not shows("b", "a\nb") and not shows("a.c", "abc")


@pytest.mark.parametrize("text, words", [("false", ""), ("exit 0", ""), ("true", "fails"), ("curl -sSf http://127.0.0.1:9/ | cat", "")])
def test_a_block_that_does_not_do_what_it_says_fails_the_guide(folder, text, words):
    path = folder / "wrong.md"
    path.write_text(f"```sh {words}\n{text}\n```\n")
    shell = Shell(folder, clean_environment(), {})
    try:
        with pytest.raises(AssertionError, match="wrong.md:1"):
            shell.do(blocks_of(path)[0])
    finally:
        shell.release()
