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

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or os.uname().machine != "x86_64", reason="only root can make the image, for amd64")

SERVERS = ["postgresql", "redis-server"]
UNITS = ["runyard-scheduler", "runyard-notifier", "runyard-worker@default"]
WORKER = UNITS[2]
SECRETS = "/etc/runyard/secrets"
GROUP = f"/sys/fs/cgroup/system.slice/system-runyard*/{WORKER}.service"
MEMORY = 400  # MiB
PATIENCE = 1200  # seconds: the machine has no hardware virtualization, and this one has other work
ENDS_PROCESSES = {1, 2, 3, 9, 15}
APT = "DEBIAN_FRONTEND=noninteractive apt-get -qq"

# The manual's steps, with the settings of this site.
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
        self.run(f"{APT} install /mnt/packages/*.deb {' '.join(SERVERS)}")
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
        return self.run(f"journalctl --no-pager -n 40 -u '{unit}'")

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
def site():
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
def started(site):
    """Each test begins with services that run."""
    for unit in UNITS:
        site.run(f"systemctl start '{unit}'")


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_is_active_after_its_start(site, unit):
    assert site.shown(unit, "ActiveState") == "active" and site.shown(unit, "SubState") == "running"
    assert site.shown(unit, "Type") == "notify" and site.shown(unit, "WatchdogUSec") == "1min"
    assert site.shown(unit, "NRestarts") == "0", site.journal(unit)
    assert site.run(f"ps -o user:20= -p {site.pid(unit)}").strip() == re.sub("@.*", "", unit)


@pytest.mark.parametrize("unit, secret, variable", [
    (UNITS[0], "scheduler/keys", "KEYS"), (UNITS[0], "scheduler/database-url", "DATABASE_URL"),
    (UNITS[1], "notifier/notifier-token", "NOTIFIER_TOKEN"), (WORKER, "worker-default/agent-token", "AGENT_TOKEN")])
def test_a_secret_is_a_credential_of_the_unit(site, unit, secret, variable):
    """The account can't read the operator's file, and the environment has only the path of the credential."""
    pid, name = site.pid(unit), secret.split("/")[1]
    environment = site.run(f"tr '\\0' '\\n' < /proc/{pid}/environ").splitlines()
    credential = f"/run/credentials/{unit}.service/{name}"
    assert f"RUNYARD_{variable}_FILE={credential}" in environment
    value = site.run(f"cat {SECRETS}/{secret}").strip()
    assert site.run(f"nsenter -t {pid} -m cat {credential}").strip() == value
    assert not any(value in line for line in environment)
    assert site.call(f"runuser -u {re.sub('@.*', '', unit)} -- cat {SECRETS}/{secret}")[0] != 0


def test_a_unit_without_its_secret_fails(site):
    assert site.call("systemctl start runyard-worker@other")[0] != 0
    assert site.shown("runyard-worker@other", "ExecMainStatus") == "243"  # EXIT_CREDENTIALS
    site.run("systemctl stop runyard-worker@other; systemctl reset-failed")


def test_a_job_runs_in_a_sandbox_with_a_control_group(site):
    run = site.start("echo seen $(ls /etc/runyard 2>&1); cat /proc/self/cgroup; tr '\\\\t' ' ' < /proc/self/status")
    assert site.result(run) == "applied"
    log = site.api.log(run, "apply")
    assert f"{WORKER}.service/job-" in log, log
    assert re.search(r"CapEff: 0{16}", log) and re.search(r"NoNewPrivs: 1", log), log
    assert '"sandbox":"bwrap"' in site.journal(WORKER) and "memory, processes" in site.journal(WORKER)


def signals(site):
    """{pid: signals} that the kernel has recorded: those that end processes."""
    found = {}
    for number, pid in re.findall(r"signal_generate: sig=(\d+) .* pid=(\d+)", site.run("cat /sys/kernel/tracing/trace")):
        found.setdefault(int(pid), set()).add(int(number))
    return found


def test_a_stop_in_an_apply_signals_the_worker_alone(site):
    run = site.start("trap 'echo signaled' HUP INT TERM; echo waiting; until [ -e gate ]; do sleep 0.5; done")
    site.wait_output(run, "waiting")
    worker = site.pid(WORKER)
    wanted = "||".join(f"sig=={number}" for number in sorted(ENDS_PROCESSES))
    site.run(f"cd /sys/kernel/tracing; echo '{wanted}' > events/signal/signal_generate/filter; echo 1 > events/signal/signal_generate/enable")
    site.run(f"systemctl stop --no-block {WORKER}")
    until(lambda: '"event":"draining"' in site.journal(WORKER), "the worker drains", PATIENCE, 1)
    assert site.shown(WORKER, "ActiveState") == "deactivating"
    sent = signals(site)
    members = {int(pid) for pid in site.run(f"cat {GROUP}/*/cgroup.procs").split()}
    assert sent.get(worker) == {15} and worker in members
    assert not sent.keys() & (members - {worker}), sent
    assert "terraform" in site.run(f"cat $(sed 's|.*|/proc/&/comm|' {GROUP}/job-*/cgroup.procs)")
    site.run("echo 0 > /sys/kernel/tracing/events/signal/signal_generate/enable")
    site.open_gate()
    assert site.result(run) == "applied"
    log = site.api.log(run, "apply")
    assert "(local-exec): signaled" not in log and "Interrupt" not in log, log
    site.wait_state(WORKER, "inactive")
    assert site.shown(WORKER, "Result") == "success"


ALLOCATE = "dd if=/dev/zero of=/dev/null bs=1G count=1"


def test_a_job_that_exceeds_its_memory_ends_and_the_worker_goes_on(site):
    """Either the keeper or the kernel ends it, at the job's own limit."""
    worker = site.pid(WORKER)
    run = site.start(ALLOCATE)
    assert site.result(run) == "errored"
    assert f"used more than {MEMORY} MiB of memory (--job-memory of the worker)" in site.api.log(run, "apply")
    assert site.shown(WORKER, "ActiveState") == "active" and site.pid(WORKER) == worker


def test_the_kernel_kills_a_job_for_lack_of_memory_and_the_worker_goes_on(site):
    """The unit has less memory than the job may use, so the kernel chooses among all processes of the unit."""
    worker = site.pid(WORKER)
    site.run(f"systemctl set-property --runtime {WORKER} MemoryMax={MEMORY - 150}M")
    run = site.start(ALLOCATE)
    assert site.result(run) == "errored"
    log = site.api.log(run, "apply")
    assert "because the worker's machine or service had no memory left" in log, log
    assert re.search(rf"oom-kill:.*oom_memcg=\S*/{WORKER}.service,task_memcg=\S*/job-", site.run("journalctl -k --no-pager"))
    assert "killed by the OOM killer" in site.journal(WORKER)
    assert site.shown(WORKER, "ActiveState") == "active" and site.pid(WORKER) == worker
    site.run(f"systemctl set-property --runtime {WORKER} MemoryMax=infinity")
    assert site.result(site.start("true")) == "applied"


def test_an_apply_ends_in_order_after_its_worker_crashed_and_the_unit_restarts(site):
    """The control groups of the apply are left while the next worker starts."""
    run = site.start("trap 'echo signaled' INT; echo waiting; until [ -e gate ]; do sleep 0.5; done")
    site.wait_output(run, "waiting")
    worker = site.pid(WORKER)
    site.run(f"kill -9 {worker}")
    until(lambda: site.shown(WORKER, "ActiveState") == "active" and site.pid(WORKER) not in (0, worker), lambda: site.journal(WORKER), PATIENCE, 1)
    assert site.result(run) == "errored"
    assert site.result(site.start("true")) == "applied"
    assert site.shown(WORKER, "NRestarts") == "1"


def test_the_service_manager_replaces_a_process_that_hangs(site):
    unit = "runyard-notifier"
    site.run(f"mkdir -p /run/systemd/system/{unit}.service.d; cat > /run/systemd/system/{unit}.service.d/short.conf",
             "[Service]\nWatchdogSec=20\nTimeoutAbortSec=2\n")
    site.run(f"systemctl daemon-reload; systemctl restart {unit}")
    hung = site.pid(unit)
    site.run(f"kill -STOP {hung}")
    until(lambda: site.shown(unit, "ActiveState") == "active" and site.pid(unit) not in (0, hung), lambda: site.journal(unit), PATIENCE, 1)
    assert "Watchdog timeout" in site.journal(unit)
    site.run(f"rm -r /run/systemd/system/{unit}.service.d; systemctl daemon-reload; systemctl restart {unit}")


def test_a_restarted_scheduler_serves_and_workers_go_on(site):
    worker = site.pid(WORKER)
    site.run("systemctl restart runyard-scheduler")
    assert site.shown("runyard-scheduler", "ActiveState") == "active"
    assert site.result(site.start("true")) == "applied"
    assert site.pid(WORKER) == worker


def kept(site):
    """What an upgrade must not change."""
    return site.run(f"find /etc/runyard -type f -exec sha256sum {{}} + | sort; stat -c '%a %U %n' {SECRETS} {SECRETS}/*"), [site.pid(unit) for unit in UNITS]


def test_an_upgrade_keeps_settings_secrets_and_running_services(site):
    run = site.start("true")
    assert site.result(run) == "applied"
    before = kept(site)
    site.run(f"{APT} install --reinstall /mnt/packages/*.deb")
    assert kept(site) == before
    assert all(site.shown(unit, "NeedDaemonReload") == "no" for unit in UNITS)
    for unit in UNITS:
        site.run(f"systemctl restart '{unit}'")
    assert site.api.status(run) == "applied"
    assert site.result(site.start("true")) == "applied"


def test_a_removal_stops_the_service_and_keeps_secrets_and_data(site):
    site.run(f"{APT} remove runyard-worker")
    assert site.shown(WORKER, "ActiveState") == "inactive"
    site.run(f"test -s {SECRETS}/worker-default/agent-token && test -d /var/lib/runyard-worker/default && id runyard-worker")
    site.run(f"{APT} install /mnt/packages/runyard-worker_*.deb && systemctl start {WORKER}")
    assert site.result(site.start("true")) == "applied"
