# SPDX-License-Identifier: MPL-2.0
"""The Debian packages: one for each process, with the files of `cmake --install`, and their dependencies."""

import os
import re

import pytest

from support import release
from support.release import PROCESSES, files, run

# Further programs that the process starts; libraries are found by dpkg-shlibdeps. runyard-policy loads the libcurl that the worker links.
# The versions in the names of some libraries differ between releases of Debian.
NEEDS = {
    "scheduler": {"systemd", "ca-certificates", "libpq5", "librdkafka1", "libssl3", "liblasso3", "librnp0", "libseccomp2"},
    "notifier": {"systemd", "ca-certificates", "libhiredis", "librdkafka1", "libcurl4"},
    "worker": {"systemd", "ca-certificates", "bubblewrap", "passt", "git", "openssh-client", "gpgv", "tzdata", "libseccomp2", "libcurl4", "libre2", "libgmp10", "libmpfr6"},
}


@pytest.fixture(scope="module")
def packages(built):
    return release.packages(built, built / "packages")


@pytest.fixture
def unpacked(packages, folder):
    """{process: folder with its files}"""
    for process, package in packages.items():
        run("dpkg-deb", "-x", package, folder / process)
    return {process: folder / process for process in packages}


def control(package, field):
    return run("dpkg-deb", "-f", package, field).strip()


def test_the_packages_have_the_files_of_an_installation(built, unpacked, folder):
    installed = files(release.install(built, folder / "all"))
    assert sorted(path for root in unpacked.values() for path in files(root)) == installed
    for process in PROCESSES:
        assert f"/usr/bin/runyard-{process}" in files(unpacked[process])
    assert [path for path in files(unpacked["worker"]) if "libexec" in path] == [
        f"/usr/libexec/runyard/runyard-{helper}" for helper in ("cgroup-reset", "git", "inspect", "keeper", "network", "policy", "sandbox", "vault")]
    assert [path for path in files(unpacked["scheduler"]) if "libexec" in path] == ["/usr/libexec/runyard/runyard-openpgp", "/usr/libexec/runyard/runyard-saml"]


def test_units_start_programs_of_their_package(unpacked):
    for process in PROCESSES:
        root = unpacked[process]
        unit = next((root / "usr/lib/systemd/system").iterdir()).read_text()
        programs = re.findall(r"^ExecStart(?:Pre)?=-?(\S+)", unit, re.M)
        assert programs and all((root / program[1:]).exists() for program in programs), programs


@pytest.mark.parametrize("process", PROCESSES)
def test_a_package_declares_its_dependencies_and_version(packages, process):
    package = packages[process]
    depends = {re.sub(r"(libhiredis|libre2)[-.0-9]+(absl[0-9]+)?|t64$", r"\1", re.split(r"[ (:]", name.strip())[0]) for name in control(package, "Depends").split(",")}
    assert NEEDS[process] <= depends, depends
    assert control(package, "Package") == f"runyard-{process}"
    version = run(release.FOLDER / f"bin/runyard-{process}", "--version").split()[1]
    assert control(package, "Version") == version


@pytest.mark.parametrize("process", PROCESSES)
def test_settings_are_configuration_files(packages, folder, process):
    run("dpkg-deb", "-e", packages[process], folder / "control")
    assert (folder / "control/conffiles").read_text() == f"/etc/runyard/{process}.env\n"


@pytest.mark.parametrize("process", PROCESSES)
def test_maintainer_scripts_pass_shellcheck(packages, folder, process):
    run("dpkg-deb", "-e", packages[process], folder / "control")
    scripts = sorted(path for path in (folder / "control").iterdir() if os.access(path, os.X_OK))
    assert [path.name for path in scripts] == ["postinst", "postrm", "prerm"]
    run("shellcheck", *scripts)
    assert f"systemd-sysusers runyard-{process}.conf" in (folder / "control/postinst").read_text()


def test_programs_are_stripped_and_print_their_version(unpacked):
    for process in PROCESSES:
        root = unpacked[process]
        program = root / f"usr/bin/runyard-{process}"
        assert run(program, "--version").startswith(f"runyard-{process} ")
        assert ".debug_info" not in run("readelf", "-SW", program)


def test_apt_can_install_the_packages(packages):
    """Only simulates the installation."""
    output = run("apt-get", "-s", "-o", "Debug::NoLocking=1", "--no-install-recommends", "install", *packages.values())
    assert {f"runyard-{process}" for process in PROCESSES} <= set(re.findall(r"^Inst (\S+)", output, re.M)), output


def test_the_package_of_migrate_runs_with_python_alone(packages, unpacked):
    assert (control(packages["migrate"], "Depends"), control(packages["migrate"], "Architecture")) == ("python3 (>= 3.9)", "all")
    assert run(unpacked["migrate"] / "usr/bin/runyard-migrate", "--version").startswith("runyard-migrate ")
