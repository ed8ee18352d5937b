# SPDX-License-Identifier: MPL-2.0
"""The calls of the hashicorp/tfe provider with its own client library, for each kind (tests/provider): create, plan
without changes, import, update, destroy."""

import os
import re
import subprocess
import threading
from http.server import ThreadingHTTPServer

import pytest

from support.gotfe import Echo
from support.process import clean_environment
from support.servers import DEPS, ROOT
from support.vcs_fakes import GitHub

MIN_KINDS = 82


@pytest.fixture(scope="module")
def github(full_site):
    provider = GitHub(full_site.folder)
    copy = provider.repository("acme/network", {"main.tf": ""}).copy
    copy.branch("policies")
    copy.commit_and_push({"policy-sets/foo/policies.hcl": "", "policy-sets/bar/policies.hcl": ""})
    yield provider
    provider.release()
    provider.check()


@pytest.fixture(scope="module")
def output(full_site, github):
    program = subprocess.run([ROOT / "tests/provider/build"], env={**os.environ, "RUNYARD_DEPS": DEPS}, check=True, capture_output=True, text=True).stdout.split()[-1]
    service = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    environment = clean_environment(TFE_ADDRESS=full_site.scheduler.url, TFE_TOKEN=full_site.api.token, TFC_RUN_TASK_URL=f"http://127.0.0.1:{service.server_port}/",
                                    GITHUB_URL=github.url, GITHUB_API_URL=github.api_url, GITHUB_POLICY_SET_IDENTIFIER="acme/network")
    try:
        yield subprocess.run([program, "-test.v"], env=environment, capture_output=True, text=True).stdout
    finally:
        service.shutdown()
        service.server_close()


def test_the_provider_manages_every_kind(output):
    results = {name: result for result, name in re.findall(r"^    --- (\w+): (\S+)", output, re.M)}
    assert [name for name, result in results.items() if result != "PASS"] == [] and "\nFAIL" not in output, output[-20000:]
    assert len(results) >= MIN_KINDS
