# SPDX-License-Identifier: MPL-2.0
"""The import http in a worker: its options, the policies' network, and what leaves the sandbox."""

import shutil

import pytest

from support.authority import Authority
from support.fake_scheduler import FakeScheduler
from support.policy_jobs import policy_set, wait_for_results
from support.policy_server import PolicyServer
from support.runyard import Worker
from support.sentinel_jobs import PLAN, RUN, evaluation, interfaces, offer, outcomes, policy, start_worker
from support.wait import until

SECRET = "secret-of-the-policy"
GET = 'import "http"\nmain = rule {{ http.get("{url}").status_code is 200 }}\n'
LOOPS = "for range(10000000) as _, a { for range(10000000) as _, b {} }\nmain = true\n"


@pytest.fixture(scope="module")
def authority(session_folder):
    return Authority(session_folder)


@pytest.fixture(scope="module")
def servers(authority):
    """A listed server, one with TLS, and one that is not listed."""
    servers = {"listed": PolicyServer(), "secure": PolicyServer(authority.issue()), "other": PolicyServer()}
    yield servers
    for server in servers.values():
        server.release()


@pytest.fixture(scope="module")
def worker(fake_scheduler, sandbox, session_folder, authority, servers):
    """Jobs reach all three servers; policies the two that are listed."""
    hosts = [f"127.0.0.1:{servers[name].port}" for name in ("listed", "secure")]
    worker = start_worker(fake_scheduler, session_folder / "http-worker", sandbox, policy_network=1, policy_http_hosts=",".join(hosts), ca_file=authority.file,
                          job_network_allow=",".join([*hosts, f"127.0.0.1:{servers['other'].port}"]))
    yield worker
    worker.release()


@pytest.fixture
def evaluate(fake_scheduler, worker):
    """evaluate(SOURCE): the policy's status, and its output as one text."""

    def evaluate(source):
        _, results = wait_for_results(offer(fake_scheduler, policy_set(policy(source))))
        status, printed = outcomes(results)["one"]
        return status, "\n".join(printed)

    return evaluate


def test_a_policy_reaches_listed_hosts(evaluate, servers):
    for name in ("listed", "secure"):
        status, printed = evaluate(GET.format(url=servers[name].url + "/echo"))
        assert status == "passed", printed


def test_a_policy_reaches_no_other_host(evaluate, servers):
    """Jobs could reach it."""
    other, listed = servers["other"].url, servers["listed"].url
    for url in (f"{other}/echo", f"{listed}/to?url={other}/echo"):
        status, printed = evaluate(GET.format(url=url))
        assert status == "errored" and "127.0.0.1 is a loopback address, and no range of the allow-list has it" in printed, printed
    assert servers["other"].seen == []


def test_secrets_of_requests_are_in_no_result(evaluate, servers):
    url = servers["listed"].url
    source = f'import "http"\nparam key default "{SECRET}"\none = http.request("{url}/status/500?key=" + key).with_header("X-Key", key).with_basic_auth("ada", key)\nprint(one)\nmain = rule {{ http.get(one) is not null }}\n'
    status, printed = evaluate(source)
    assert status == "errored" and f"http: GET {url}: the status is 500" in printed and SECRET not in printed
    assert servers["listed"].seen[-1][2]["X-Key"] == SECRET


def test_only_sets_with_the_import_have_a_network(fake_scheduler, worker, sandbox):
    if sandbox != "bwrap":
        pytest.skip("without a sandbox policies have the worker's network")

    def interfaces_of(source):
        job = offer(fake_scheduler, policy_set(policy(source)))
        found = interfaces(until(lambda: evaluation(worker), "the evaluation runs"))
        fake_scheduler.stop(job)
        until(lambda: job.result, "the end of the job")
        return found

    without, with_import = interfaces_of(LOOPS), interfaces_of('import "http"\n' + LOOPS)
    assert without == ["lo"] and len(with_import) > 1, (without, with_import)


ASKS = 'package p\nimport rego.v1\ndeny contains x if { http.send({"method": "get", "url": "URL/echo"}).status_code != 200; x := "no" }\n'


@pytest.mark.skipif(not shutil.which("opa"), reason="opa is not installed")
def test_opa_has_the_network_and_the_cas_too(fake_scheduler, worker, servers):
    """The list of hosts is not OPA's."""
    for name in ("secure", "other"):
        one = {**policy(ASKS.replace("URL", servers[name].url), enforcement="mandatory"), "query": "data.p.deny"}
        _, results = wait_for_results(fake_scheduler.offer("opa", {"plan-json": PLAN, "policies": {"kind": "opa", "run": RUN, "sets": [policy_set(one)]}}))
        assert outcomes(results)["one"][0] == "passed", results
        assert servers[name].seen.pop()[1] == "/echo"


NOT_ALLOWED = {"no options": {}, "the network alone": {"policy_network": 1}, "hosts alone": {"policy_http_hosts": "127.0.0.1"}}


@pytest.fixture
def own_scheduler():
    """A scheduler whose jobs the file's worker does not get."""
    own_scheduler = FakeScheduler()
    yield own_scheduler
    own_scheduler.release()


@pytest.mark.parametrize("case", NOT_ALLOWED)
def test_it_is_off_unless_both_options_allow_it(own_scheduler, sandbox, session_folder, servers, case):
    worker = start_worker(own_scheduler, session_folder / case.replace(" ", "-"), sandbox, **NOT_ALLOWED[case])
    try:
        _, results = wait_for_results(offer(own_scheduler, policy_set(policy(GET.format(url=servers["other"].url)))))
    finally:
        worker.release()
    status, printed = outcomes(results)["one"]
    assert status == "errored" and "one.sentinel:2:15: http: requests are not allowed; a worker allows them by --policy-network 1 and --policy-http-hosts" in printed[0]
    assert servers["other"].seen == []


def test_an_invalid_list_is_refused_at_the_start(fake_scheduler, sandbox, session_folder):
    folder = session_folder / "invalid"
    folder.mkdir()
    worker = Worker("worker", folder, scheduler_url=fake_scheduler.url, agent_token="t", data_dir=folder / "data", sandbox=sandbox, policy_http_hosts="https://example.com").launch()
    assert worker.process.ended() == 2 and "--policy-http-hosts" in worker.process.log()
