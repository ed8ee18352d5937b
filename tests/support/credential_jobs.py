# SPDX-License-Identifier: MPL-2.0
"""Plans and applies with dynamic credentials, for workers without a scheduler (fake_scheduler.py)."""

import base64
import json
import re
import tempfile
from pathlib import Path

from support.api import tar_gz
from support.fake_scheduler import FakeScheduler
from support.runyard import Worker
from support.wait import until


def jwt(name):
    """A text with the form of a token, different for each name."""
    parts = ({"alg": "RS256", "kid": name}, {"sub": f"workspace:{name}", "jti": name * 3}, name * 5)
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)


class Desk:
    """A scheduler and its worker."""

    def __init__(self, folder, name, sandbox, **options):
        folder = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=folder))
        folder.chmod(0o755)
        self.scheduler = FakeScheduler()
        self.worker = Worker(name, folder, scheduler_url=self.scheduler.url, agent_token="t", data_dir=folder / "data", sandbox=sandbox, slots=2, **options)

    def start(self):
        self.worker.start()
        return self

    def release(self):
        self.worker.release()
        self.scheduler.release()

    def offer(self, stage, files, credentials=(), **facts):
        """Begins a job. `files`: those of the configuration, and the plan of an apply."""
        plan = files.pop("plan", None)
        downloads = {"configuration": tar_gz(files), **({"plan": plan} if plan else {})}
        return self.scheduler.offer(stage, downloads, credentials=list(credentials), **facts)

    def run(self, stage, files, credentials=(), **facts):
        job = self.offer(stage, files, credentials, **facts)
        until(lambda: job.result, f"the result of the {stage}")
        return job


def log(job):
    """The log that the worker has sent."""
    parts = {int(match.group(1)): body for name, body in job.sent.items() if (match := re.match(r"log\?offset=(\d+)", name))}
    return b"".join(parts[offset] for offset in sorted(parts)).decode(errors="replace")


def printed(job):
    """What provisioners printed."""
    lines = [json.loads(line) for line in log(job).splitlines() if line.startswith("{")]
    return "\n".join(line["hook"]["output"] for line in lines if line["type"] == "provision_progress")


def decoded(job):
    """What a provisioner printed as base64 after "BEGIN" in one line, as bytes: redaction does not recognize it."""
    return base64.b64decode(re.search(r"BEGIN(\S+)", printed(job)).group(1))


def uploads(job):
    """All that the worker has sent but the log."""
    return b"".join(body for name, body in job.sent.items() if not name.startswith("log"))
