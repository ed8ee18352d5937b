# SPDX-License-Identifier: MPL-2.0
"""Assessed workspaces, whose states and plans a fake worker sends: no engine runs."""

import base64
import hashlib
import json

from support.synthetic import NOTHING, change, plan
from support.wait import until


def state_of(*names):
    """A state with a terraform_data of each name."""
    resources = [{"mode": "managed", "type": "terraform_data", "name": name, "provider": 'provider["terraform.io/builtin/terraform"]',
                  "instances": [{"schema_version": 0, "attributes": {"input": "a"}}]} for name in names]
    return {"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {}, "check_results": None, "resources": resources}


def found(drifted=(), harmless=(), failing=(), say=str):
    """The plan of an assessment: resources that drifted, those whose drift changes nothing, and (check, message) of failed checks."""
    changed = [change(f"terraform_data.{name}", ["update"], {"input": say("a"), "size": 1}, {"input": say("b"), "size": 1}) for name in (*drifted, *harmless)]
    undone = [change(f"terraform_data.{name}", ["update"], {"input": say("b"), "size": 1}, {"input": say("a"), "size": 1}) for name in drifted]
    checks = [{"address": {"kind": "check", "to_display": f"check.{name}"}, "status": "fail", "instances": [{"problems": [{"message": message}]}]} for name, message in failing]
    return plan(undone, resource_drift=changed, checks=checks)


class Assessments:
    """Assessments of `acme` on a site, for which one worker of the test claims jobs."""

    def __init__(self, site, api, worker):
        self.site, self.api, self.worker = site, api, worker

    def workspace(self, name, *resources, **attributes):
        """A workspace whose last run was applied, with these resources in its state."""
        workspace = self.api.workspace(name, assessments_enabled=True, **attributes)
        self.push(workspace, state_of(*resources), 1)
        run = self.api.run_files(workspace, NOTHING, auto_apply=True)
        self.worker.plan(run)
        job = self.worker.take(run, "apply")
        self.worker.on(job, "POST", "started")
        self.worker.end(job)
        self.api.wait_status(run, "applied")
        return workspace

    def push(self, workspace, state, serial):
        """Uploads a state without a run."""
        text = json.dumps({**state, "serial": serial}).encode()
        self.api.post(f"workspaces/{workspace}/actions/lock", {})
        self.api.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": {
            "serial": serial, "lineage": "l", "md5": hashlib.md5(text).hexdigest(), "state": base64.b64encode(text).decode()}}})
        self.api.post(f"workspaces/{workspace}/actions/unlock", {})

    def ask(self, workspace):
        """Begins an assessment as if the minute had passed that must be between two."""
        self.site.ask("update assessment_results set created_at = created_at - interval '2 minutes' where workspace_id = %s", workspace)
        assert self.api.post(f"workspaces/{workspace}/health/actions/assess").status == 202

    def job(self, workspace):
        """The job of the assessment that is underway."""
        ((run,),) = self.site.ask("select run_id from assessments where workspace_id = %s", workspace)
        return self.worker.take(run, "plan")

    def end(self, workspace, job, document=None, **more):
        """Ends the assessment with this plan. Returns its result."""
        before = self.api.get(f"workspaces/{workspace}/assessment-results").data
        if document is not None:
            self.worker.on(job, "PUT", "plan-json", json.dumps(document).encode())
        self.worker.end(job, **more)
        results = until(lambda: (now := self.api.get(f"workspaces/{workspace}/assessment-results").data) != before and now, "the result is stored")
        return results[0]

    def assess(self, workspace, document=None, **more):
        """An assessment that finds what the plan says. Returns its result."""
        self.ask(workspace)
        return self.end(workspace, self.job(workspace), document, **more)
