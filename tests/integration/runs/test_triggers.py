# SPDX-License-Identifier: MPL-2.0
"""Run triggers: connections between workspaces, and the effects of an apply on the connected ones."""

import threading

import psycopg
import pytest

from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def body(source):
    return {"data": {"type": "run-triggers", "relationships": {"sourceable": {"data": {"type": "workspaces", "id": source}}}}}


def trigger(org, workspace, source):
    return org.post(f"workspaces/{workspace}/run-triggers", body(source)).data


def listed(org, workspace, kind, **query):
    return org.get(f"workspaces/{workspace}/run-triggers", **{"filter[run-trigger][type]": kind, **query})


def test_a_trigger_reads_back_and_is_deleted(org):
    source, target = org.workspace("source"), org.workspace("target")
    created = trigger(org, target, source)
    assert created == org.get(f"run-triggers/{created['id']}").data == listed(org, target, "inbound").data[0] == listed(org, source, "outbound").data[0]
    assert (created["attributes"]["workspace-name"], created["attributes"]["sourceable-name"]) == ("target", "source")
    assert listed(org, target, "outbound").data == listed(org, source, "inbound").data == []
    included = org.get(f"run-triggers/{created['id']}", include="workspace,sourceable").json["included"]
    assert {item["id"] for item in included} == {source, target}
    assert [item["id"] for item in listed(org, target, "inbound", include="sourceable").json["included"]] == [source]
    for wrong in ("", "?filter[run-trigger][type]=oubound", "?filter[run-trigger][type]=inbound&include=nonsense", "?filter[run-trigger][type]=outbound&include=workspace"):
        assert org.call("GET", f"workspaces/{target}/run-triggers{wrong}").status == 400, wrong
    org.delete(f"run-triggers/{created['id']}")
    assert org.call("GET", f"run-triggers/{created['id']}").status == org.call("DELETE", f"run-triggers/{created['id']}").status == 404


def test_invalid_and_foreign_sources_are_refused(org, api_site):
    source, target, foreign = org.workspace(), org.workspace(), api_site.organization().workspace()
    path, pointer = f"workspaces/{target}/run-triggers", "/data/relationships/sourceable"
    trigger(org, target, source)
    for sent in (body(source), body(target), {"data": {"type": "run-triggers"}}, body(None), body(7)):
        answer = org.call("POST", path, sent)
        assert answer.status == 422 and answer.json["errors"][0]["source"]["pointer"] == pointer, answer.text
    for unknown in (foreign, "nonexisting"):
        assert org.call("POST", path, body(unknown)).status == 404
    trigger(org, source, target)  # the opposite direction is another trigger
    assert len(listed(org, target, "inbound").data) == 1


def test_a_workspace_has_at_most_twenty_sources(org):
    target, sources = org.workspace(), [org.workspace() for _ in range(23)]
    answers = []
    threads = [threading.Thread(target=lambda s=s: answers.append(org.call("POST", f"workspaces/{target}/run-triggers", body(s)).status)) for s in sources]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [201] * 20 + [422] * 3
    assert listed(org, target, "inbound").json["meta"]["pagination"]["total-count"] == 20
    beyond = listed(org, target, "inbound", **{"page[number]": 999})
    assert beyond.data == [] and beyond.json["meta"]["pagination"]["current-page"] == 999


# ---- effects of an apply ----


def runs(org, workspace):
    return org.get(f"workspaces/{workspace}/runs").data


def triggered(org, *workspaces, count=1):
    """Waits until each workspace has that many runs."""
    for workspace in workspaces:
        until(lambda w=workspace: len(runs(org, w)) == count, f"{workspace} has {count} runs")


def trigger_events(org, run, count):
    """The run's events about triggers, once there are that many."""
    return until(lambda: (lambda texts: texts if len(texts) == count else None)([text for _, text in org.events(run, "run-trigger")]), f"{run} has {count} events of triggers")


@pytest.fixture
def fake_worker(api_site):
    return api_site.fake_worker()


def apply(org, fake_worker, workspace, outcome="passed", times=1):
    """A run of the workspace, applied by the test's worker, which repeats its result `times` times."""
    run = org.run_files(workspace, ONE)
    fake_worker.plan(run)
    org.act(run, "apply")
    job = fake_worker.take(run, "apply")
    for _ in range(times):
        fake_worker.end(job, outcome)
    return run


def test_an_apply_queues_a_run_in_every_target(org, fake_worker):
    source, plain, auto, idle = org.workspace("source"), org.workspace(auto_apply=True), org.workspace(auto_apply_run_trigger=True), org.workspace()
    for target in (plain, auto):
        trigger(org, target, source)
        org.upload(target, ONE)
        org.upload(target, ONE, speculative=True)
    run = apply(org, fake_worker, source, times=3)
    assert org.status(run) == "applied"
    triggered(org, plain, auto)
    for target, applies in ((plain, False), (auto, True)):
        (queued,) = runs(org, target)
        shown = queued["attributes"]
        assert (shown["auto-apply"], shown["trigger-reason"], shown["plan-only"]) == (applies, "run_trigger", False)
        assert run in shown["message"] and "source" in shown["message"] and shown["source"] == "tfe-run-trigger"
        assert shown["status"] == "plan_queued" and queued["relationships"]["created-by"]["data"] is None
        assert any(queued["id"] in text for _, text in org.events(run, "run-trigger"))
    assert runs(org, idle) == []
    # A triggered run that is applied triggers its own targets.
    trigger(org, idle, auto)
    org.upload(idle, ONE)
    chained = runs(org, auto)[0]["id"]
    fake_worker.plan(chained)
    fake_worker.end(fake_worker.take(chained, "apply"), "passed")
    triggered(org, idle)


def test_only_applied_runs_trigger_targets(org, fake_worker):
    source, target = org.workspace(), org.workspace()
    trigger(org, target, source)
    org.upload(target, ONE)
    apply(org, fake_worker, source, outcome="errored")
    unchanged = org.run_files(source, ONE)
    fake_worker.end(fake_worker.take(unchanged, "plan"), "passed")
    speculative = org.run(source, plan_only=True)
    fake_worker.plan(speculative)
    assert org.status(unchanged) == org.status(speculative) == "planned_and_finished"
    triggered(org, target, count=0)
    applied = apply(org, fake_worker, source)
    triggered(org, target)
    assert applied in runs(org, target)[0]["attributes"]["message"]


def test_locked_targets_run_later_and_unusable_targets_are_skipped(org, fake_worker):
    source, locked, local, empty, fine = org.workspace(), org.workspace(), org.workspace(execution_mode="local"), org.workspace("empty"), org.workspace()
    for target in (locked, local, empty, fine):
        trigger(org, target, source)
    for target in (locked, fine):
        org.upload(target, ONE)
    org.post(f"workspaces/{locked}/actions/lock", {})
    run = apply(org, fake_worker, source)
    assert org.status(run) == "applied"
    texts = trigger_events(org, run, 4)
    assert [r["attributes"]["status"] for r in runs(org, locked)] == ["pending"]
    assert [r["attributes"]["status"] for r in runs(org, fine)] == ["plan_queued"]
    assert runs(org, local) == runs(org, empty) == []
    assert any("local execution" in text for text in texts) and any(text.startswith("empty: Configuration version must exist") for text in texts)
    org.post(f"workspaces/{locked}/actions/unlock")
    assert [r["attributes"]["status"] for r in runs(org, locked)] == ["plan_queued"]


def test_two_workspaces_that_trigger_each_other_do_not_deadlock(org, fake_worker):
    """Each apply locks the other's workspace. Neither trigger is lost, in any order."""
    first, second = org.workspace(), org.workspace()
    trigger(org, first, second)
    trigger(org, second, first)
    applying = {}
    for workspace in (first, second):
        applying[workspace] = org.run_files(workspace, ONE)
        fake_worker.plan(applying[workspace])
    jobs = []
    for run in applying.values():
        org.act(run, "apply")
        jobs.append(fake_worker.take(run, "apply"))
    threads = [threading.Thread(target=fake_worker.end, args=(job, "passed")) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for workspace, run in applying.items():
        assert org.status(run) == "applied"
        triggered(org, workspace, count=2)
        assert [r["attributes"]["trigger-reason"] for r in runs(org, workspace)] == ["run_trigger", "manual"]


# ---- targets that fail ----


def test_a_failing_target_affects_neither_the_apply_nor_other_targets(org, api_site, fake_worker):
    source, broken, fine = org.workspace(), org.workspace("broken"), org.workspace("fine")
    for target in (broken, fine):
        trigger(org, target, source)
        org.upload(target, ONE)
    variable = org.variable(broken, "secret", "s3cr3t", sensitive=True)
    ((sealed,),) = api_site.ask("select value_sealed from variables where id = %s", variable)
    api_site.change("update variables set value_sealed = set_byte(value_sealed, 20, get_byte(value_sealed, 20) # 1) where id = %s", variable)
    run = apply(org, fake_worker, source)
    assert org.status(run) == "applied"
    triggered(org, fine)
    texts = trigger_events(org, run, 2)
    assert any(text.startswith("broken: the run can't be created yet, and is tried again: the variable secret can't be read") for text in texts)
    assert runs(org, broken) == [] and "s3cr3t" not in str(texts)
    until(lambda: api_site.ask("select tries from pending_run_triggers where workspace_id = %s", broken)[0][0] > 1, "the trigger is retried")
    assert len(trigger_events(org, run, 2)) == 2
    api_site.change("update variables set value_sealed = %s where id = %s", sealed, variable)
    triggered(org, broken)
    assert runs(org, broken)[0]["id"] in trigger_events(org, run, 3)[2]
    assert api_site.ask("select count(*) from pending_run_triggers where run_id = %s", run) == [(0,)]


def test_an_apply_does_not_wait_for_a_target_under_deletion(org, api_site, fake_worker):
    source, deleted, kept = org.workspace(), org.workspace("deleted"), org.workspace("kept")
    for target in (deleted, kept):
        trigger(org, target, source)
        org.upload(target, ONE)
    run = org.run_files(source, ONE)
    fake_worker.plan(run)
    org.act(run, "apply")
    job = fake_worker.take(run, "apply")
    with psycopg.connect(api_site.database) as deletion:
        deletion.execute("select 1 from workspaces where id = any(%s) for update", ([deleted, kept],))
        fake_worker.end(job, "passed")
        assert org.status(run) == "applied"
        tried = lambda: api_site.ask("select count(*) from pending_run_triggers where run_id = %s and tries > 0", run) == [(2,)]
        until(tried, "both targets were tried")
        assert org.events(run, "run-trigger") == []
        deletion.execute("delete from workspaces where id = %s", (deleted,))
    triggered(org, kept)
    texts = trigger_events(org, run, 2)
    assert sorted(texts) == sorted([f"{deleted}: the workspace was deleted", f"kept: {runs(org, kept)[0]['id']}"])


def test_a_pending_trigger_survives_its_scheduler_and_creates_one_run(org, api_site, fake_worker):
    """Another scheduler creates the run. Two that check at the same time create one."""
    source, target = org.workspace(), org.workspace()
    trigger(org, target, source)
    org.upload(target, ONE)
    with psycopg.connect(api_site.database) as busy:
        busy.execute("select 1 from workspaces where id = %s for update", (target,))
        run = apply(org, fake_worker, source)
        api_site.scheduler.kill()
        others = [api_site.new_scheduler(f"scheduler-{number}") for number in (2, 3)]
        for other in others:
            other.start()
    api_site.scheduler.start()
    try:
        triggered(org, target)
        until(lambda: api_site.ask("select count(*) from pending_run_triggers where run_id = %s", run) == [(0,)], "no trigger is pending")
        triggered(org, target)
    finally:
        for other in others:
            other.release()
