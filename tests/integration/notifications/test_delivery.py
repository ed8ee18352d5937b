# SPDX-License-Identifier: MPL-2.0
"""Notifications end to end: a real scheduler and notifiers, receivers and a mail server on this machine. Only the
worker is simulated."""

import json
import ssl

import pytest

from support.hooks import Hooks
from support.runyard import Notifier
from support.wait import until

TRIGGERS = ["run:created", "run:planning", "run:needs_attention", "run:applying", "run:completed", "run:errored"]


@pytest.fixture
def notifier(api_site, redis):
    """notifier(option=value...) starts another notifier."""
    started = []

    def start(**options):
        name = f"notifier-{len(started) + 1}"
        settings = {"notifier_token": api_site.tokens["notifier-token"], "scheduler_url": api_site.scheduler.url, "redis_url": redis.url,
                    "name": name, "allow": "127.0.0.1", **api_site.bus.options, **options}
        started.append(Notifier(name, api_site.folder, **settings).start())
        return started[-1]

    yield start
    for one in started:
        one.release()


class Workspace:
    """A workspace whose jobs a fake worker runs, and its notification configurations."""

    def __init__(self, api_site, org):
        self.api_site, self.org = api_site, org
        self.fake_worker = api_site.fake_worker()
        self.id = org.workspace("network")

    def subscribe(self, url=None, kind="generic", triggers=TRIGGERS, at=None, **attributes):
        """Inserts an enabled configuration without a verification. Returns its id."""
        relations = attributes.pop("relations", {})
        attributes = {"name": "a hook", "enabled": False, "destination-type": kind, "triggers": list(triggers), **attributes}
        if url:
            attributes["url"] = url
        data = {"type": "notification-configurations", "attributes": attributes, "relationships": relations}
        id = self.org.post(f"{at or 'workspaces/' + self.id}/notification-configurations", {"data": data}).data["id"]
        self.api_site.change("update notification_configurations set enabled = true where id = %s", id)
        return id

    def run(self, **attributes):
        self.configuration = getattr(self, "configuration", None) or self.org.upload(self.id, {"main.tf": ""})
        return self.org.run(self.id, self.configuration, **attributes)

    def responses(self, configuration, count=1):
        """Waits for that many responses. Returns them, the latest first."""
        def current():
            return self.org.get(f"notification-configurations/{configuration}").data["attributes"]["delivery-responses"]

        until(lambda: len(current()) >= count, lambda: f"{count} responses: {current()}")
        return current()

    def wait_until_delivered(self, configuration):
        until(lambda: self.api_site.ask("select count(*) from notifications where configuration_id = %s", configuration) == [(0,)], "no notification is pending")


@pytest.fixture
def workspace(api_site, org):
    return Workspace(api_site, org)


# ---- runs ----


def test_each_stage_of_a_run_is_notified(workspace, org, hooks, notifier):
    hook = hooks.hook()
    notifier()
    configuration = workspace.subscribe(hook.url, token="a key")
    run = workspace.run(message="add five workers")
    workspace.fake_worker.plan(run)
    org.act(run, "apply")
    workspace.fake_worker.end(workspace.fake_worker.take(run, "apply"), "passed")
    calls = hook.got("run:created", "run:planning", "run:needs_attention", "run:applying", "run:completed")
    workspace.wait_until_delivered(configuration)
    notifications = [call.document["notifications"][0] for call in calls]
    assert [(one["message"], one["run_status"]) for one in notifications] == [
        ("Run Created", "pending"), ("Run Planning", "planning"), ("Run Planned - Needs Confirmation", "planned"), ("Run Applying", "applying"),
        ("Run Applied", "applied")]
    assert len(hook.calls) == 5 and all(call.signed_with("a key") for call in hook.calls)
    me, seen = org.get("account/details").data["attributes"]["username"], org.get(f"runs/{run}").data
    first = calls[0].document
    assert first.pop("notifications") == [{"message": "Run Created", "trigger": "run:created", "run_status": "pending", "run_updated_by": me,
                                           "run_updated_at": notifications[0]["run_updated_at"]}]
    assert first == {
        "payload_version": 1, "notification_configuration_id": configuration, "run_url": f"{org.url}/app/{org.organization}/network/runs/{run}",
        "run_id": run, "run_message": "add five workers", "run_created_at": first["run_created_at"], "run_created_by": me,
        "workspace_id": workspace.id, "workspace_name": "network", "organization_name": org.organization}
    assert first["run_created_at"][:19] == seen["attributes"]["created-at"][:19]
    assert notifications[1]["run_updated_by"] is None
    assert {response["code"] for response in workspace.responses(configuration, 5)} == {"200"}


def test_an_auto_applied_run_sends_no_needs_attention(workspace, hooks, notifier):
    hook = hooks.hook()
    notifier()
    workspace.subscribe(hook.url)
    run = workspace.run(auto_apply=True)
    workspace.fake_worker.plan(run)
    workspace.fake_worker.end(workspace.fake_worker.take(run, "apply"), "passed")
    hook.got("run:completed")
    assert "run:needs_attention" not in {call.trigger for call in hook.calls}


def test_every_end_of_a_run_is_notified_as_errored_or_completed(workspace, org, hooks, notifier):
    hook = hooks.hook()
    notifier()
    configuration = workspace.subscribe(hook.url, triggers=["run:errored", "run:completed"])
    messages = set()
    for end in ("errored", "discarded", "canceled", "finished"):
        run = workspace.run()
        if end == "canceled":
            org.act(run, "cancel")
        elif end == "discarded":
            workspace.fake_worker.plan(run)
            org.act(run, "discard")
        else:
            workspace.fake_worker.end(workspace.fake_worker.take(run, "plan"), "errored" if end == "errored" else "passed")
        until(lambda: any(call.document["run_id"] == run for call in hook.calls), f"the end {end} is notified")
        messages |= {(call.trigger, call.document["notifications"][0]["message"]) for call in hook.calls if call.document["run_id"] == run}
    workspace.wait_until_delivered(configuration)
    assert messages == {("run:errored", "Run Errored"), ("run:errored", "Run Discarded"), ("run:errored", "Run Canceled"),
                        ("run:completed", "Run Planned and Finished")}


def test_only_subscribed_triggers_of_enabled_configurations_are_sent(workspace, org, hooks, notifier):
    subscribed, disabled, elsewhere = hooks.hook(), hooks.hook(), hooks.hook()
    notifier()
    configuration = workspace.subscribe(subscribed.url, triggers=["run:planning"])
    workspace.api_site.change("update notification_configurations set enabled = false where id = %s", workspace.subscribe(disabled.url))
    workspace.subscribe(elsewhere.url, at=f"workspaces/{org.workspace('other')}")
    workspace.fake_worker.plan(workspace.run(plan_only=True))
    run = workspace.run()
    workspace.fake_worker.plan(run)
    subscribed.got("run:planning")
    workspace.wait_until_delivered(configuration)
    assert [call.document["run_id"] for call in subscribed.calls] == [run]
    assert disabled.calls == elsewhere.calls == []


def test_a_project_configuration_covers_its_workspaces(workspace, org, hooks, notifier):
    hook = hooks.hook()
    notifier()
    project = org.get(f"workspaces/{workspace.id}").data["relationships"]["project"]["data"]["id"]
    workspace.subscribe(hook.url, at=f"projects/{project}")
    run = workspace.run()
    (call,) = hook.got("run:created")
    assert call.document["run_id"] == run


@pytest.mark.parametrize("kind", ["slack", "microsoft-teams"])
def test_chats_get_messages_in_their_format(workspace, hooks, notifier, kind):
    hook = hooks.hook()
    notifier()
    workspace.subscribe(hook.url, kind, triggers=["run:created"])
    run = workspace.run(message="a <b> & c")
    until(lambda: hook.calls, "the chat is notified")
    body = hook.calls[0].document
    (attachment,) = body["attachments"]
    if kind == "slack":
        assert body["text"] == attachment["fallback"] == "network: Run Created"
        assert attachment["title_link"].endswith(run)
        assert {"title": "Message", "value": "a &lt;b&gt; &amp; c", "short": True} in attachment["fields"]
    else:
        card = attachment["content"]
        assert (body["type"], attachment["contentType"], card["type"]) == ("message", "application/vnd.microsoft.card.adaptive", "AdaptiveCard")
        assert card["body"][0]["text"] == "Run Created"
        assert {"title": "Message", "value": "a <b> & c"} in card["body"][1]["facts"]
        assert card["actions"][0]["url"].endswith(run)


# ---- behaviours of receivers ----


def test_retryable_responses_are_retried(workspace, hooks, notifier):
    hook = hooks.hook(codes=[500, 429])
    notifier()
    configuration = workspace.subscribe(hook.url, triggers=["run:created"])
    workspace.run()
    responses = workspace.responses(configuration, 3)
    assert [(one["code"], one["successful"]) for one in responses] == [("200", "true"), ("429", "false"), ("500", "false")]
    assert len({call.body for call in hook.calls}) == 1
    workspace.wait_until_delivered(configuration)


@pytest.mark.parametrize("code", [301, 400, 404, 410])
def test_permanent_failures_are_not_retried(workspace, hooks, notifier, code):
    hook = hooks.hook(code, body=b"no")
    first = notifier()
    configuration = workspace.subscribe(hook.url, triggers=["run:created"])
    run = workspace.run()
    (response,) = workspace.responses(configuration)
    assert (response["code"], response["successful"], response["url"]) == (str(code), "false", hook.url)
    workspace.wait_until_delivered(configuration)
    assert len(hook.calls) == 1
    assert first.metric("runyard_notifier_gave_up_total", kind="notification") == 1
    assert any(line.get("run") == run and line["msg"] == "a request was never taken" for line in first.log_lines())


@pytest.mark.parametrize("code", [200, 403])
def test_the_response_of_a_public_receiver_is_stored_as_text(workspace, hooks, notifier, code):
    hook = hooks.hook(code, body=b"no\x1b[2J\x7f" + b"x" * 3000)
    notifier(allow="", proxy=hooks.address)
    configuration = workspace.subscribe(hook.url.replace(hooks.address, "http://receiver.example.com"), triggers=["run:created"])
    workspace.run()
    (response,) = workspace.responses(configuration)
    assert (response["code"], response["body"]) == (str(code), "no?[2J?" + "x" * 1017)
    assert response["headers"]["x-hook"] == ["yes", "indeed"]


@pytest.mark.parametrize("code", [200, 403])
@pytest.mark.parametrize("allow", ["127.0.0.1", "127.0.0.0/8:{port}", "localhost:{port}"])
def test_the_response_of_a_receiver_on_the_allow_list_is_not_stored(workspace, hooks, notifier, code, allow):
    hook = hooks.hook(code, body=b"a page of the inside")
    port = hooks.server.server_port
    notifier(allow=allow.format(port=port))
    host = "localhost" if "localhost" in allow else "127.0.0.1"
    configuration = workspace.subscribe(hook.url.replace("127.0.0.1", host), triggers=["run:created"])
    workspace.run()
    (response,) = workspace.responses(configuration)
    assert (response["code"], response["body"], response["headers"]) == (str(code), "", {})


def test_the_allow_list_permits_only_its_ports(workspace, hooks, notifier):
    inside, checker = hooks.hook(body=b"a page of the inside"), Hooks()
    try:
        open_hook = checker.hook()
        notifier(allow=f"127.0.0.1:{checker.server.server_port}")
        refused = workspace.subscribe(inside.url, triggers=["run:created"])
        workspace.subscribe(open_hook.url, triggers=["run:created"])
        workspace.run()
        open_hook.got("run:created")
        (response,) = workspace.responses(refused)
    finally:
        checker.release()
    assert response["code"] == "" and "loopback" in response["body"]
    assert inside.calls == []


def test_timeouts_are_retried(workspace, hooks, notifier):
    hook = hooks.hook()
    hook.open.clear()
    notifier(response_timeout_ms=300, connect_timeout_ms=300)
    configuration = workspace.subscribe(hook.url, triggers=["run:created"])
    workspace.run()
    until(lambda: len(hook.calls) == 2, "the request is retried")
    hook.open.set()
    assert workspace.responses(configuration, 2)[-1]["code"] == ""
    workspace.wait_until_delivered(configuration)


def test_a_failing_receiver_opens_its_circuit(workspace, hooks, notifier):
    bad, good = hooks.hook(503), hooks.hook()
    first = notifier()
    workspace.subscribe(bad.url, triggers=["run:created"])
    workspace.subscribe(good.url, triggers=["run:created"])
    for _ in range(6):
        workspace.run()
    until(lambda: len(good.calls) == 6, "the other receiver is notified")

    base_url = bad.url.rpartition("/")[0]  # the path of a chat's URL is its key

    def circuits():
        """Returns the circuits of this test's receivers. A notifier also takes over requests of an earlier test's notifier."""
        return [one for one in json.loads(first.get("/circuits")[1])["circuits"] if one["url"].startswith(base_url)]

    until(lambda: sorted(one["state"] for one in circuits()) == ["closed", "open"], lambda: f"the circuit opens: {circuits()}")
    assert {one["url"] for one in circuits()} == {base_url}
    bad.code = 200
    until(lambda: len({call.document["run_id"] for call in bad.calls}) == 6, "all runs are notified in the end")


def test_private_addresses_are_refused(workspace, hooks, notifier):
    hook = hooks.hook()
    notifier(allow="192.168.7.0/24")
    configuration = workspace.subscribe(hook.url, triggers=["run:created"])
    workspace.run()
    (response,) = workspace.responses(configuration)
    assert response["code"] == "" and "loopback" in response["body"]
    workspace.wait_until_delivered(configuration)
    assert hook.calls == []


def test_notifications_are_delivered_without_kafka(workspace, hooks, notifier):
    hook = hooks.hook()
    notifier(brokers=None)
    workspace.subscribe(hook.url, triggers=["run:created"])
    workspace.run()
    hook.got("run:created")


def test_several_notifiers_deliver_each_notification_once(workspace, hooks, notifier):
    hook = hooks.hook()
    for _ in range(3):
        notifier()
    configuration = workspace.subscribe(hook.url, triggers=["run:created"])
    runs = {workspace.run() for _ in range(12)}
    until(lambda: {call.document["run_id"] for call in hook.calls} == runs, "all runs are notified")
    workspace.wait_until_delivered(configuration)
    assert len(hook.calls) == 12


def test_disabled_and_deleted_configurations_send_no_pending_notifications(workspace, org, hooks, notifier):
    hook = hooks.hook()
    configuration = workspace.subscribe(hook.url, triggers=["run:created"])
    workspace.run()
    data = {"type": "notification-configurations", "attributes": {"enabled": False}}
    org.patch(f"notification-configurations/{configuration}", {"data": data})
    workspace.wait_until_delivered(configuration)
    other = workspace.subscribe(hook.url, triggers=["run:created"])
    workspace.run()
    org.delete(f"notification-configurations/{other}")
    workspace.wait_until_delivered(other)
    last = hooks.hook()
    workspace.subscribe(last.url, triggers=["run:created"])
    workspace.run()
    notifier()
    last.got("run:created")
    assert hook.calls == []


def test_an_unreadable_token_does_not_block_other_notifications(workspace, api_site, hooks, notifier):
    broken, working = hooks.hook(), hooks.hook()
    api_site.change("update notification_configurations set token_sealed = decode('00000001' || repeat('00', 40), 'hex') where id = %s",
                    workspace.subscribe(broken.url, triggers=["run:created"]))
    workspace.subscribe(working.url, triggers=["run:created"])
    notifier()
    run = workspace.run()
    working.got("run:created")
    assert broken.calls == []
    assert any(line["msg"] == "a notification can't be sent" and line["run"] == run for line in api_site.scheduler.log_lines())


def test_the_scheduler_counts_and_logs_deliveries(workspace, api_site, hooks, notifier):
    hook = hooks.hook()
    notifier()
    before = api_site.scheduler.metric("runyard_notifications_total", destination="generic", outcome="delivered")
    configuration = workspace.subscribe(hook.url, triggers=["run:created"])
    run = workspace.run()
    workspace.responses(configuration)
    until(lambda: api_site.scheduler.metric("runyard_notifications_total", destination="generic", outcome="delivered") == before + 1, "the delivery is counted")
    (line,) = [line for line in api_site.scheduler.log_lines() if line["msg"] == "a notification was delivered" and line.get("run") == run]
    assert (line["configuration"], line["trigger"], line["status"]) == (configuration, "run:created", "200")
    assert hook.url not in json.dumps(api_site.scheduler.log_lines())


# ---- mail ----


def mail_notifier(notifier, mail_server, **options):
    return notifier(smtp_url=mail_server.url, smtp_from="runyard@example.com", smtp_tls="none", **options)


def tls(authority):
    certificate, key = authority.issue()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def test_mail_is_sent_to_members_and_addresses(workspace, org, api_site, mail_server, notifier):
    mail_notifier(notifier, mail_server)
    me = org.get("account/details").data
    people = {"users": {"data": [{"type": "users", "id": me["id"]}]}}
    configuration = workspace.subscribe(kind="email", triggers=["run:created"], **{"email-addresses": ["ops@example.org"]}, relations=people, name="Ärger")
    run = workspace.run(message="über alles")
    mail = mail_server.got()
    assert mail.sender == "runyard@example.com"
    assert sorted(mail.recipients) == sorted(["ops@example.org", me["attributes"]["email"]])
    assert mail.subject == f"{org.organization}/network: Run Created"
    assert mail.message["From"] == "Runyard <runyard@example.com>"
    assert mail.message["Message-ID"].endswith("@example.com>")
    assert f"{org.url}/app/{org.organization}/network/runs/{run}" in mail.text
    assert "über alles" in mail.text and "Ärger" in mail.text
    (response,) = workspace.responses(configuration)
    assert (response["code"], response["successful"]) == ("250", "true") and "taken" in response["body"]
    workspace.wait_until_delivered(configuration)


def test_verifying_sends_a_mail(workspace, org, mail_server, notifier):
    mail_notifier(notifier, mail_server)
    configuration = workspace.subscribe(kind="email", name="prüfen", **{"email-addresses": ["ops@example.org"]})
    org.post(f"notification-configurations/{configuration}/actions/verify")
    assert mail_server.got().subject == "Verification of prüfen"
    assert workspace.responses(configuration)[0]["successful"] == "true"


def test_former_members_get_no_mail(workspace, org, api_site, mail_server, notifier):
    mail_notifier(notifier, mail_server)
    me = org.get("account/details").data["id"]
    configuration = workspace.subscribe(kind="email", triggers=["run:created"], relations={"users": {"data": [{"type": "users", "id": me}]}})
    api_site.change("update notification_users set user_id = (select id from users where id <> %s and is_service_account limit 1) where configuration_id = %s",
                    me, configuration)
    workspace.run()
    (response,) = workspace.responses(configuration)
    assert response["body"] == "there is nobody to send it to"
    assert mail_server.mails == []


def test_a_refused_recipient_does_not_block_other_recipients(workspace, mail_server, notifier):
    mail_notifier(notifier, mail_server)
    mail_server.refusals["gone@example.org"] = ["550 no such user"] * 9
    configuration = workspace.subscribe(kind="email", triggers=["run:created"], **{"email-addresses": ["gone@example.org", "ops@example.org"]})
    workspace.run()
    assert mail_server.got().recipients == ["ops@example.org"]
    assert workspace.responses(configuration)[0]["successful"] == "true"


def test_temporary_smtp_errors_are_retried_and_permanent_ones_are_not(workspace, mail_server, notifier):
    mail_notifier(notifier, mail_server)
    mail_server.refusals["gone@example.org"] = ["550 no such user"] * 9
    mail_server.refusals["later@example.org"] = ["451 later"]
    permanent = workspace.subscribe(kind="email", triggers=["run:created"], **{"email-addresses": ["gone@example.org"]})
    temporary = workspace.subscribe(kind="email", triggers=["run:created"], **{"email-addresses": ["later@example.org"]})
    workspace.run()
    assert mail_server.got().recipients == ["later@example.org"]
    assert [one["code"] for one in workspace.responses(temporary, 2)] == ["250", "451"]
    workspace.wait_until_delivered(permanent)
    assert [one["code"] for one in workspace.responses(permanent)] == ["550"]


def test_without_a_mail_server_the_response_names_the_option(workspace, notifier):
    notifier()
    configuration = workspace.subscribe(kind="email", triggers=["run:created"], **{"email-addresses": ["ops@example.org"]})
    workspace.run()
    (response,) = workspace.responses(configuration)
    assert (response["code"], response["successful"]) == ("", "false") and "--smtp-url" in response["body"]
    workspace.wait_until_delivered(configuration)


def test_mail_needs_tls_unless_disabled(workspace, mail_server, notifier):
    notifier(smtp_url=mail_server.url, smtp_from="runyard@example.com")
    configuration = workspace.subscribe(kind="email", triggers=["run:created"], **{"email-addresses": ["ops@example.org"]})
    workspace.run()
    assert workspace.responses(configuration)[0]["successful"] == "false"
    assert mail_server.mails == [] and "MAIL" not in mail_server.said


def test_mail_is_sent_with_tls_and_authentication(workspace, mail_server, authority, notifier):
    mail_server.context, mail_server.login = tls(authority), ("runyard", "pass word")
    wrong = notifier(smtp_url=mail_server.url, smtp_from="runyard@example.com", smtp_user="runyard", smtp_password="no", ca_file=authority.file)
    configuration = workspace.subscribe(kind="email", triggers=["run:created"], **{"email-addresses": ["ops@example.org"]})
    workspace.run()
    assert [one["code"] for one in workspace.responses(configuration)] == ["535"]
    wrong.stop()
    notifier(smtp_url=mail_server.url, smtp_from="runyard@example.com", smtp_user="runyard", smtp_password="pass word", ca_file=authority.file)
    workspace.run()
    assert mail_server.got().recipients == ["ops@example.org"]
    # The mail arrives before the client sends QUIT.
    until(lambda: mail_server.said[-8:] == ["EHLO", "STARTTLS", "EHLO", "AUTH", "MAIL", "RCPT", "DATA", "QUIT"], "the whole conversation")


def test_a_mail_server_with_an_untrusted_certificate_gets_no_mail(workspace, mail_server, authority, notifier):
    mail_server.context = tls(authority)
    notifier(smtp_url=mail_server.url, smtp_from="runyard@example.com")
    configuration = workspace.subscribe(kind="email", triggers=["run:created"], **{"email-addresses": ["ops@example.org"]})
    workspace.run()
    assert "certificate" in workspace.responses(configuration)[0]["body"]
    assert "MAIL" not in mail_server.said
