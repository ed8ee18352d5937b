# SPDX-License-Identifier: MPL-2.0
"""The work during faults: workspaces of every kind, and a client that queues, confirms and cancels runs."""

import itertools
import random
import shutil
from urllib.parse import urlsplit, urlunsplit

from support.record import configuration
from support.servers import DEPS
from support.wait import until

OPA = (DEPS / "engines/opa").exists() or shutil.which("opa")
POLICY = "package p\ndeny[x] { x := input.plan.nothing }\n"
STAGES = {"plain": 2, "confirmed": 2, "canceled": 2, "tasks": 5, "policy": 3 if OPA else 2}  # passed by an applied run
AWAITS = ("planned", "cost_estimated", "policy_checked", "post_plan_completed")


class Work:
    """Workspaces by the path of their runs: plain, confirmed (by a user), tasks, policy, canceled (at times)."""

    def __init__(self, stack, seed, kinds=("plain", "confirmed", "tasks", "policy", "canceled", "plain")):
        self.stack = stack
        self.api = stack.api
        self.rng = random.Random(seed)
        self.turns = itertools.count(1)
        self.workspaces = {}  # id: kind
        self.configurations = {}
        for kind in kinds:
            self._workspace(kind)

    def _workspace(self, kind):
        workspace = self.api.workspace(auto_apply=kind != "confirmed")
        self.workspaces[workspace] = kind
        self.configurations[workspace] = self.api.upload(workspace, configuration(self.stack.record.port))
        if kind == "tasks":
            task = self.api.task(self.stack.receiver.service(self.call_back))
            self.api.attach(workspace, task, ["pre_plan", "post_plan", "pre_apply"])
        if kind == "policy" and OPA:
            self.api.policy_set("opa", [self.api.policy("opa", "mandatory", POLICY)], workspace)
        if kind == "plain":
            self.notify(workspace)

    def notify(self, workspace):
        """Subscribes to the end of each run."""
        data = {"type": "notification-configurations", "attributes": {
            "name": "ends", "enabled": True, "destination-type": "generic", "url": self.stack.hooks.hook().url,
            "triggers": ["run:completed", "run:errored"]}}
        self.api.post(f"workspaces/{workspace}/notification-configurations", {"data": data})

    def notified_runs(self):
        """The runs whose end was notified."""
        calls = [call for hook in self.stack.hooks.hooks.values() for call in list(hook.calls)]
        return {call.document["run_id"] for call in calls if call.trigger != "verification"}

    # ---- the service behind the run tasks ----

    def call_back(self, call):
        """Repeats the callback until it has a final answer, at any notifier: a load balancer distributes callbacks."""
        call.answer()
        call.patience = 5
        ports = itertools.cycle([part.server.port for part in self.stack.of("notifier")])

        def answered():
            url = urlsplit(call["task_result_callback_url"])
            call.document["task_result_callback_url"] = urlunsplit(url._replace(netloc=f"127.0.0.1:{next(ports)}"))
            try:
                answer = call.back("passed")
            except OSError:
                return None
            return answer.status < 500 and answer.status != 429

        until(answered, "an answer to a callback", every=0.2)

    # ---- the client ----

    def queue(self, max_runs=1):
        """Queues a run in each workspace, and sometimes a second one."""
        for workspace, version in self.configurations.items():
            for _ in range(self.rng.randint(1, max_runs)):
                self.api.run(workspace, version, variables=[{"key": "turn", "value": str(next(self.turns))}])

    def cancel(self):
        """Cancels a run that may be canceled, in any state."""
        for workspace, kind in self.workspaces.items():
            if kind == "canceled":
                runs = self.stack.rows("select id from runs where workspace_id = %s and not ended", workspace)
                if runs:
                    self.api.call("POST", f"runs/{self.rng.choice(runs)[0]}/actions/cancel", {})

    def confirm(self):
        """Makes the decisions that runs wait for."""
        waiting = self.stack.rows("select r.id from runs r where status = any(%s) and not ended and not auto_apply", list(AWAITS))
        for (run,) in waiting:
            self.api.call("POST", f"runs/{run}/actions/apply", {})
