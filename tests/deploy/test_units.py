# SPDX-License-Identifier: MPL-2.0
"""The systemd units: valid, as closed as they can be, and true to the programs' options."""

import re
import subprocess

import pytest

from support.release import PROCESSES, run

UNITS = {"scheduler": "runyard-scheduler.service", "worker": "runyard-worker@.service", "notifier": "runyard-notifier.service"}
THRESHOLDS = {"scheduler": 20, "notifier": 20, "worker": 30}  # of exposure, times ten


@pytest.fixture
def units(installed, folder):
    """The installed units, with the programs at the place where they are now. The worker's has an instance."""
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
def test_units_are_valid(units, process):
    assert not run("systemd-analyze", "verify", "--man=no", units[process])


@pytest.mark.parametrize("process", PROCESSES)
def test_units_are_closed(units, process):
    run("systemd-analyze", "security", "--offline=yes", f"--threshold={THRESHOLDS[process]}", "--no-pager", units[process])


@pytest.mark.parametrize("process", PROCESSES)
def test_every_secret_is_a_credential(installed, units, process):
    told = subprocess.run([installed / f"usr/bin/runyard-{process}", "--help"], capture_output=True, text=True, check=True).stdout
    found = settings(units[process])
    secrets = {}
    for name, rest in re.findall(r"^  --(\S+)-file PATH.*\n((?:      .*\n)+)", told, re.M):
        secrets[name] = "Required." in rest
    loaded = {value.split(":")[0]: value.split(":")[1] for value in found["LoadCredential"]}
    assert loaded.keys() == secrets.keys()
    for name, path in loaded.items():
        assert path.startswith("/etc/runyard/secrets/") and path.endswith("/" + name)
        assert f"RUNYARD_{name.upper().replace('-', '_')}_FILE=%d/{name}" in found["Environment"]
    # An optional secret has a value if its file does not exist. A required one has none: the start then names the file.
    assert {value.split(":")[0] for value in found.get("SetCredential", [])} == {name for name in secrets if not secrets[name]}


@pytest.mark.parametrize("process", PROCESSES)
def test_every_variable_is_an_option(installed, units, process):
    told = subprocess.run([installed / f"usr/bin/runyard-{process}", "--help"], capture_output=True, text=True, check=True).stdout
    for value in settings(units[process])["Environment"]:
        name = value.split("=")[0]
        assert re.search(rf" {name.removesuffix('_FILE')}\b", told), name


def test_a_stop_of_the_worker_signals_no_engine(units):
    found = settings(units["worker"])
    assert found["KillMode"] == ["process"] and found["OOMPolicy"] == ["continue"]


def test_the_worker_may_make_sandboxes(units):
    """Each of these settings would make the kernel refuse bubblewrap a namespace, a mount or a new /proc."""
    found = settings(units["worker"])
    assert found["RestrictNamespaces"] == ["user mnt pid net ipc uts"]
    assert "@mount" in found["SystemCallFilter"][0].split()
    assert not found.keys() & {"ProtectKernelTunables", "ProtectKernelLogs", "ProtectProc", "ProcSubset", "ProtectHostname", "PrivateDevices"}


def test_the_worker_has_ten_minutes_more_than_its_drain(units):
    found = settings(units["worker"])
    drain = next(int(value.split("=")[1]) for value in found["Environment"] if value.startswith("RUNYARD_DRAIN_SECONDS="))
    assert int(found["TimeoutStopSec"][0]) == drain + 600


@pytest.mark.parametrize("process", PROCESSES)
def test_the_account_is_declared(installed, units, folder, process):
    (folder / "system/etc").mkdir(parents=True)
    told = run("systemd-sysusers", "--dry-run", f"--root={folder / 'system'}", installed / f"usr/lib/sysusers.d/runyard-{process}.conf")
    assert settings(units[process])["User"] == [f"runyard-{process}"]
    assert f"Creating user 'runyard-{process}'" in told


@pytest.mark.parametrize("process", PROCESSES)
def test_the_folder_of_secrets_is_closed(installed, folder, process):
    """With --root and a file by name, nothing else is created, and nothing outside of the test's folder."""
    root = folder / "system"
    (root / "etc").mkdir(parents=True)
    run("systemd-tmpfiles", "--create", f"--root={root}", installed / f"usr/lib/tmpfiles.d/runyard-{process}.conf")
    assert (root / "etc/runyard/secrets").stat().st_mode & 0o777 == 0o700
    assert [path.name for path in root.iterdir()] == ["etc"]
