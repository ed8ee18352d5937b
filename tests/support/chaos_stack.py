# SPDX-License-Identifier: MPL-2.0
"""The stack for faults: two of every process of Runyard, and a proxy on each of their connections.

    scheduler-N > postgres, scheduler-N > broker, worker-N > scheduler, worker-N > broker,
    notifier-N > scheduler, notifier-N > broker, notifier-N > redis
"""

import itertools
import os
import signal
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from support.api import Api
from support.hooks import Hooks
from support.proc import engines
from support.proxy import Proxy, Wires
from support.receiver import Receiver
from support.record import Record
from support.runyard import KEYS, Notifier, Scheduler, Worker
from support.servers import DEPS, Broker, Kafka, Postgres, Redis
from support.site import release_all, sandbox_kind
from support.wait import until

EACH = 2  # schedulers, workers and notifiers
LEASE = 4  # seconds
SLOTS = 2
KINDS = ("scheduler", "worker", "notifier", "broker", "postgres", "redis")


class Client(Api):
    """Calls the schedulers in turn until one answers: a persistent client of a site with a load balancer."""

    def __init__(self, urls, token):
        self.urls = itertools.cycle(urls)
        self.wrong = []  # answers that no fault explains
        super().__init__(next(self.urls), token)

    def call(self, method, path, body=None, headers=None, timeout=4):
        def answered():
            try:
                answer = super(Client, self).call(method, path, body, headers, timeout)
            except OSError:
                answer = None
            if answer is not None and answer.status == 500:
                self.wrong.append(f"{method} {path}: {answer.status} {answer.text[:300]}")
            if answer is None or answer.status in (429, 500, 502, 503, 504):
                self.url = next(self.urls)
                return None
            return answer

        return until(answered, f"an answer to {method} {path}", every=0.2)


def process_tree(pid):
    """The process and all its descendants."""
    found = [pid]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except OSError:
                continue
    return found


class Part:
    """One process that can be killed, stopped and restarted. For PostgreSQL this includes all children, which would
    keep serving without it. A worker's children are other programs, which continue while it is stopped."""

    def __init__(self, kind, name, server):
        self.kind = kind
        self.name = name
        self.server = server
        self.stopped = []

    def _pids(self):
        pid = self.server.process.pid
        return process_tree(pid) if self.kind == "postgres" else [pid]

    def _send(self, pids, number):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        self._send(self._pids(), signal.SIGKILL)
        self.server.process.ended()

    def stop(self):
        self.stopped = self._pids()
        self._send(self.stopped, signal.SIGSTOP)

    def resume(self):
        self._send(self.stopped, signal.SIGCONT)
        self.stopped = []

    def start(self):
        self.server.start()

    def died(self):
        """The reason, if it exited without being killed."""
        process = self.server.process
        return None if process.alive() else f"{self.name} ended by itself with {process.popen.returncode}:\n{process.log_end()}"


class Stack:
    def __init__(self, folder, embedded=False):
        self.folder = Path(folder)
        self.embedded = embedded
        self.parts = []  # Part, in the order of their start
        self.proxies = {}  # {(from, to): Proxy}
        self.to_release = []  # further things to be stopped with the stack
        self.wires = self.keep(Wires())
        self.record = self.keep(Record(self.folder / "record"))
        self.hooks = self.keep(Hooks())
        self.receiver = self.keep(Receiver().start())

    def keep(self, thing):
        self.to_release.append(thing)
        return thing

    def proxy(self, who, to, *ports):
        proxy = self.proxies[who, to] = self.keep(Proxy(self.wires, *ports))
        return proxy

    def start_part(self, kind, server, name=None):
        part = Part(kind, name or kind, server)
        self.parts.append(part)
        server.start()
        return server

    def of(self, kind):
        return [part for part in self.parts if part.kind == kind]

    # ---- start ----

    def start(self):
        self.postgres = self.start_part("postgres", Postgres())
        self.redis = self.start_part("redis", Redis(self.folder))
        self.bus = self.start_part("broker", Broker(self.folder) if self.embedded else self._kafka())
        self.database, self.tokens = self.postgres.new_bootstrapped()
        numbers = range(1, EACH + 1)
        schedulers = [self._scheduler(number) for number in numbers]
        ports = [one.port for one in schedulers]
        for number in numbers:
            self._worker(number, ports)
            self._notifier(number, ports)
        self.api = Client([one.url for one in schedulers], self.tokens["token"])
        return self

    def _kafka(self):
        names = [f"{kind}-{number}" for kind in ("scheduler", "worker", "notifier") for number in range(1, EACH + 1)]
        proxied_ports = {name: self.proxy(name, "broker").port for name in names}
        kafka = Kafka(self.folder, proxied_ports)
        for name in names:
            self.proxies[name, "broker"].targets = [kafka.target_ports[name]]
        return kafka

    def broker_options(self, name):
        """The options for the process's connection to the broker. The embedded broker is reached without a proxy."""
        proxy = self.proxies.get((name, "broker"))
        return {**self.bus.options, **({"brokers": f"127.0.0.1:{proxy.port}"} if proxy else {})}

    def _scheduler(self, number):
        name = f"scheduler-{number}"
        parsed_url = urlsplit(self.database)
        proxy = self.proxy(name, "postgres", parsed_url.port)
        database = parsed_url._replace(netloc=f"{parsed_url.username}@127.0.0.1:{proxy.port}").geturl()
        return self.start_part("scheduler", Scheduler(name, self.folder, database_url=database, keys=KEYS, lease_seconds=LEASE, task_allow="127.0.0.1",
                                                      rate_limit=0, **self.broker_options(name)), name)

    def _worker(self, number, schedulers):
        name = f"worker-{number}"
        url = f"http://127.0.0.1:{self.proxy(name, 'scheduler', *schedulers).port}"
        opa = DEPS / "engines/opa"
        self.start_part("worker", Worker(name, self.folder, scheduler_url=url, agent_token=self.tokens["agent-token"], name=name, slots=SLOTS,
                                         data_dir=self.folder / name, sandbox=sandbox_kind(), opa=opa if opa.exists() else None,
                                         job_network_allow=f"127.0.0.1:{self.record.port}", **self.broker_options(name)), name)

    def _notifier(self, number, schedulers):
        name = f"notifier-{number}"
        url = f"http://127.0.0.1:{self.proxy(name, 'scheduler', *schedulers).port}"
        redis = self.proxy(name, "redis", self.redis.port)
        self.start_part("notifier", Notifier(name, self.folder, scheduler_url=url, notifier_token=self.tokens["notifier-token"], allow="127.0.0.1",
                                             redis_url=f"redis://127.0.0.1:{redis.port}/0", name=name, response_timeout_ms=5000, **self.broker_options(name)), name)

    # ---- use ----

    def rows(self, sql, *parameters):
        """Runs a query as soon as PostgreSQL answers, over a connection without a proxy."""

        def read():
            try:
                with psycopg.connect(self.database, autocommit=True, connect_timeout=5) as connection:
                    return [connection.execute(sql, parameters).fetchall()]
            except psycopg.OperationalError:
                return None

        return until(read, "PostgreSQL answers", every=0.2)[0]

    def engines(self, workspaces):
        """(workspace, run, worker) of the engines that run for one of these workers."""
        return [one for one in engines([part.server.pid for part in self.of("worker")]) if one[0] in workspaces]

    def died(self):
        return [why for part in self.parts if (why := part.died())]

    def release(self):
        for part in self.parts:
            part.resume()
        for proxy in self.proxies.values():
            proxy.heal()
        release_all([part.server for part in self.parts])
        for thing in reversed(self.to_release):
            thing.release()
