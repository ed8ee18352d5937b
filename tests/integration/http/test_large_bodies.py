# SPDX-License-Identifier: MPL-2.0
"""Without a token, clients can't fill the scheduler's memory: a large body is read only from an authorized sender."""

import hashlib
import http.client
import json
import urllib.request

import psycopg

from support.wait import until

LARGE = 64 << 20


def send_large_body(scheduler, method, path, token, size=LARGE):
    """Announces and sends a body of that size. Returns the status of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", scheduler.port)
    connection.putrequest(method, path)
    connection.putheader("Authorization", f"Bearer {token}")
    connection.putheader("Content-Length", str(size))
    connection.endheaders()
    for _ in range(size >> 20):
        connection.send(bytes(1 << 20))
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def peak_memory(scheduler):
    with open(f"/proc/{scheduler.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))


def test_a_large_unauthorized_body_is_not_kept_in_memory(api, scheduler):
    server = scheduler.all[0]
    workspace = api.workspace()
    before = peak_memory(server)
    assert send_large_body(server, "PUT", "/api/worker/v1/jobs/job-AAAAAAAAAAAAAAAA/plan", "wrong") == 404
    assert send_large_body(server, "POST", f"/api/v2/workspaces/{workspace}/state-versions", "wrong") == 401
    assert send_large_body(server, "PUT", "/signed/1-abc/configuration-versions/cv-AAAAAAAAAAAAAAAA/upload", "") == 404
    assert peak_memory(server) - before < LARGE // 2


def test_a_document_of_many_small_values_is_refused_before_it_is_parsed(api, scheduler):
    """Each value of two bytes and a comma takes some 230 bytes in memory."""
    server = scheduler.all[0]
    before = peak_memory(server)
    answer = api.call("POST", "workspaces/ws-nobody/state-versions", b'{"data":[' + b"{}," * (9 << 20) + b"{}]}")
    assert answer.status == 413 and "MiB of memory, and the limit is 2048 MiB" in answer.errors()
    assert peak_memory(server) - before < 256 << 20


def connections_that_read_content(database):
    """The number of the scheduler's connections whose last statement read a content, of any size."""
    with psycopg.connect(database) as connection:
        return connection.execute("select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() "
                                  "and query like '%bytes_sealed end as sealed%'").fetchone()[0]


def test_connections_are_closed_after_reading_large_content(api, scheduler, database):
    """libpq's buffers never shrink: each thread's connection would keep twice the size of the largest content."""
    workspace = api.workspace()
    api.post(f"workspaces/{workspace}/actions/lock", {})
    for serial, size, kept in ((1, 1 << 10, True), (2, 12 << 20, False)):
        state = json.dumps({"version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": "line", "outputs": {}, "resources": [], "text": "x" * size}).encode()
        attributes = {"serial": serial, "lineage": "line", "md5": hashlib.md5(state).hexdigest()}
        version = api.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": attributes}}).data
        upload = urllib.request.Request(version["attributes"]["hosted-state-upload-url"], data=state, method="PUT", headers={"Content-Type": "application/json"})
        urllib.request.urlopen(upload).read()
        # It is read until every thread has read it: a thread that did not keeps its connection of the small content.
        def read(path=f"state-versions/{version['id']}/download", state=state):
            assert api.call("GET", path).body == state
            return connections_that_read_content(database) > 0

        until(lambda read=read, expected=kept: read() == expected, "connections are kept after a small content, and closed after a large one")
