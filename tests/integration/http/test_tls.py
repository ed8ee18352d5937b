# SPDX-License-Identifier: MPL-2.0
"""TLS that the scheduler serves itself."""

import contextlib
import http.client
import os
import shutil
import signal
import socket
import ssl
import subprocess

import pytest

from support.api import tar_gz
from support.runyard import KEYS, Scheduler
from support.wait import until

BODY = 8 << 20


def certificate_of(server, authority, versions=None):
    """The certificate's common name and the protocol of a handshake."""
    context = authority.context()
    if versions:
        context.minimum_version, context.maximum_version = versions
    with socket.create_connection(("127.0.0.1", server.port)) as plain, \
            context.wrap_socket(plain, server_hostname="localhost") as secure:
        return dict(field for part in secure.getpeercert()["subject"] for field in part)["commonName"], secure.version()


def ask(connection):
    connection.request("GET", "/healthz")
    return connection.getresponse().read()


def test_api_metrics_and_uploads_are_served_by_tls(authority, scheduler, request):
    server = scheduler(**authority.serving())
    api = request.getfixturevalue("api")
    assert server.get("/healthz")[0] == 200 and server.get("/metrics")[0] == 200
    workspace = api.workspace("w")
    created = api.post(f"workspaces/{workspace}/configuration-versions", {"data": {"type": "configuration-versions", "attributes": {}}}).data
    upload = created["attributes"]["upload-url"]
    assert upload.startswith(server.url) and upload.startswith("https://")
    large = tar_gz({"random.bin": os.urandom(BODY)})
    api.ask("PUT", upload, large, headers={"Content-Type": "application/octet-stream", "Authorization": None})
    assert api.get(f"configuration-versions/{created['id']}/download").body == large


def test_old_protocols_and_plain_text_are_refused(authority, scheduler):
    server = scheduler(**authority.serving())
    for version, name in ((ssl.TLSVersion.TLSv1_2, "TLSv1.2"), (ssl.TLSVersion.TLSv1_3, "TLSv1.3")):
        assert certificate_of(server, authority, (version, version)) == ("server", name)
    done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-tls1_1", "-cipher", "ALL:@SECLEVEL=0"],
                          input=b"", capture_output=True)
    assert done.returncode != 0
    with socket.create_connection(("127.0.0.1", server.port)) as plain:
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            assert b"200 OK" not in plain.recv(1000)


def test_a_certificate_is_renewed_without_a_restart(authority, scheduler):
    settings = authority.serving("first")
    server = scheduler(**settings)
    with contextlib.closing(http.client.HTTPSConnection("localhost", server.port, context=authority.context())) as kept:
        assert ask(kept) == b"ok\n"
        used = kept.sock
        certificate, key = authority.issue("second")
        shutil.copy(certificate, settings["tls_certificate"])
        shutil.copy(key, settings["tls_key"])
        server.process.send(signal.SIGHUP)
        until(lambda: certificate_of(server, authority)[0] == "second", "the new certificate is served")
        settings["tls_key"].write_text("no key at all")
        server.process.send(signal.SIGHUP)
        until(lambda: "the certificate stays as it was" in server.process.log(), "the broken key is refused")
        assert certificate_of(server, authority)[0] == "second"
        assert ask(kept) == b"ok\n" and kept.sock is used


@pytest.mark.parametrize("case", ["missing", "mismatched", "alone"])
def test_an_invalid_certificate_ends_the_start_with_the_reason(authority, database, case):
    certificate, key = authority.issue("one")
    settings = {"tls_certificate": certificate, "tls_key": key}
    if case == "missing":
        settings["tls_key"] = authority.folder / "nowhere.key"
    if case == "mismatched":
        settings["tls_key"] = authority.issue("other")[1]
    if case == "alone":
        settings["tls_key"] = None
    done = Scheduler.run_command("serve", check=False, database_url=database, keys=KEYS, **settings)
    assert done.returncode == 1
    messages = {"missing": "nowhere.key can't be read", "mismatched": "the key is not that of the certificate", "alone": "need one another"}
    assert messages[case] in done.stderr


def test_workers_and_notifiers_trust_the_configured_authority(authority, scheduler, worker, notifier, request):
    scheduler(**authority.serving())
    api = request.getfixturevalue("api")
    worker(ca_file=authority.file)
    notifier(ca_file=authority.file)
    workspace = api.workspace("w", auto_apply=True)
    run = api.run_files(workspace, {"main.tf": 'resource "terraform_data" "one" {}\n'})
    api.wait_status(run, "applied")
    ended = next(e for e in api.get("organizations/acme/audit-trail").json["data"] if e["resource"]["id"] == run and e["auth"]["type"] == "System")
    assert ended["resource"]["action"] == "applied" and ended["resource"]["meta"]["workspace_id"] == workspace
