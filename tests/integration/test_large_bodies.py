# SPDX-License-Identifier: MPL-2.0
"""Nobody fills the scheduler's memory without a token: a large body is read only from who may send it."""

import http.client

LARGE = 64 << 20


def announce(scheduler, method, path, token, size=LARGE):
    """Announces a large body and sends only its beginning; the status that is answered to the whole of it."""
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


def resident(scheduler):
    with open(f"/proc/{scheduler.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))


def test_a_large_body_without_a_right_to_it_is_not_kept(api, scheduler):
    server = scheduler.all[0]
    workspace = api.workspace()
    before = resident(server)
    assert announce(server, "PUT", "/api/worker/v1/jobs/job-AAAAAAAAAAAAAAAA/plan", "wrong") == 404
    assert announce(server, "POST", f"/api/v2/workspaces/{workspace}/state-versions", "wrong") == 401
    assert announce(server, "PUT", "/signed/1-abc/configuration-versions/cv-AAAAAAAAAAAAAAAA/upload", "") == 404
    assert resident(server) - before < LARGE // 2
