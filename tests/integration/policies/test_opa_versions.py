# SPDX-License-Identifier: MPL-2.0
"""OPA of the exact version that a policy set asks for: installed, or downloaded from a mirror or from the site's address, with its checksum."""

import pytest

from support.mirror import Mirror
from support.opa_releases import ARCH, OPA, OPA_FOLDER, PROGRAM, TELLS, TELLS_OLD, OpaReleases, program
from support.policy_jobs import policy_set, printed, wait_for_results
from support.runyard import Worker

pytestmark = pytest.mark.skipif(not OPA, reason="opa is not installed")

OWN = "1.4.2"  # of the opa in PATH
PLAN = {"format_version": "1.2", "terraform_version": "1.11.4", "planned_values": {"root_module": {}}, "resource_changes": [], "configuration": {"root_module": {}}}
@pytest.fixture
def maker(tmp_path):
    return OpaReleases(tmp_path / "releases")


@pytest.fixture
def mirror(maker):
    mirror = Mirror(maker.folder)
    yield mirror
    mirror.release()


@pytest.fixture
def start(fake_scheduler, sandbox, folder):
    """start(option=value...) starts the worker."""
    workers = []

    def start(**options):
        worker = Worker("worker", folder, scheduler_url=fake_scheduler.url, agent_token="t", data_dir=folder / "data", sandbox=sandbox, sandbox_bind=OPA_FOLDER,
                        policy_memory=2048, **options)
        workers.append(worker)
        return worker.start()

    yield start
    for worker in workers:
        worker.release()


def versioned(version, source=TELLS, number=1, level="mandatory", **more):
    policy = {"id": "pol-AAAAAAAAAAAAAAAA", "name": "one", "query": "data.p.deny", "enforcement": level, "description": "", "source": source}
    return policy_set(policy, number=number, **{"tool-version": version}, **more)


def evaluate(fake_scheduler, *sets):
    """The status and the output of each set's policy, and the result."""
    result, results = wait_for_results(fake_scheduler.offer("opa", {"plan-json": PLAN, "policies": {"kind": "opa", "run": {}, "sets": list(sets)}}))
    return result, [(one["outcomes"][0]["status"], printed(one["outcomes"][0])) for one in results["sets"]]


def downloaded(worker):
    return sorted(path.name for path in (worker.options["data_dir"] / "engines").iterdir() if path.is_file())


def listed(mirror, version, sha, path=""):
    """A site admin's list of the version's programs."""
    return [{"os": "linux", "arch": "s390x", "url": f"{mirror.url}/none", "sha": "0" * 64}, {"os": "linux", "arch": ARCH, "url": f"{mirror.url}{path}/v{version}/{PROGRAM}", "sha": sha}]


def test_sets_are_evaluated_by_the_versions_that_they_ask_for(fake_scheduler, start, maker, mirror):
    maker.release("1.9.1")
    maker.release("0.61.0")
    worker = start(opa_mirror=mirror.url)
    sets = versioned("1.9.1"), versioned(None, number=2), versioned("v0.61.0", TELLS_OLD, number=3), versioned(OWN, number=4), versioned("1.9.1", number=5)
    result, outcomes = evaluate(fake_scheduler, *sets)
    assert result["outcome"] == "failed"
    assert outcomes == [("failed", "this is 1.9.1"), ("passed", ""), ("failed", "this is 0.61.0"), ("passed", ""), ("failed", "this is 1.9.1")]
    assert downloaded(worker) == ["opa-0.61.0", "opa-1.9.1"]
    assert sorted(mirror.requested) == sorted(f"/v{version}/{name}" for version in ("0.61.0", "1.9.1") for name in (PROGRAM, f"{PROGRAM}.sha256"))
    assert evaluate(fake_scheduler, *sets)[1] == outcomes
    assert len(mirror.requested) == 4, "they are kept"


def test_a_listed_version_comes_from_the_sites_address(fake_scheduler, start, maker, mirror):
    maker.release("1.9.1")
    maker.sums("1.9.1").unlink()
    start(opa_mirror=f"{mirror.url}/elsewhere")
    archs = listed(mirror, "1.9.1", maker.digest("1.9.1"), path="/moved")
    assert evaluate(fake_scheduler, versioned("1.9.1", **{"tool-archs": archs}))[1] == [("failed", "this is 1.9.1")]
    assert mirror.requested == [f"/moved/v1.9.1/{PROGRAM}", f"/v1.9.1/{PROGRAM}"]


WRONG = {
    "the mirror's checksum": "its SHA-256 is {digest}, and not {zeros}, as the mirror says",
    "the site's checksum": "its SHA-256 is {digest}, and not {zeros}, as the site says",
    "no checksum": "status 404 of {url}/v1.9.1/{program}.sha256",
    "the checksum of another file": "the maker has no {program}",
    "no program": "status 404 of {url}/v1.9.1/{program}",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_program_that_fails_verification_is_not_used(fake_scheduler, start, maker, mirror, wrong):
    maker.release("1.9.1")
    digest, archs, sums = maker.digest("1.9.1"), None, maker.sums("1.9.1")
    if wrong == "the mirror's checksum":
        sums.write_text(f"{'0' * 64}  {PROGRAM}\n")
    elif wrong == "the site's checksum":
        archs = listed(mirror, "1.9.1", "0" * 64)
    elif wrong == "no checksum":
        sums.unlink()
    elif wrong == "the checksum of another file":
        sums.write_text(f"{digest}  opa_darwin_amd64\n")
    elif wrong == "no program":
        (maker.folder / "v1.9.1" / PROGRAM).unlink()
    worker = start(opa_mirror=mirror.url)
    result, outcomes = evaluate(fake_scheduler, versioned("1.9.1", **{"tool-archs": archs}), versioned("1.9.1", number=2, level="advisory", **{"tool-archs": archs}), versioned(OWN, number=3))
    reason = "opa 1.9.1 can't be downloaded: " + WRONG[wrong].format(digest=digest, zeros="0" * 64, url=mirror.url, program=PROGRAM)
    status, output = outcomes[0]
    assert (result["outcome"], status, output) == ("failed", "errored", reason)
    again = reason if wrong != "the mirror's checksum" else "opa 1.9.1 can't be downloaded: its mirror failed less than five minutes ago"
    assert outcomes[1] == ("errored", again), "the version of PATH is no replacement"
    assert outcomes[2] == ("passed", ""), "other sets are evaluated"
    assert downloaded(worker) == []


def test_no_message_shows_a_mirrors_password(fake_scheduler, start, mirror):
    worker = start(opa_mirror=mirror.url.replace("//", "//me:swordfish@"))
    assert evaluate(fake_scheduler, versioned("1.9.1"))[1] == [("errored", f"opa 1.9.1 can't be downloaded: status 404 of {mirror.url}/v1.9.1/{PROGRAM}.sha256")]
    assert "swordfish" not in worker.process.log()


def test_a_downloaded_program_is_started_in_sandboxes_alone(fake_scheduler, start, maker, mirror, folder, sandbox):
    """Not even to ask it for its version: nobody signed it."""
    if sandbox == "none":
        pytest.skip("this machine has no sandbox")
    release = maker.folder / "v1.9.1"
    maker.release("1.9.1")
    (release / PROGRAM).write_text(f"#!/bin/sh\ntouch {folder}/data/escaped 2>/dev/null\n" + program("1.9.1").partition("\n")[2])
    maker.sums("1.9.1").write_text(f"{maker.digest('1.9.1')}  {PROGRAM}\n")
    start(opa_mirror=mirror.url)
    assert evaluate(fake_scheduler, versioned("1.9.1"))[1] == [("failed", "this is 1.9.1")]
    assert not (folder / "data/escaped").exists()


def test_a_worker_without_opa_downloads_its_own_version(fake_scheduler, start, maker, mirror):
    maker.release("1.7.0")
    worker = start(opa="/nowhere/opa", opa_mirror=mirror.url, opa_version="1.7.0")
    assert "opa" in [line for line in worker.log_lines() if line["msg"] == "worker started"][-1]["capabilities"].split(", ")
    assert evaluate(fake_scheduler, versioned(None), versioned("1", number=2))[1] == [("failed", "this is 1.7.0")] * 2


def test_without_a_mirror_the_installed_versions_evaluate(fake_scheduler, start, maker, mirror, folder):
    """One in the folder of engines, if it is the wanted one; else that of PATH."""
    engines = folder / "engines"
    engines.mkdir()
    for version in ("1.8.0", "1.9.1"):
        (engines / f"opa-{version}").write_text(program(version))
        (engines / f"opa-{version}").chmod(0o755)
    maker.release("1.6.0")
    worker = start(engine_dir=engines)
    archs = listed(mirror, "1.6.0", maker.digest("1.6.0"))
    sets = versioned("1.8.0"), versioned("1.6.0", number=2, **{"tool-archs": archs}), versioned("1.9.1", number=3), versioned(OWN, number=4)
    assert evaluate(fake_scheduler, *sets)[1] == [("failed", "this is 1.8.0"), ("passed", ""), ("failed", "this is 1.9.1"), ("passed", "")]
    assert downloaded(worker) == [] and mirror.requested == []


def test_programs_that_a_job_uses_are_not_removed_to_make_room(fake_scheduler, start, maker, mirror):
    """A worker keeps 16."""
    versions = [f"1.5.{number}" for number in range(17)]
    for version in versions:
        maker.release(version)
    worker = start(opa_mirror=mirror.url)
    outcomes = evaluate(fake_scheduler, *(versioned(version, number=number) for number, version in enumerate(versions)))[1]
    assert outcomes == [*(("failed", f"this is {version}") for version in versions[:16]),
                        ("errored", "opa 1.5.16 can't be downloaded: jobs use all 16 downloaded engines: try again later")]
    assert len(downloaded(worker)) == 16
    assert evaluate(fake_scheduler, versioned("1.5.16"))[1] == [("failed", "this is 1.5.16")], "the next job makes room"
    assert len(downloaded(worker)) == 16 and "opa-1.5.16" in downloaded(worker)


def test_policies_of_a_version_have_no_network(fake_scheduler, start, maker, mirror):
    """Each program is asked for its own functions."""
    maker.release("1.9.1")
    start(opa_mirror=mirror.url)
    asks = 'package p\nimport rego.v1\ndeny contains x if { x := http.send({"method": "get", "url": "http://127.0.0.1:1/"}) }\n'
    for status, output in evaluate(fake_scheduler, versioned("1.9.1", asks), versioned(None, asks, number=2))[1]:
        assert status == "errored" and "undefined function http.send" in output


def test_the_version_of_the_option_must_be_exact(start):
    with pytest.raises(AssertionError, match="--opa-version ~> 1.4 is no exact version"):
        start(opa_version="~> 1.4")
