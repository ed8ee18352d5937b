# SPDX-License-Identifier: MPL-2.0
"""Whole releases, made twice in bare systems: the same files, a signature that shows a change, packages that can be installed.

Takes some 40 minutes. RUNYARD_SYSTEMS and RUNYARD_ARCHITECTURES make fewer parts (bookworm,trixie and amd64,arm64)."""

import hashlib
import os
import shutil
import subprocess

import pytest

from support.release import ROOT, run

pytestmark = pytest.mark.timeout(14400)
VERSION = "9.9.9-test.1"
SYSTEMS = os.environ.get("RUNYARD_SYSTEMS", "bookworm,trixie")
ARCHITECTURES = os.environ.get("RUNYARD_ARCHITECTURES", "amd64,arm64")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder of gpg with a key of its own."""
    home = tmp_path_factory.mktemp("gnupg")
    home.chmod(0o700)
    os.environ["GNUPGHOME"] = str(home)
    run("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "release@example.com", "ed25519", "sign", "never")
    yield home
    subprocess.run(["gpgconf", "--kill", "all"], check=False)
    del os.environ["GNUPGHOME"]


@pytest.fixture(scope="module")
def releases(home, tmp_path_factory):
    """Two releases of the same commit, as folders."""
    made = []
    for number in "one", "two":
        folder = tmp_path_factory.mktemp("release") / number
        run(ROOT / "deploy/release", VERSION, "--draft", "--systems", SYSTEMS, "--architectures", ARCHITECTURES, "--sign", "release@example.com", "--output", folder)
        made.append(folder)
    yield made
    for folder in made:
        shutil.rmtree(folder)


def digests(folder):
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.rglob("*") if file.is_file() and file.suffix != ".asc"}


def test_two_releases_of_a_commit_are_equal(releases):
    one, two = map(digests, releases)
    assert len(one) > 8 and one == two


def test_the_signature_covers_every_file(releases, home, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(releases[0], folder)
    run("gpg", "--export", "--output", tmp_path / "keys.gpg", "release@example.com")
    check = ["gpgv", "--keyring", tmp_path / "keys.gpg", "SHA256SUMS.asc", "SHA256SUMS"]
    run(*check, cwd=folder)
    run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=folder)
    listed = {line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    assert listed == {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file() and not file.name.startswith("SHA256SUMS")}
    archive = next(folder.glob("*.tar.gz"))
    archive.write_bytes(archive.read_bytes()[:-1] + b"x")
    assert subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, capture_output=True).returncode
    (folder / "SHA256SUMS").write_text((folder / "SHA256SUMS").read_text().replace("a", "b", 1))
    assert subprocess.run(check, cwd=folder, capture_output=True).returncode


def test_the_image_has_every_architecture(releases, tmp_path):
    archive = next(releases[0].glob("*-image.tar"))
    run("tar", "-xf", archive, "-C", tmp_path)
    index = (tmp_path / "index.json").read_text()
    assert "manifest" in index
    blobs = " ".join(file.read_text() for file in (tmp_path / "blobs/sha256").iterdir() if file.stat().st_size < 100000)
    for architecture in ARCHITECTURES.split(","):
        assert f'"architecture":"{architecture}"' in blobs
