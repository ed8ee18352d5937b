# SPDX-License-Identifier: MPL-2.0
"""The Debian packages and their units on a bare Debian 12 with a booted systemd: a virtual machine that is set up as the
operator's manual says. The tests use one machine, in the order of this file."""

import json
import os
import re
import shutil

import pytest

from support import host_snapshot, machine, release
from support.api import FINAL, Api
from support.process import free_port, which
from support.site import new_folder
from support.wait import until

pytestmark = [pytest.mark.timeout(3600),  # a machine without hardware virtualization, beside other tests
              pytest.mark.skipif(os.geteuid() != 0 or os.uname().machine != "x86_64", reason="only root can make the image, for amd64")]

SERVERS = ["postgresql", "redis-server"]
UNITS = ["runyard-scheduler", "runyard-notifier", "runyard-worker@default"]
WORKER = UNITS[2]
SECRETS = "/etc/runyard/secrets"
GROUP = f"/sys/fs/cgroup/system.slice/system-runyard*/{WORKER}.service"
MEMORY = 400  # MiB
PATIENCE = 1200  # seconds: the machine has no hardware virtualization, and this one has other work
ENDS_PROCESSES = {1, 2, 3, 9, 15}
APT = "DEBIAN_FRONTEND=noninteractive apt-get -qq"

# The manual's steps, with settings for this test.
SETTINGS = {
    "scheduler.env": "RUNYARD_LISTEN=0.0.0.0:{port}\nRUNYARD_BROKERS=127.0.0.1:9092\n",
    "notifier.env": "RUNYARD_SCHEDULER_URL=http://127.0.0.1:{port}\nRUNYARD_BROKERS=127.0.0.1:9092\n",
    "worker.env": "RUNYARD_SCHEDULER_URL=http://127.0.0.1:{port}\nRUNYARD_BROKERS=127.0.0.1:9092\nRUNYARD_ENGINE=/opt/terraform\n",
    "worker-default.env": f"RUNYARD_JOB_MEMORY={MEMORY}\nRUNYARD_LISTEN=127.0.0.1:9466\n",
}
SERVERS_START = """
install /mnt/runyard-broker /mnt/terraform /opt
systemd-run -q --unit=broker -p Type=exec -p DynamicUser=yes /opt/runyard-broker --port 9092
cd /
runuser -u postgres -- psql -q -c "create role runyard login password 'of-the-database'" -c "create database runyard owner runyard"
"""
SECRETS_MAKE = f"""
umask 077
echo postgresql://runyard:of-the-database@127.0.0.1/runyard > {SECRETS}/scheduler/database-url
echo "1:$(openssl rand -hex 32)" > {SECRETS}/scheduler/keys
"""
BOOTSTRAP = f"""
RUNYARD_DATABASE_URL_FILE={SECRETS}/scheduler/database-url RUNYARD_KEYS_FILE={SECRETS}/scheduler/keys \\
    runyard-scheduler bootstrap admin admin@example.com acme
"""


class Installed:
    """The machine with the packages, and a client of its scheduler."""

    def __init__(self, host, port):
        self.host, self.port = host, port
        self.run, self.call = host.run, host.call

    def install(self):
        self.run(f"{APT} install /mnt/packages/*.deb")
        self.run(SERVERS_START)
        self.run(SECRETS_MAKE)
        for name, text in SETTINGS.items():
            self.run(f"cat >> /etc/runyard/{name}", text.format(port=self.port))
        self.run("systemctl enable --now runyard-scheduler")
        self.tokens = json.loads(self.run(BOOTSTRAP))
        self.secret("notifier/notifier-token", self.tokens["notifier-token"])
        self.secret("worker-default/agent-token", self.tokens["agent-token"])
        self.run("systemctl enable --now runyard-notifier runyard-worker@default")
        self.api = Api(f"http://127.0.0.1:{self.port}", self.tokens["token"])
        return self

    def secret(self, path, text):
        self.run(f"umask 077; mkdir -p $(dirname {SECRETS}/{path}); cat > {SECRETS}/{path}", text + "\n")

    # ---- units ----

    def shown(self, unit, name):
        return self.run(f"systemctl show -P {name} '{unit}'").strip()

    def pid(self, unit):
        return int(self.shown(unit, "MainPID"))

    def wait_state(self, unit, state):
        until(lambda: self.shown(unit, "ActiveState") == state, lambda: f"{unit} is {state}\n{self.journal(unit)}", PATIENCE, 1)

    def journal(self, unit):
        return self.run(f"journalctl --no-pager -n 1000 -u '{unit}'")

    # ---- runs ----

    def start(self, command):
        """A run whose apply executes the shell commands."""
        text = f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    interpreter = ["/bin/bash", "-c"]\n    command = "{command}"\n  }}\n}}\n'
        return self.api.run_files(self.api.workspace(auto_apply=True), {"main.tf": text})

    def wait_output(self, run, text):
        """Waits until the apply's command has printed the text."""
        def printed():
            status = self.api.status(run)
            assert status not in FINAL, f"{status}: {self.api.logs(run)}"
            return status == "applying" and f"(local-exec): {text}" in self.api.log(run, "apply")

        until(printed, lambda: f"{run} prints {text}: {self.api.logs(run)}", PATIENCE, 1)

    def result(self, run):
        """The status in which the run ends."""
        until(lambda: self.api.status(run) in FINAL, lambda: f"{run} ends: {self.api.logs(run)}", PATIENCE, 1)
        return self.api.status(run)

    def open_gate(self):
        """Lets the command `until [ -e gate ]; ...` end, which runs in bash."""
        self.run(f'for pid in $(cat {GROUP}/job-*/cgroup.procs); do if grep -q bash /proc/$pid/comm; then touch /proc/$pid/cwd/gate; fi; done')


@pytest.fixture(scope="module")
def system():
    folder = new_folder("systemd")
    settings = {name: host_snapshot.setting(name) for name in host_snapshot.KERNEL_SETTINGS}
    mounts = host_snapshot.mounts("self", folder)
    built = release.build()
    packages = release.packages(built, folder / "media/packages").values()
    machine.prepare(list(packages), SERVERS)
    shutil.rmtree(folder / "media/packages/_CPack_Packages")
    shutil.copy(which("terraform"), folder / "media")
    shutil.copy(built / "bin/runyard-broker", folder / "media")
    port = free_port()
    host = machine.Machine(folder, folder / "media", [port])
    try:
        yield Installed(host.boot(), port).install()
    finally:
        host.stop()
        shutil.rmtree(folder)
    assert {name: host_snapshot.setting(name) for name in settings} == settings
    assert host_snapshot.mounts("self", folder) == mounts


@pytest.fixture(autouse=True)
def started(system):
    """Each test begins with services that run."""
    for unit in UNITS:
        system.run(f"systemctl start '{unit}'")


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_is_active_after_its_start(system, unit):
    assert system.shown(unit, "ActiveState") == "active" and system.shown(unit, "SubState") == "running"
    assert system.shown(unit, "Type") == "notify" and system.shown(unit, "WatchdogUSec") == "1min"
    assert system.shown(unit, "NRestarts") == "0", system.journal(unit)
    assert system.run(f"ps -o user:20= -p {system.pid(unit)}").strip() == re.sub("@.*", "", unit)


@pytest.mark.parametrize("unit, secret, variable", [
    (UNITS[0], "scheduler/keys", "KEYS"), (UNITS[0], "scheduler/database-url", "DATABASE_URL"),
    (UNITS[1], "notifier/notifier-token", "NOTIFIER_TOKEN"), (WORKER, "worker-default/agent-token", "AGENT_TOKEN")])
def test_a_secret_is_a_credential_of_the_unit(system, unit, secret, variable):
    """The account can't read the operator's file, and the environment has only the path of the credential."""
    pid, name = system.pid(unit), secret.split("/")[1]
    environment = system.run(f"tr '\\0' '\\n' < /proc/{pid}/environ").splitlines()
    credential = f"/run/credentials/{unit}.service/{name}"
    assert f"RUNYARD_{variable}_FILE={credential}" in environment
    value = system.run(f"cat {SECRETS}/{secret}").strip()
    assert system.run(f"nsenter -t {pid} -m cat {credential}").strip() == value
    assert not any(value in line for line in environment)
    assert system.call(f"runuser -u {re.sub('@.*', '', unit)} -- cat {SECRETS}/{secret}")[0] != 0


def test_a_unit_without_its_secret_fails(system):
    assert system.call("systemctl start runyard-worker@other")[0] != 0
    assert system.shown("runyard-worker@other", "ExecMainStatus") == "243"  # EXIT_CREDENTIALS
    system.run("systemctl stop runyard-worker@other; systemctl reset-failed")


def test_a_job_runs_in_a_sandbox_with_a_control_group(system):
    run = system.start("echo seen $(ls /etc/runyard 2>&1); cat /proc/self/cgroup; tr '\\\\t' ' ' < /proc/self/status")
    assert system.result(run) == "applied"
    log = system.api.log(run, "apply")
    assert f"{WORKER}.service/job-" in log, log
    assert re.search(r"CapEff: 0{16}", log) and re.search(r"NoNewPrivs: 1", log), log
    assert '"sandbox":"bwrap"' in system.journal(WORKER) and "memory, processes" in system.journal(WORKER)


def signals(system):
    """{pid: signals} that the kernel has recorded: those that end processes."""
    found = {}
    for number, pid in re.findall(r"signal_generate: sig=(\d+) .* pid=(\d+)", system.run("cat /sys/kernel/tracing/trace")):
        found.setdefault(int(pid), set()).add(int(number))
    return found


def test_a_stop_in_an_apply_signals_the_worker_alone(system):
    run = system.start("trap 'echo signaled' HUP INT TERM; echo waiting; until [ -e gate ]; do sleep 0.5; done")
    system.wait_output(run, "waiting")
    worker = system.pid(WORKER)
    wanted = "||".join(f"sig=={number}" for number in sorted(ENDS_PROCESSES))
    system.run(f"cd /sys/kernel/tracing; echo '{wanted}' > events/signal/signal_generate/filter; echo 1 > events/signal/signal_generate/enable")
    system.run(f"systemctl stop --no-block {WORKER}")
    until(lambda: '"event":"draining"' in system.journal(WORKER), "the worker drains", PATIENCE, 1)
    assert system.shown(WORKER, "ActiveState") == "deactivating"
    sent = signals(system)
    members = {int(pid) for pid in system.run(f"cat {GROUP}/*/cgroup.procs").split()}
    assert sent.get(worker) == {15} and worker in members
    assert not sent.keys() & (members - {worker}), sent
    assert "terraform" in system.run(f"cat $(sed 's|.*|/proc/&/comm|' {GROUP}/job-*/cgroup.procs)")
    system.run("echo 0 > /sys/kernel/tracing/events/signal/signal_generate/enable")
    system.open_gate()
    assert system.result(run) == "applied"
    log = system.api.log(run, "apply")
    assert "(local-exec): signaled" not in log and "Interrupt" not in log, log
    system.wait_state(WORKER, "inactive")
    assert system.shown(WORKER, "Result") == "success"


ALLOCATE = "dd if=/dev/zero of=/dev/null bs=1G count=1"


def test_a_job_that_exceeds_its_memory_ends_and_the_worker_goes_on(system):
    """Either the keeper or the kernel ends it, at the job's own limit."""
    worker = system.pid(WORKER)
    run = system.start(ALLOCATE)
    assert system.result(run) == "errored"
    assert f"used more than {MEMORY} MiB of memory (--job-memory of the worker)" in system.api.log(run, "apply")
    assert system.shown(WORKER, "ActiveState") == "active" and system.pid(WORKER) == worker


def test_the_kernel_kills_a_job_for_lack_of_memory_and_the_worker_goes_on(system):
    """The unit has less memory than the job may use, so the kernel chooses among all processes of the unit."""
    worker = system.pid(WORKER)
    system.run(f"systemctl set-property --runtime {WORKER} MemoryMax={MEMORY - 150}M")
    run = system.start(ALLOCATE)
    assert system.result(run) == "errored"
    log = system.api.log(run, "apply")
    assert "because the worker's machine or service had no memory left" in log, log
    assert re.search(rf"oom-kill:.*oom_memcg=\S*/{WORKER}.service,task_memcg=\S*/job-", system.run("journalctl -k --no-pager"))
    assert "killed by the OOM killer" in system.journal(WORKER)
    assert system.shown(WORKER, "ActiveState") == "active" and system.pid(WORKER) == worker
    system.run(f"systemctl set-property --runtime {WORKER} MemoryMax=infinity")
    assert system.result(system.start("true")) == "applied"


def test_an_apply_ends_in_order_after_its_worker_crashed_and_the_unit_restarts(system):
    """The control groups of the apply are left while the next worker starts."""
    run = system.start("trap 'echo signaled' INT; echo waiting; until [ -e gate ]; do sleep 0.5; done")
    system.wait_output(run, "waiting")
    worker = system.pid(WORKER)
    system.run(f"kill -9 {worker}")
    until(lambda: system.shown(WORKER, "ActiveState") == "active" and system.pid(WORKER) not in (0, worker), lambda: system.journal(WORKER), PATIENCE, 1)
    assert system.result(run) == "errored"
    assert system.result(system.start("true")) == "applied"
    assert system.shown(WORKER, "NRestarts") == "1"


def test_the_service_manager_replaces_a_process_that_hangs(system):
    unit = "runyard-notifier"
    system.run(f"mkdir -p /run/systemd/system/{unit}.service.d; cat > /run/systemd/system/{unit}.service.d/short.conf",
             "[Service]\nWatchdogSec=20\nTimeoutAbortSec=2\n")
    system.run(f"systemctl daemon-reload; systemctl restart {unit}")
    hung = system.pid(unit)
    system.run(f"kill -STOP {hung}")
    until(lambda: system.shown(unit, "ActiveState") == "active" and system.pid(unit) not in (0, hung), lambda: system.journal(unit), PATIENCE, 1)
    assert "Watchdog timeout" in system.journal(unit)
    system.run(f"rm -r /run/systemd/system/{unit}.service.d; systemctl daemon-reload; systemctl restart {unit}")


def test_a_restarted_scheduler_serves_and_workers_go_on(system):
    worker = system.pid(WORKER)
    system.run("systemctl restart runyard-scheduler")
    assert system.shown("runyard-scheduler", "ActiveState") == "active"
    assert system.result(system.start("true")) == "applied"
    assert system.pid(WORKER) == worker


def kept(system):
    """What an upgrade must not change."""
    return system.run(f"find /etc/runyard -type f -exec sha256sum {{}} + | sort; stat -c '%a %U %n' {SECRETS} {SECRETS}/*"), [system.pid(unit) for unit in UNITS]


def test_an_upgrade_keeps_settings_secrets_and_running_services(system):
    run = system.start("true")
    assert system.result(run) == "applied"
    before = kept(system)
    system.run(f"{APT} install --reinstall /mnt/packages/*.deb")
    assert kept(system) == before
    assert all(system.shown(unit, "NeedDaemonReload") == "no" for unit in UNITS)
    for unit in UNITS:
        system.run(f"systemctl restart '{unit}'")
    assert system.api.status(run) == "applied"
    assert system.result(system.start("true")) == "applied"


def test_a_removal_stops_the_service_and_keeps_secrets_and_data(system):
    system.run(f"{APT} remove runyard-worker")
    assert system.shown(WORKER, "ActiveState") == "inactive"
    system.run(f"test -s {SECRETS}/worker-default/agent-token && test -d /var/lib/runyard-worker/default && id runyard-worker")
    system.run(f"{APT} install /mnt/packages/runyard-worker_*.deb && systemctl start {WORKER}")
    assert system.result(system.start("true")) == "applied"
