# SPDX-License-Identifier: MPL-2.0
"""A worker as the only container of a Kubernetes pod: its processes end together, and its data ends with the pod."""

import contextlib
import os
import shutil
import signal
from pathlib import Path

from support.proc import ancestors


class Pod:
    """`make` is the fixture `worker`."""

    def __init__(self, make, **options):
        self.make = make
        self.worker = make(**options)
        self.runs = [self.worker]

    @property
    def data(self):
        return Path(self.worker.options["data_dir"])

    def restart(self):
        """The container restarts: the kernel ends all its processes, and its volumes stay."""
        self._kill()
        self.worker.launch().start_waiting(ready=False)

    def lose(self):
        """The pod is killed, or its node is lost."""
        self._kill()
        shutil.rmtree(self.data)

    def end(self):
        """The pod ends after SIGTERM. Returns the worker's exit status."""
        self.worker.process.send(signal.SIGTERM)
        return self.ended()

    def ended(self):
        status = self.worker.process.ended()
        shutil.rmtree(self.data)
        return status

    def replace(self):
        """The next pod of the Deployment."""
        options = {name: value for name, value in self.worker.options.items() if name not in ("name", "data_dir")}
        self.worker = self.make(**options)
        self.runs.append(self.worker)

    def applies(self):
        """How many applies all pods have claimed."""
        lines = [line for run in self.runs for line in run.log_lines()]
        return sum(line["msg"] == "job claimed" and line["stage"] == "apply" for line in lines)

    def _kill(self):
        pids = [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if self.worker.pid in ancestors(int(folder.name))]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in (self.worker.pid, *pids):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
        self.worker.process.kill()
