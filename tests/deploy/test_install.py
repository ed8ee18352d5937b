# SPDX-License-Identifier: MPL-2.0
"""`cmake --install`: the installed files, and a worker that runs from them."""

import re
import subprocess

from support.release import PROCESSES, ROOT, files, install

HELPERS = "keeper", "network", "sandbox", "git", "inspect", "policy", "vault", "saml", "openpgp"
MAN_PAGES = {f"/usr/share/man/man8/runyard-{process}.8" for process in PROCESSES} | {"/usr/share/man/man1/runyard-migrate.1"}
UNITS = {"scheduler": "runyard-scheduler.service", "worker": "runyard-worker@.service", "notifier": "runyard-notifier.service"}


def expected():
    for process in PROCESSES:
        yield f"/usr/bin/runyard-{process}"
        yield f"/usr/lib/systemd/system/{UNITS[process]}"
        yield f"/usr/lib/sysusers.d/runyard-{process}.conf"
        yield f"/usr/lib/tmpfiles.d/runyard-{process}.conf"
        yield f"/usr/share/doc/runyard-{process}/copyright"
        yield f"/etc/runyard/{process}.env"
    yield "/usr/bin/runyard-migrate"
    yield "/usr/share/doc/runyard-migrate/copyright"
    for helper in (*HELPERS, "cgroup-reset"):
        yield f"/usr/libexec/runyard/runyard-{helper}"


def test_exactly_the_shipped_files_are_installed(installed):
    assert set(files(installed)) - MAN_PAGES == set(expected())


def test_an_installation_keeps_existing_settings(built, folder):
    settings = install(built, folder) / "etc/runyard/scheduler.env"
    settings.write_text("RUNYARD_LISTEN=0.0.0.0:80\n")
    install(built, folder)
    assert settings.read_text() == "RUNYARD_LISTEN=0.0.0.0:80\n"


def test_settings_files_name_existing_options(installed):
    for process in PROCESSES:
        help_text = subprocess.run([installed / f"usr/bin/runyard-{process}", "--help"], capture_output=True, text=True, check=True).stdout
        used = set(re.findall(r"RUNYARD_\w+", (installed / f"etc/runyard/{process}.env").read_text())) - {"RUNYARD_NAME"}
        assert used and used <= set(re.findall(r"RUNYARD_\w+", help_text)), used


def test_installed_programs_print_their_revision(installed):
    done = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"], capture_output=True, text=True, cwd=ROOT)
    revision = done.stdout.strip() or "unknown"
    for process in PROCESSES:
        done = subprocess.run([installed / f"usr/bin/runyard-{process}", "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith(f"runyard-{process} ") and done.stdout.endswith(f" (revision {revision})\n"), done.stdout


def test_an_installed_worker_applies_a_run(installed, api, worker, monkeypatch):
    """The worker uses the helper programs of the installation."""
    monkeypatch.setenv("RUNYARD_BIN", str(installed / "usr/bin"))
    one = worker()
    run = api.run_files(api.workspace(auto_apply=True), {"main.tf": 'resource "terraform_data" "one" {}\n'})
    api.wait_status(run, "applied")
    assert one.stop() == 0


def test_a_worker_without_its_helper_program_fails_to_start_and_names_it(built, folder, worker, monkeypatch):
    root = install(built, folder / "root")
    (root / "usr/libexec/runyard/runyard-keeper").unlink()
    monkeypatch.setenv("RUNYARD_BIN", str(root / "usr/bin"))
    one = worker.launch()
    assert one.process.ended() == 1
    assert "libexec/runyard/runyard-keeper can't be started" in one.process.log()
