# SPDX-License-Identifier: MPL-2.0
"""Plans and logs that a fake worker sends, for tests of pages that show large or hostile ones."""

import json

from support.fake_worker import FakeWorker

NOTHING = {"main.tf": ""}
PIECE = 1 << 20


class Operations:
    """Runs whose plans are what the test says."""

    def __init__(self, api, url, token):
        self.api = api
        self.worker = FakeWorker(url, token, slots=8)

    def start(self, workspace, **attributes):
        """A run whose plan has begun, and the job of the plan."""
        run = self.api.run_files(workspace, NOTHING, **attributes)
        return run, self.worker.take(run, "plan")

    def write(self, job, text, offset=0):
        """Appends to the log. Returns the offset for the next call."""
        for at in range(0, len(text), PIECE):
            self.worker.on(job, "PUT", f"log?offset={offset + at}", text[at:at + PIECE])
        return offset + len(text)

    def finish(self, job, document=None, outcome="passed", **more):
        """Ends the plan with this JSON."""
        if document is not None:
            self.worker.on(job, "PUT", "plan-json", json.dumps(document).encode())
        self.worker.end(job, outcome, **{"has-changes": True, "additions": 1, **more})

    def planned(self, workspace, text=b"", document=None, **more):
        """A run whose plan has ended, with this log and JSON."""
        run, job = self.start(workspace)
        self.write(job, text)
        self.finish(job, document, **more)
        return run


def change(address, actions, before=None, after=None, **more):
    """A resource change as in `terraform show -json`."""
    module, _, rest = address.rpartition("module.") if ".module." in address or address.startswith("module.") else ("", "", address)
    if module or address.startswith("module."):
        name, _, rest = rest.partition(".")
        module = f"{module}module.{name}"
    kind, _, name = rest.partition(".")
    sides = {key: more.pop(key) for key in ("after_unknown", "before_sensitive", "after_sensitive", "replace_paths", "importing") if key in more}
    return {"address": address, **({"module_address": module} if module else {}), "mode": "managed", "type": kind, "name": name.split("[")[0],
            "provider_name": "registry.terraform.io/example/example",
            "change": {"actions": actions, "before": before, "after": after, "after_unknown": {}, "before_sensitive": False, "after_sensitive": False, **sides},
            **more}


def plan(changes, **more):
    return {"format_version": "1.2", "terraform_version": "1.11.4", "resource_changes": changes, **more}


def large_plan(count):
    """Changes of each kind in 50 modules."""
    kinds = (["create"], ["update"], ["delete"], ["delete", "create"])
    return plan([change(f"module.m{i % 50}.example_thing.row[{i}]", kinds[i % 4], None if i % 4 == 0 else {"id": str(i), "size": 1, "name": f"n{i}"},
                        None if i % 4 == 2 else {"size": 2, "name": f"n{i}"}, after_unknown={"id": True} if i % 4 in (0, 3) else {}) for i in range(count)])
