# SPDX-License-Identifier: MPL-2.0
"""Jobs of the stage sentinel for a worker without a scheduler (fake_scheduler.py), and the worker."""

from pathlib import Path

from support.proc import ancestors
from support.runyard import Worker

SECONDS = 6
PLAN = {
    "format_version": "1.2", "terraform_version": "1.11.4",
    "planned_values": {"outputs": {}, "root_module": {}},
    "resource_changes": [{"address": "terraform_data.one", "mode": "managed", "type": "terraform_data", "name": "one",
                          "provider_name": "terraform.io/builtin/terraform", "change": {"actions": ["create"], "before": None, "after": {"input": "hello"}, "after_unknown": {}}}],
    "configuration": {"root_module": {}},
}
RUN = {"id": "run-AAAAAAAAAAAAAAAA", "message": "hello", "created-at": "2026-01-01T00:00:00Z", "created-by": "admin", "is-destroy": False, "speculative": False,
       "variables": {"with-dash": {"category": "env", "sensitive": True}}, "organization": {"name": "acme"}, "cost-estimate": None,
       "workspace": {"id": "ws-AAAAAAAAAAAAAAAA", "name": "network", "auto-apply": True}}


def policy(source, name="one", enforcement="hard-mandatory"):
    return {"id": "pol-AAAAAAAAAAAAAAAA", "name": name, "query": None, "enforcement": enforcement, "description": "", "source": source}


def start_worker(fake_scheduler, folder, sandbox, **options):
    folder.mkdir(exist_ok=True)
    worker = Worker("worker", folder, scheduler_url=fake_scheduler.url, agent_token="t", data_dir=folder / "data", sandbox=sandbox,
                    policy_seconds=SECONDS, policy_memory=2048, slots=2, **options)
    return worker.start()


def offer(fake_scheduler, *sets):
    return fake_scheduler.offer("sentinel", {"plan-json": PLAN, "policies": {"kind": "sentinel", "run": RUN, "sets": list(sets)}})


def outcomes(results, number=0):
    """The policies' statuses and outputs, by name."""
    return {one["policy_name"]: (one["status"], [entry["print"] for entry in one["output"]]) for one in results["sets"][number]["outcomes"]}


def evaluations(worker, policy=""):
    """Pids of the worker's evaluations that run now: of all policies, or of those whose name has that text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_evaluation = (folder / "comm").read_text() == "runyard-policy\n" and policy.encode() in (folder / "cmdline").read_bytes()
            if is_evaluation and worker.process.pid in ancestors(int(folder.name)):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def evaluation(worker):
    """The folder of the evaluation that runs now in /proc, once its program has started, or None."""
    for pid in evaluations(worker):
        folder = Path(f"/proc/{pid}")
        try:
            if b"\0-plan=" in (folder / "cmdline").read_bytes():
                return folder
        except OSError:
            continue
    return None


def interfaces(folder):
    """The network interfaces of a process."""
    return [line.split(":")[0].strip() for line in (folder / "net/dev").read_text().splitlines()[2:]]
