# SPDX-License-Identifier: MPL-2.0
"""The systemd units: validity, exposure, and agreement with the programs' options."""

import re
import subprocess

import pytest

from support.release import PROCESSES, run

UNITS = {"scheduler": "runyard-scheduler.service", "worker": "runyard-worker@.service", "notifier": "runyard-notifier.service"}
THRESHOLDS = {"scheduler": 20, "notifier": 20, "worker": 31}  # of exposure, times ten


@pytest.fixture
def units(installed, folder):
    """The installed units, with the current paths of the programs. The worker's unit is an instance of its template."""
    for process, name in UNITS.items():
        text = (installed / "usr/lib/systemd/system" / name).read_text()
        text = re.sub(r"^(ExecStart(?:Pre)?=-?)/usr/", rf"\1{installed}/usr/", text, flags=re.M)
        (folder / name.replace("@", "@pool")).write_text(text)
    return {process: folder / name.replace("@", "@pool") for process, name in UNITS.items()}


def settings(unit):
    """{directive: [values]}"""
    found = {}
    for line in unit.read_text().splitlines():
        if line and line[0] not in "#[":
            name, value = line.split("=", 1)
            found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("process", PROCESSES)
def test_systemd_accepts_the_units(units, process):
    assert not run("systemd-analyze", "verify", "--man=no", units[process])


@pytest.mark.parametrize("process", PROCESSES)
def test_the_exposure_of_units_is_below_its_threshold(units, process):
    run("systemd-analyze", "security", "--offline=yes", f"--threshold={THRESHOLDS[process]}", "--no-pager", units[process])


@pytest.mark.parametrize("process", PROCESSES)
def test_every_secret_is_loaded_as_a_credential(installed, units, process):
    output = subprocess.run([installed / f"usr/bin/runyard-{process}", "--help"], capture_output=True, text=True, check=True).stdout
    found = settings(units[process])
    secrets = {}
    for name, rest in re.findall(r"^  --(\S+)-file PATH.*\n((?:      .*\n)+)", output, re.M):
        secrets[name] = "Required." in rest
    loaded = {value.split(":")[0]: value.split(":")[1] for value in found["LoadCredential"]}
    assert loaded.keys() == secrets.keys()
    for name, path in loaded.items():
        assert path.startswith("/etc/runyard/secrets/") and path.endswith("/" + name)
        assert f"RUNYARD_{name.upper().replace('-', '_')}_FILE=%d/{name}" in found["Environment"]
    # An optional secret has a value if its file does not exist. A required one has none: the unit then fails with status=243/CREDENTIALS.
    assert {value.split(":")[0] for value in found.get("SetCredential", [])} == {name for name in secrets if not secrets[name]}


@pytest.mark.parametrize("process", PROCESSES)
def test_environment_variables_are_options_of_the_process(installed, units, process):
    output = subprocess.run([installed / f"usr/bin/runyard-{process}", "--help"], capture_output=True, text=True, check=True).stdout
    for value in settings(units[process])["Environment"]:
        name = value.split("=")[0]
        assert re.search(rf" {name.removesuffix('_FILE')}\b", output), name


def test_stopping_the_worker_does_not_signal_engines(units):
    found = settings(units["worker"])
    assert found["KillMode"] == ["process"] and found["OOMPolicy"] == ["continue"]


def test_the_workers_unit_allows_sandboxes(units):
    """Each of these settings would make the kernel refuse bubblewrap a namespace, a mount or a new /proc."""
    found = settings(units["worker"])
    assert found["RestrictNamespaces"] == ["user mnt pid net ipc uts"]
    assert "@mount" in found["SystemCallFilter"][0].split()
    assert not found.keys() & {"ProtectKernelTunables", "ProtectKernelLogs", "ProtectProc", "ProcSubset", "ProtectHostname", "PrivateDevices"}


def test_the_workers_unit_allows_openat2(units):
    """RestrictSUIDSGID= makes it fail with ENOSYS: its mode is behind a pointer, which a filter can't read."""
    assert "RestrictSUIDSGID" not in settings(units["worker"])


def test_the_workers_stop_timeout_is_ten_minutes_longer_than_its_drain(units):
    found = settings(units["worker"])
    drain = next(int(value.split("=")[1]) for value in found["Environment"] if value.startswith("RUNYARD_DRAIN_SECONDS="))
    assert int(found["TimeoutStopSec"][0]) == drain + 600


@pytest.mark.parametrize("process", PROCESSES)
def test_sysusers_creates_the_account_of_the_unit(installed, units, folder, process):
    (folder / "system/etc").mkdir(parents=True)
    output = run("systemd-sysusers", "--dry-run", f"--root={folder / 'system'}", installed / f"usr/lib/sysusers.d/runyard-{process}.conf")
    assert settings(units[process])["User"] == [f"runyard-{process}"]
    assert f"Creating user 'runyard-{process}'" in output


@pytest.mark.parametrize("process", PROCESSES)
def test_only_root_can_read_the_directory_of_secrets(installed, folder, process):
    """With --root and a file by name, nothing else is created, and nothing outside of the test's folder."""
    root = folder / "system"
    (root / "etc").mkdir(parents=True)
    run("systemd-tmpfiles", "--create", f"--root={root}", installed / f"usr/lib/tmpfiles.d/runyard-{process}.conf")
    assert (root / "etc/runyard/secrets").stat().st_mode & 0o777 == 0o700
    assert [path.name for path in root.iterdir()] == ["etc"]
