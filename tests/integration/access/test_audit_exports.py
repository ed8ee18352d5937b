# SPDX-License-Identifier: MPL-2.0
"""The export of the audit trail to a syslog server and to Kafka: every event, at least once, by one scheduler."""

import json
import re
import socket
import socketserver
import ssl
import threading

import pytest

from support.api import Api
from support.api_site import open_api_site
from support.authority import Authority
from support.kcat import consume
from support.runyard import KEYS, Scheduler
from support.wait import until

HEAD = re.compile(r"^<(\d+)>1 (\S+Z) (\S+) runyard-scheduler - (\S+) - (.*)$", re.S)


class Collector:
    """A syslog server that counts octets (RFC 6587). `hold` makes it take no connection."""

    def __init__(self, context=None, port=0):
        self.frames, self.connections = [], set()
        collector = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                connection = context.wrap_socket(self.request, server_side=True) if context else self.request
                collector.connections.add(connection)
                data = b""
                while more := connection.recv(65536):
                    data += more
                    while (found := re.match(rb"(\d+) ", data)) and len(data) >= found.end() + int(found[1]):
                        end = found.end() + int(found[1])
                        collector.frames.append(data[found.end():end].decode())
                        data = data[end:]

        socketserver.ThreadingTCPServer.allow_reuse_address = True
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def events(self):
        """The events, each once, in the order in which they came."""
        found = {}
        for frame in self.frames:
            text = HEAD.match(frame)[5]
            event = json.loads(text)
            found.setdefault(event["id"], event)
        return list(found.values())

    def release(self):
        self.server.shutdown()
        self.server.server_close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


@pytest.fixture
def collector():
    collector = Collector()
    yield collector
    collector.release()


@pytest.fixture
def site(postgres, request, collector):
    with open_api_site(postgres, audit_syslog=f"tcp://127.0.0.1:{collector.port}", **getattr(request, "param", {})) as site:
        yield site


def ids(site):
    return [id for (id,) in site.ask("select id from audit_events order by position")]


def unsent(site):
    return site.ask("select count(*) from audit_unsent")[0][0]


def all_read(site, collector):
    """No event is unsent, and the collector has read the last one. What is sent may wait in the socket."""
    return unsent(site) == 0 and ids(site)[-1] in {event["id"] for event in collector.events()}


def test_each_event_reaches_the_syslog_server_within_a_second_or_so(site, collector):
    org = site.organization()
    workspace = org.workspace("exported")
    org.post(f"workspaces/{workspace}/actions/lock", {"reason": "geheim|=\\"})
    until(lambda: unsent(site) == 0 and len(collector.events()) >= len(ids(site)) - 1, "the events come")
    event = next(event for event in collector.events() if event["action"] == "lock")
    assert (event["resource"], event["organization"], event["workspace"]) == ({"type": "workspace", "id": workspace}, org.organization, workspace)
    assert event["actor"]["name"] == site.tokens["user"] and event["address"] == "127.0.0.1" and event["attributes"] == []
    head = HEAD.match(next(frame for frame in collector.frames if '"lock"' in frame))
    assert head[1] == "109" and head[4] == "lock"  # log audit, notice
    Api(site.scheduler.url, "nonsense").call("GET", "account/details")
    until(lambda: any(frame.startswith("<108>") for frame in collector.frames), "a refusal is a warning")


@pytest.mark.parametrize("site", [{"audit_syslog_format": "cef"}], indirect=True)
def test_events_have_the_common_event_format(site, collector):
    org = site.organization()
    workspace = org.workspace("cef")
    wanted = re.compile(r"CEF:0\|Runyard\|Runyard\|[^|]*\|workspace:create\|workspace create\|3\|rt=\d{13} externalId=\S+ act=create suid=user-\w+ suser=\w+ src=127\.0\.0\.1 "
                        rf"cs1Label=organization cs1={org.organization} cs2Label=resource cs2={workspace} ")
    until(lambda: any(wanted.search(frame) for frame in collector.frames), lambda: f"the event comes: {collector.frames}")


def test_no_event_is_lost_while_the_collector_is_away(site, collector):
    org = site.organization()
    org.workspace("before")
    until(lambda: all_read(site, collector), "the first events are sent")
    collector.release()
    names = [f"away-{number}" for number in range(5)]
    made = [org.workspace(name) for name in names]
    until(lambda: site.ask("select error <> '' from audit_sinks") == [(True,)], "the failure is noted")
    assert unsent(site) >= 5
    again = Collector(port=collector.port)
    try:
        until(lambda: all_read(site, again), "the events are sent later")
        assert [event["resource"]["id"] for event in again.events() if event["action"] == "create" and event["resource"]["type"] == "workspace"] == made
        assert site.ask("select error from audit_sinks") == [("",)]
    finally:
        again.release()


def test_a_second_scheduler_goes_on_where_the_first_one_ended(site, collector):
    """Both have the option, and one sends."""
    second = site.new_scheduler("scheduler-2", audit_syslog=f"tcp://127.0.0.1:{collector.port}").start()
    try:
        org = site.organization()
        for number in range(10):
            org.workspace(f"w-{number}")
        until(lambda: all_read(site, collector), "the events are sent")
        assert len(collector.frames) == len(collector.events())  # none twice
        site.scheduler.process.kill()
        other = Api(second.url, org.token, org.organization)
        for number in range(10):
            other.workspace(f"x-{number}")
        site.change("update audit_sinks set lease_until = now()")  # or a minute later
        until(lambda: all_read(site, collector), "the other scheduler sends")
        sent = [event["id"] for event in collector.events()]
        assert set(ids(site)[-10:]) <= set(sent)
    finally:
        second.release()


def test_a_rolled_back_change_is_not_sent(site, collector):
    with pytest.raises(Exception):
        site.ask("with x as (insert into audit_events (id, actor_type, request_id, action, resource_type) values ('never', 'user', 'r', 'a', 't') returning 1) select 1 / 0 from x")
    site.organization().workspace("after")
    until(lambda: all_read(site, collector), "the events are sent")
    assert "never" not in {event["id"] for event in collector.events()}


def test_the_server_must_prove_who_it_is(postgres, tmp_path):
    authority, wrong = Authority(tmp_path), Authority(tmp_path / "sub" if (tmp_path / "sub").mkdir() is None else tmp_path)
    certificate, key = authority.issue()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.file)
    own, own_key = authority.issue("client", usage="clientAuth")
    collector = Collector(context)
    options = {"audit_syslog": f"tls://127.0.0.1:{collector.port}", "audit_syslog_certificate": own, "audit_syslog_key": own_key}
    try:
        with open_api_site(postgres, **options, audit_syslog_ca=wrong.file) as site:
            site.organization()
            until(lambda: "certificate" in (site.ask("select error from audit_sinks") or [("",)])[0][0], "the certificate is refused")
            assert not collector.frames
            site.scheduler.stop()
            site.scheduler.options["audit_syslog_ca"] = authority.file
            site.scheduler.start()
            until(lambda: all_read(site, collector), "the events are sent")
    finally:
        collector.release()


def test_events_reach_a_topic_of_kafka(postgres):
    with open_api_site(postgres, audit_topic="acme.audit") as site:
        org = site.organization()
        workspace = org.workspace("to-kafka")
        until(lambda: unsent(site) == 0 and site.ask("select count(*) from outbox") == [(0,)], "the outbox is empty")
        records = [json.loads(line) for line in consume(site.bus, "acme.audit")]
        assert workspace in {record["resource"]["id"] for record in records if record["action"] == "create"}
        assert {record["id"] for record in records} <= set(ids(site))


def test_an_export_is_ended_by_a_command(site, collector):
    def command(*arguments):
        return Scheduler.run_command("audit-exports", *arguments, database_url=site.database, keys=KEYS)

    assert json.loads(command("--json").stdout)["export"] == "syslog"
    site.scheduler.stop()
    assert command("end", "syslog").returncode == 0
    assert site.ask("select count(*) from audit_sinks") == [(0,)] and unsent(site) == 0
