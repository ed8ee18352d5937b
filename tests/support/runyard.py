# SPDX-License-Identifier: MPL-2.0
"""Runyard's own processes."""

import contextlib
import json
import re
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from support.process import Process, clean_environment, free_port, give_to_workers, program

KEYS = "1:" + "5a" * 32
SECRET = {"database-url", "keys", "agent-token", "notifier-token", "redis-url", "object-store-access-key", "object-store-secret-key", "broker-properties", "smtp-password",
          "github-app-key", "github-app-client-secret", "github-app-webhook-secret", "oidc-client-secret"}
SERIES = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$")


def arguments(options):
    """Converts options by their Python names to argv and environment. Secrets are passed in the environment. None
    omits an option."""
    argv, environment = [], {}
    for name, value in options.items():
        name = name.replace("_", "-")
        if value is None:
            continue
        if name in SECRET:
            environment["RUNYARD_" + name.upper().replace("-", "_")] = str(value)
        else:
            argv += [f"--{name}", str(value)]
    return argv, environment


class Service:
    """A process with an address, health and metrics. It keeps its port after a restart. trust: the ssl.SSLContext that
    checks its certificate. address: where it listens. environment: variables in addition to the options."""

    binary = ""

    def __init__(self, name, folder, /, **options):
        self.folder = Path(folder)
        self.name = name
        self.port = free_port()
        self.address = options.pop("address", "127.0.0.1")
        self.options = options
        self.process = None
        self.port_file = self.folder / f"{name}.port"
        self.trust = options.pop("trust", None)
        self.environment = options.pop("environment", {})

    def launch(self):
        """Starts it without waiting."""
        self.port_file.unlink(missing_ok=True)
        options = {"listen": f"{self.address}:{self.port}", "port_file": self.port_file, **self.options}
        argv, environment = arguments(options)
        self.process = Process(self.name, [program(self.binary), *argv], self.folder, env=clean_environment(**environment, **self.environment))
        self.process.launch()
        return self

    def start(self):
        return self.launch().start_waiting()

    def start_waiting(self, ready=True):
        """Waits for the start after launch()."""
        self.process.wait_until(self.port_file.exists, "writes its port file")
        if ready:
            self.process.wait_until(self.ready, "is ready")
        return self

    @property
    def url(self):
        return f"{'https' if self.options.get('tls_certificate') else 'http'}://{self.address}:{self.port}"

    @property
    def pid(self):
        return self.process.pid

    def get(self, path):
        try:
            with urllib.request.urlopen(self.url + path, timeout=30, context=self.trust) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except (urllib.error.URLError, OSError):
            return 0, ""

    def ready(self):
        return self.get("/readyz")[0] == 200

    def metrics(self):
        """{series: value}, e.g. {'runyard_jobs_waiting{pool="default"}': 2.0}."""
        found = {}
        for line in self.get("/metrics")[1].splitlines():
            series = SERIES.match(line)
            if series:
                name, labels, value = series.groups()
                found[f"{name}{{{labels}}}" if labels else name] = float(value)
        return found

    @property
    def version(self):
        """The version that its metrics show."""
        (build,) = [series for series in self.metrics() if series.startswith("runyard_build_info")]
        return build.split('version="')[1].split('"')[0]

    def metric(self, name, **labels):
        """The sum over the name's series that have these labels. NaN, which equals no number, while the process does
        not answer."""
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        metrics = self.metrics()
        found = [value for series, value in metrics.items() if series.split("{")[0] == name and all(w in series for w in wanted)]
        return sum(found) if metrics else float("nan")

    def log_lines(self):
        """The log's JSON lines."""
        lines = []
        for line in self.process.log().splitlines():
            try:
                lines.append(json.loads(line))
            except json.JSONDecodeError:
                continue
        return lines

    def stop(self):
        return self.process.stop() if self.process else None

    def kill(self):
        self.process.kill()

    def restart(self, kill=False):
        self.kill() if kill else self.stop()
        return self.start()

    def release(self):
        """The end of the test: the process must stop in time and leave no sanitizer's report."""
        if self.process:
            self.process.stop()
            self.process.check_sanitizers()


class Scheduler(Service):
    binary = "runyard-scheduler"

    @classmethod
    def run_command(cls, *command, check=True, **options):
        """A one-off command such as migrate or bootstrap."""
        argv, environment = arguments(options)
        done = subprocess.run([program(cls.binary), *argv, *command], capture_output=True, text=True, env=clean_environment(**environment))
        if check:
            assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done


class Worker(Service):
    """A worker started as root changes to an account of its own, which writes the port file."""

    binary = "runyard-worker"

    def launch(self):
        self.port_file = self.folder / f"{self.name}.run" / "port"
        self.port_file.parent.mkdir(exist_ok=True)
        give_to_workers(self.port_file.parent)
        return super().launch()

    @contextlib.contextmanager
    def changed(self, **options):
        """Restarts it with other options for a while."""
        before = dict(self.options)
        self.stop()
        self.options.update(options)
        self.start()
        yield self
        self.stop()
        self.options = before
        self.start()


class Notifier(Service):
    binary = "runyard-notifier"
