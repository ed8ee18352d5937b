# SPDX-License-Identifier: MPL-2.0
"""The container image: its files, collected twice, and the build."""

import json
import os
import re
import shutil
import subprocess
import tarfile

import pytest

from support import release
from support.release import PROCESSES, ROOT, run
from support.servers import DEPS
from support.site import new_folder

IMAGE = ROOT / "deploy/image"
ACCOUNT = 65532
MAX_SIZE = 160 << 20  # 31 MB are the ICU of libxml2, which reads SAML, 24 MB are Python, and 7 MB the Botan of librnp, which reads OpenPGP
# The programs that the processes start, and those that their scripts start.
PROGRAMS = "bwrap", "pasta", "git", "ssh", "gpgv", "curl", "opa", "sh", "sed", "env"


def collect(built, archive, time_zone):
    """Collects the image's files in that time zone; returns the digest."""
    return run(IMAGE / "tree", built, archive, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "TZ": time_zone, "RUNYARD_HOME": str(DEPS)}).split()[0]


@pytest.fixture(scope="module")
def archive(built):
    folder = new_folder("image")
    collect(built, folder / "tree.tar", "UTC")
    yield folder / "tree.tar"
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def tree(archive):
    """The files, unpacked, with the devices that a container runtime provides."""
    folder = archive.parent / "tree"
    folder.mkdir()
    run("tar", "-xpf", archive, "-C", folder, "--numeric-owner")
    for device in ("null", "urandom"):
        (folder / "dev" / device).touch()
    return folder


def inside(tree, *command):
    """Runs the command in the tree as the image's account: in namespaces of its own, with a read-only root."""
    devices = [part for name in ("null", "urandom") for part in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")]
    return subprocess.run(
        ["bwrap", "--unshare-all", "--uid", str(ACCOUNT), "--gid", str(ACCOUNT), "--ro-bind", str(tree), "/", *devices, "--proc", "/proc", "--tmpfs", "/tmp",
         "--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--cap-drop", "ALL", *command],
        capture_output=True, text=True, timeout=60)


def test_the_archive_is_reproducible(built, archive, folder):
    first = run("sha256sum", archive).split()[0]
    assert collect(built, folder / "again.tar", "Asia/Tokyo") == first


def test_files_belong_to_root_and_none_is_setuid(archive):
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
    assert not [member.name for member in members if member.mode & 0o6000]
    assert not [member.name for member in members if member.isdev()]
    assert {member.name for member in members if member.uid or member.gid} == {"./var/lib/runyard-worker"}
    assert not [member.name for member in members if member.mode & 0o002 and not member.issym() and member.name not in ("./tmp", "./var/tmp")]
    assert {member.mtime for member in members} == {1700000000}


def test_the_archive_is_not_larger_than_its_limit(archive):
    assert archive.stat().st_size <= MAX_SIZE


def test_the_image_contains_no_broker_tests_or_settings(tree):
    names = {path.name for path in tree.rglob("*")}
    assert not {name for name in names if re.match(r"runyard-(broker|sim|bench)|test_|fuzz_", name)}
    assert not (tree / "etc/runyard").exists()


@pytest.mark.parametrize("process", PROCESSES)
def test_programs_run_as_the_account_on_a_read_only_root(tree, process):
    done = inside(tree, f"runyard-{process}", "--version")
    assert done.returncode == 0 and done.stdout.startswith(f"runyard-{process} "), done.stderr


def test_migrate_runs_inside(tree):
    done = inside(tree, "runyard-migrate", "--version")
    assert done.returncode == 0 and done.stdout.startswith("runyard-migrate "), done.stderr


def test_the_image_contains_the_programs_that_processes_start(tree):
    for program in PROGRAMS:
        done = inside(tree, "sh", "-c", f"command -v {program}")
        assert done.returncode == 0, program
    for command in (["git", "--version"], ["ssh", "-V"], ["gpgv", "--version"], ["bwrap", "--version"], ["pasta", "--version"], ["git", "submodule", "-h"]):
        done = inside(tree, *command)
        assert done.returncode == 0, (command, done.stderr)


def test_policies_are_evaluated_inside(tree):
    """Both languages, by the programs of the image. The OPA is the one that workers download by default."""
    wanted = re.search(r"`--opa-version` TEXT .*? \| `([\d.]+)` \|", (ROOT / "deploy/REFERENCE.md").read_text())[1]
    done = inside(tree, "opa", "version")
    assert done.stdout.splitlines()[0] == f"Version: {wanted}", done.stderr
    done = inside(tree, "opa", "eval", "--format=raw", "--", "1 + 1")
    assert done.stdout.strip() == "2", done.stderr
    done = inside(tree, "sh", "-c", 'echo "main = 1 + 1 is 2" >/tmp/a.sentinel && /usr/libexec/runyard/runyard-policy eval /tmp/a.sentinel')
    assert done.returncode == 0 and done.stdout.startswith("Pass - "), done.stderr
    done = inside(tree, "sh", "-c", '''cd /tmp
printf 'import "plugin" "time" {\\n config = { timezone = "Australia/Brisbane" }\\n}\\n' >sentinel.hcl
printf 'import "time"\\nmain = time.now.zone_string is "+10:00"\\n' >a.sentinel
/usr/libexec/runyard/runyard-policy eval a.sentinel''')
    assert done.returncode == 0, done.stderr


def test_the_image_contains_all_needed_libraries(tree):
    folders = tree / "usr/lib/git-core", tree / "usr/bin", tree / "usr/libexec/runyard"
    for path in (path for folder in folders for path in folder.iterdir() if not path.is_symlink()):
        needed = re.findall(r"\(NEEDED\)\s+Shared library: \[(\S+)\]", subprocess.run(["readelf", "-dW", path], capture_output=True, text=True).stdout)
        missing = [name for name in needed if not list(tree.glob(f"usr/lib/*/{name}")) and not (tree / "usr/lib" / name).exists() and not (tree / "usr/lib64" / name).exists()]
        assert not missing, (path, missing)


def test_the_image_contains_the_licence_of_every_package(tree):
    packages = [line.split()[0] for line in (tree / "usr/share/doc/runyard/packages").read_text().splitlines()]
    assert {"libc6", "git", "bubblewrap", "passt", "ca-certificates", "librdkafka1", "opa"} <= set(packages)
    for package in (*packages, *(f"runyard-{process}" for process in PROCESSES)):
        assert (tree / "usr/share/doc" / package / "copyright").stat().st_size > 0


def test_hadolint_accepts_the_containerfile():
    assert not run(release.tool("hadolint"), "--failure-threshold", "style", IMAGE / "Containerfile")


@pytest.fixture
def buildah(folder):
    """buildah(argument...), with images in the test's folder."""
    if not shutil.which("buildah"):
        pytest.skip("buildah is not installed")
    store = "--root", folder / "images", "--runroot", folder / "run", "--storage-driver", "vfs"
    policy = folder / "policy.json"
    policy.write_text(json.dumps({"default": [{"type": "insecureAcceptAnything"}]}))

    def call(command, *arguments):
        return subprocess.run(["buildah", *map(str, store), command, *map(str, arguments)], capture_output=True, text=True)

    call.policy = policy
    yield call


def test_two_builds_of_the_image_have_the_same_digest(archive, buildah, folder):
    digests = []
    for name in ("one", "two"):
        done = buildah("build", "--isolation", "chroot", "--signature-policy", buildah.policy, "--timestamp", "1700000000", "--build-arg", "VERSION=1.2.3",
                       "--build-arg", "REVISION=abc", "--no-cache", "--tag", name, "--file", IMAGE / "Containerfile", archive.parent)
        if done.returncode and re.search("not permitted|Permission denied|not supported", done.stderr):
            pytest.skip(f"the kernel forbids the build: {done.stderr.strip().splitlines()[-1]}")
        assert done.returncode == 0, done.stderr
        inspected = json.loads(buildah("inspect", "--type", "image", name).stdout)
        digests.append(inspected["FromImageDigest"])
    assert digests[0] == digests[1]
    config = inspected["OCIv1"]["config"]
    assert config["User"] == f"{ACCOUNT}:{ACCOUNT}" and config["Cmd"] == ["runyard-scheduler"]
    assert config["Labels"]["org.opencontainers.image.version"] == "1.2.3" and config["Labels"]["org.opencontainers.image.revision"] == "abc"
