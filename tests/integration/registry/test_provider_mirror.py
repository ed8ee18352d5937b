# SPDX-License-Identifier: MPL-2.0
"""The network mirror of providers: an operator's folder, packed or unpacked, and what is never served from it."""

import hashlib
import http.client
import io
import json
import os
import stat
import threading
import zipfile

import pytest

from support import packages
from support.wait import until

PROGRAM = "terraform-provider-thing_v1.2.0"
FILES = {PROGRAM: b"#!/bin/sh\n" + bytes(range(256)) * 5000, "LICENSE.txt": b"free\n", "docs/empty": b""}


@pytest.fixture
def folder_of_mirror(tmp_path):
    folder = tmp_path / "providers"
    folder.mkdir()
    return folder


@pytest.fixture
def ask(scheduler, folder_of_mirror):
    """ask(path): the status and the bytes of an answer, without a token."""
    server = scheduler(provider_mirror_dir=folder_of_mirror)

    def call(path, method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request(method, f"/api/registry/v1/mirror/{path}")
        answer = connection.getresponse()
        return answer.status, answer.read()

    return call


def json_of(answer):
    status, body = answer
    assert status == 200, body
    return json.loads(body)


def provider(folder, name="registry.terraform.io/acme/thing"):
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    return place


def pack(place, version, platform="linux_amd64", content=None):
    archive = place / f"terraform-provider-{place.name}_{version}_{platform}.zip"
    archive.write_bytes(content or packages.packed(PROGRAM, FILES[PROGRAM]))
    return archive


def unpack(place, version, platform="linux_amd64", files=FILES):
    for name, content in files.items():
        path = place / version / platform / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (place / version / platform / PROGRAM).chmod(0o755)


def test_versions_and_packages_of_both_layouts(ask, folder_of_mirror):
    place = provider(folder_of_mirror)
    archive = pack(place, "1.0.0")
    pack(place, "1.0.0", "darwin_arm64", b"another")
    pack(place, "1.1.0-rc.1+build")
    unpack(place, "1.2.0")
    (place / "index.json").write_text("{}")
    (place / "notes.txt").write_text("not a package")
    assert json_of(ask("registry.terraform.io/acme/thing/index.json")) == {"versions": {"1.0.0": {}, "1.1.0-rc.1+build": {}, "1.2.0": {}}}
    found = json_of(ask("registry.terraform.io/acme/thing/1.0.0.json"))["archives"]
    assert set(found) == {"linux_amd64", "darwin_arm64"}
    assert found["linux_amd64"] == {"url": archive.name, "hashes": ["zh:" + hashlib.sha256(archive.read_bytes()).hexdigest()]}
    assert ask(f"registry.terraform.io/acme/thing/{archive.name}") == (200, archive.read_bytes())
    assert ask(f"registry.terraform.io/acme/thing/{archive.name}", "HEAD") == (200, b"")


def test_an_unpacked_package_is_sent_as_a_zip(ask, folder_of_mirror):
    unpack(provider(folder_of_mirror), "1.2.0")
    found = json_of(ask("registry.terraform.io/acme/thing/1.2.0.json"))["archives"]["linux_amd64"]
    assert found["hashes"] == [packages.h1(FILES)]
    status, body = ask(f"registry.terraform.io/acme/thing/{found['url']}")
    with zipfile.ZipFile(io.BytesIO(body)) as made:
        assert status == 200 and made.testzip() is None
        assert {name: made.read(name) for name in made.namelist()} == FILES
        modes = {info.filename: stat.S_IMODE(info.external_attr >> 16) for info in made.infolist()}
    assert modes == {PROGRAM: 0o755, "LICENSE.txt": 0o644, "docs/empty": 0o644}


def test_a_replaced_package_has_a_new_hash(ask, folder_of_mirror):
    place = provider(folder_of_mirror)
    path = "registry.terraform.io/acme/thing/1.0.0.json"
    hashes = set()
    for content in (b"one", b"two!", b"three"):
        pack(place, "1.0.0", content=content)
        hashes.add(json_of(ask(path))["archives"]["linux_amd64"]["hashes"][0])
    assert hashes == {"zh:" + hashlib.sha256(content).hexdigest() for content in (b"one", b"two!", b"three")}
    unpack(place, "1.2.0")
    path = "registry.terraform.io/acme/thing/1.2.0.json"
    assert json_of(ask(path))["archives"]["linux_amd64"]["hashes"] == [packages.h1(FILES)]
    changed = {**FILES, "LICENSE.txt": b"not free\n"}
    unpack(place, "1.2.0", files=changed)
    assert json_of(ask(path))["archives"]["linux_amd64"]["hashes"] == [packages.h1(changed)]


ELSEWHERE = [
    "registry.terraform.io/acme/other/index.json",
    "registry.terraform.io/acme/thing/2.0.0.json",
    "registry.terraform.io/acme/thing/..json",
    "registry.terraform.io/acme/thing/terraform-provider-thing_2.0.0_linux_amd64.zip",
    "registry.terraform.io/acme/thing/terraform-provider-other_1.0.0_linux_amd64.zip",
    "registry.terraform.io/acme/thing/terraform-provider-thing_1.0.0_..%2flinux_amd64.zip",
    "registry.terraform.io/acme/thing/secret.txt",
    "registry.terraform.io/acme/thing/secret.txt.json",
    "registry.terraform.io/acme/..%2f..%2f..%2fsecret/index.json",
    "%2e%2e/acme/thing/index.json",
    "../../acme/thing/index.json",
    ".hidden/acme/thing/index.json",
    "registry.terraform.io/acme/thing/%00.json",
    "registry.terraform.io/acme/-thing/index.json",
    "registry.terraform.io/acme/thing/%ff.json",
]


def test_nothing_else_is_served(ask, folder_of_mirror):
    place = provider(folder_of_mirror)
    pack(place, "1.0.0")
    (place / "secret.txt").write_text("secret")
    pack(provider(folder_of_mirror, ".hidden/acme/thing"), "1.0.0")
    pack(provider(folder_of_mirror.parent, "acme/thing"), "1.0.0")
    for path in ELSEWHERE:
        status, body = ask(path)
        assert status in (400, 404) and b"secret" not in body and b"PK" not in body, path


def test_links_out_of_the_folder_and_pipes_are_not_served(ask, folder_of_mirror, tmp_path):
    place = provider(folder_of_mirror)
    (tmp_path / "outside").mkdir()
    outside = pack(provider(tmp_path / "outside"), "1.0.0")
    linked = place / "terraform-provider-thing_1.0.0_linux_amd64.zip"
    linked.symlink_to(outside)
    os.mkfifo(place / "terraform-provider-thing_1.1.0_linux_amd64.zip")
    unpack(place, "1.2.0")
    (place / "1.2.0/linux_amd64/passwd").symlink_to("/etc/passwd")
    (folder_of_mirror / "registry.terraform.io/other").symlink_to(tmp_path / "outside/registry.terraform.io/acme")
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        assert ask(f"registry.terraform.io/acme/thing/{version}.json")[0] == 404
        assert ask(f"registry.terraform.io/acme/thing/terraform-provider-thing_{version}_linux_amd64.zip")[0] == 404
    assert ask("registry.terraform.io/other/thing/index.json")[0] == 404
    linked.unlink()
    inside = pack(place, "1.3.0")
    linked.symlink_to(inside.name)
    assert ask(f"registry.terraform.io/acme/thing/{linked.name}") == (200, inside.read_bytes())


def test_downloads_at_a_time_are_limited(scheduler, folder_of_mirror):
    """50 of one address; a download that ends makes room."""
    archive = pack(provider(folder_of_mirror), "1.0.0", content=bytes(64 << 20))
    server = scheduler(provider_mirror_dir=folder_of_mirror)
    path = f"/api/registry/v1/mirror/registry.terraform.io/acme/thing/{archive.name}"
    open_ones = []
    try:
        for _ in range(50):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            open_ones.append(connection)
            connection.request("GET", path)
            assert connection.getresponse().status == 200
        one_more = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        one_more.request("GET", path)
        answer = one_more.getresponse()
        assert answer.status == 503 and answer.headers["Retry-After"]
        open_ones.pop().close()

        def served():
            again = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            again.request("GET", path)
            status = again.getresponse().status
            again.close()
            return status == 200

        until(served, "a place is free")
    finally:
        for connection in open_ones:
            connection.close()


def test_many_first_requests_at_once_get_the_same_hash(ask, folder_of_mirror):
    archive = pack(provider(folder_of_mirror), "1.0.0", content=bytes(32 << 20))
    found = []
    threads = [threading.Thread(target=lambda: found.append(ask("registry.terraform.io/acme/thing/1.0.0.json"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = "zh:" + hashlib.sha256(archive.read_bytes()).hexdigest()
    assert [json_of(answer)["archives"]["linux_amd64"]["hashes"] for answer in found] == [[expected]] * 8


def test_a_scheduler_without_a_mirror_serves_none(org):
    assert org.call("GET", f"{org.url}/api/registry/v1/mirror/registry.terraform.io/hashicorp/time/index.json").status == 404


def test_a_folder_that_does_not_exist_is_named_at_the_start(scheduler, tmp_path):
    with pytest.raises(AssertionError, match="--provider-mirror-dir"):
        scheduler(provider_mirror_dir=tmp_path / "absent")
