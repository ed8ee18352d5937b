# SPDX-License-Identifier: MPL-2.0
"""Workers download engines by exact version from a mirror with the layout of the vendors' release sites."""

import hashlib
import os
import shutil
import subprocess
import zipfile

import pytest

from support.mirror import Mirror
from support.process import give_to_workers
from support.servers import DEPS, ROOT
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
PLATFORM = {"x86_64": "linux_amd64", "aarch64": "linux_arm64"}[os.uname().machine]


class Vendor:
    """A vendor's signing key and release site."""

    def __init__(self, folder, engine, program):
        self.engine, self.program = engine, program
        self.home, self.site = folder / f"{program}-key", folder / program
        self.home.mkdir(mode=0o700)
        self.site.mkdir()
        self.gpg("--passphrase", "", "--quick-gen-key", f"{program} maker", "ed25519", "sign", "never")

    def gpg(self, *arguments):
        return subprocess.run(["gpg", "--homedir", self.home, "--batch", "--yes", "--quiet", *arguments], check=True, capture_output=True).stdout

    def stop(self):
        subprocess.run(["gpgconf", "--homedir", self.home, "--kill", "all"], check=False)

    def release(self, version, says=None):
        """An engine that reports that version, and runs the engine of the test."""
        title, prefix, ending = {"terraform": ("Terraform", "", ".sig"), "tofu": ("OpenTofu", "v", ".gpgsig")}[self.program]
        folder = self.site / f"{prefix}{version}"
        folder.mkdir()
        archive, sums = folder / f"{self.program}_{version}_{PLATFORM}.zip", folder / f"{self.program}_{version}_SHA256SUMS"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
            zipped.writestr("LICENSE.txt", "free\n")
            zipped.writestr(self.program, f'#!/bin/sh\ncase "$1" in\nversion) echo "{title} v{says or version}" ;;\n*) exec {self.engine.path} "$@" ;;\nesac\n')
        sums.write_text(f"{'0' * 64}  {self.program}_{version}_plan9_arm.zip\n{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n")
        self.sign(sums, ending)
        return archive, sums, folder / (sums.name + ending)

    def sign(self, sums, ending):
        self.gpg("--detach-sign", "--output", str(sums) + ending, str(sums))


@pytest.fixture
def vendors(engine, tmp_path):
    """The two vendors, and the folder of their keys."""
    both = [Vendor(tmp_path, engine, program) for program in ("terraform", "tofu")]
    keys = tmp_path / "keys"
    keys.mkdir()
    for vendor in both:
        (keys / f"{vendor.program}.gpg").write_bytes(vendor.gpg("--export"))
    yield *both, keys
    for vendor in both:
        vendor.stop()


@pytest.fixture
def mirror(tmp_path):
    """Serves the sites."""
    mirror = Mirror(tmp_path)
    yield mirror
    mirror.release()


@pytest.fixture
def downloading_worker(worker, engine, vendors, mirror, folder):
    """downloading_worker() starts a worker without engines that downloads both. It reads a copy of the keys."""

    def start(**options):
        keys = folder / "keys"
        shutil.copytree(vendors[2], keys)
        give_to_workers(keys)
        return worker(engine="/nowhere/terraform", engine_keys=keys, terraform_mirror=f"{mirror.url}/terraform/", tofu_mirror=f"{mirror.url}/moved/tofu",
                      opa="/nowhere/opa", sandbox_bind=engine.folder, **options)

    return start


def run_with(api, version):
    return api.run_files(api.workspace(terraform_version=version, auto_apply=True), ONE)


def files(worker):
    return sorted(path.name for path in (worker.options["data_dir"] / "engines").iterdir() if path.is_file())


def test_both_engines_are_downloaded_once(api, downloading_worker, vendors, mirror):
    terraform, tofu, _ = vendors
    terraform.release("9.5.7")
    tofu.release("9.10.6")
    one = downloading_worker()
    assert [line for line in one.log_lines() if line["msg"] == "worker started"][-1]["capabilities"].startswith("download terraform, download tofu")
    first, second = run_with(api, "9.5.7"), run_with(api, "9.5.7")
    for run in (first, second):
        assert api.wait_status(run, "applied")["terraform-version"] == "9.5.7"
        assert "Terraform v9.5.7" in api.log(run, "apply")
    assert sum(path.endswith(".zip") for path in mirror.requested) == 1
    assert files(one) == ["terraform-9.5.7"]
    until(lambda: [line for line in one.log_lines() if "terraform 9.5.7" in line.get("capabilities", "")], "the worker has a capability more")
    with_tofu = run_with(api, "9.10.6")
    error = api.wait_status(with_tofu, "errored")["error"]
    assert "terraform 9.10.6 can't be downloaded: status 404" in error, error
    assert files(one) == ["terraform-9.5.7"]


def test_opentofu_is_downloaded_through_a_redirect(api, downloading_worker, vendors):
    vendors[1].release("9.10.6")
    (vendors[2] / "terraform.gpg").unlink()
    one = downloading_worker()
    run = run_with(api, "9.10.6")
    api.wait_status(run, "applied")
    assert "OpenTofu v9.10.6" in api.log(run, "apply")
    assert files(one) == ["tofu-9.10.6"]


@pytest.mark.parametrize("wrong", ["other key", "sums changed", "archive changed", "no signature", "other version", "no such program"])
def test_downloads_that_fail_verification_are_not_used(api, downloading_worker, vendors, wrong):
    terraform, tofu, _ = vendors
    archive, sums, signature = terraform.release("9.5.7", says="9.5.8" if wrong == "other version" else None)
    if wrong == "other key":
        signature.unlink()
        tofu.sign(sums, ".sig")
    elif wrong == "sums changed":
        sums.write_text(sums.read_text() + "\n")
    elif wrong == "archive changed":
        archive.write_bytes(archive.read_bytes() + b"x")
    elif wrong == "no signature":
        signature.write_bytes(b"")
    elif wrong == "no such program":
        with zipfile.ZipFile(archive, "w") as zipped:
            zipped.writestr("../terraform", "#!/bin/sh\n")
        sums.write_text(f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n")
        signature.unlink()
        terraform.sign(sums, ".sig")
    one = downloading_worker()
    error = api.wait_status(run_with(api, "9.5.7"), "errored")["error"]
    assert "terraform 9.5.7 can't be downloaded" in error, error
    assert {"archive changed": "not the one that the signed sums name", "other version": "not that version", "no such program": "holds no terraform"}.get(wrong, "signature") in error, error
    assert files(one) == (["terraform-9.5.7"] if wrong == "other version" else [])
    assert not list((one.options["data_dir"] / "engines" / ".part").iterdir())


def test_a_worker_without_a_mirror_downloads_nothing(api, downloading_worker, worker, engine, vendors, mirror, folder):
    vendors[0].release("9.5.7")
    worker()
    error = api.wait_status(run_with(api, "9.5.7"), "errored")["error"]
    assert '"9.5.7"' in error and f"There are: {engine.title} {engine.version}." in error, error
    assert not mirror.requested


def test_the_vendors_keys_are_the_published_ones(tmp_path):
    """deploy/engine-keys extracts them from the vendors' own installers."""
    subprocess.run([ROOT / "deploy/engine-keys", tmp_path], env={**os.environ, "RUNYARD_HOME": DEPS}, check=True, capture_output=True)
    published = {"terraform": "C874011F0AB405110D02105534365D9472D7468F", "tofu": "E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80"}
    for program, fingerprint in published.items():
        shown = subprocess.run(["gpg", "--homedir", tmp_path, "--show-keys", "--with-colons", tmp_path / f"{program}.gpg"], check=True, capture_output=True, text=True).stdout
        assert fingerprint in [line.split(":")[9] for line in shown.splitlines() if line.startswith("fpr:")]
