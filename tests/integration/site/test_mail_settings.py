# SPDX-License-Identifier: MPL-2.0
# label: quick
"""The mail server of the site's settings: the test mail, mails of notifiers, the password."""

import ssl
import uuid

import pytest

from support.authority import Authority
from support.documents import refused_at
from support.mail_server import MailServer
from support.runyard import Notifier


@pytest.fixture
def mail_server():
    mail_server = MailServer()
    yield mail_server
    mail_server.release()


@pytest.fixture
def change(org):
    """Changes the settings, and switches them off in the end."""
    def send(**attributes):
        attributes = {name.replace("_", "-"): value for name, value in attributes.items()}
        return org.call("PATCH", "admin/smtp-settings", {"data": {"type": "smtp-settings", "attributes": attributes}})

    yield send
    assert send(enabled=False, auth="none").status == 200


def place(mail_server):
    return {"host": "127.0.0.1", "port": mail_server.server.server_address[1], "sender": "site@example.com"}


def invite(org):
    address = f"{uuid.uuid4().hex[:8]}@example.com"
    org.post(f"organizations/{org.organization}/organization-memberships", {"data": {"type": "organization-memberships", "attributes": {"email": address}}})
    return address


def test_what_is_missing_is_named_once_it_is_enabled(change, mail_server):
    assert change(enabled=False, auth="login").status == 200  # nothing is missing yet
    refused_at(change(enabled=True, auth="none", host=""), "/data/attributes/host")
    refused_at(change(enabled=True, auth="none", host="mail.example.com", sender="x"), "/data/attributes/sender")
    refused_at(change(**place(mail_server), enabled=True, auth="plain"), "/data/attributes/username")
    refused_at(change(**place(mail_server), enabled=True, auth="plain", username="runyard"), "/data/attributes/password")


def test_a_test_mail_is_sent_before_anything_is_stored(org, change, mail_server):
    assert change(**place(mail_server), enabled=True, auth="none", **{"test-email-address": "ops@example.com"}).status == 200
    mail = mail_server.got()
    assert (mail.sender, mail.recipients, mail.subject) == ("site@example.com", ["ops@example.com"], "Test of the mail server")
    mail_server.refusals["ops@example.com"] = ["550 who is that"]
    answer = change(sender="other@example.com", **{"test-email-address": "ops@example.com"})
    assert "not sent" in refused_at(answer, "/data/attributes/test-email-address")
    assert org.attributes("admin/smtp-settings")["sender"] == "site@example.com"


def test_the_guard_keeps_test_mails_from_private_addresses(change):
    answer = change(enabled=True, host="10.255.255.1", port=25, sender="site@example.com", auth="none", **{"test-email-address": "ops@example.com"})
    assert "a private address" in refused_at(answer, "/data/attributes/host")


def test_notifiers_send_through_it_while_it_is_enabled(org, api_site, redis, change, mail_server):
    own = MailServer()
    notifier = Notifier("notifier-1", api_site.folder, notifier_token=api_site.tokens["notifier-token"], scheduler_url=api_site.scheduler.url, redis_url=redis.url, name="notifier-1",
                        smtp_url=own.url, smtp_from="options@example.com", smtp_tls="none", allow="127.0.0.1", **api_site.bus.options).start()
    try:
        first = invite(org)
        assert (own.got().sender, own.mails[0].recipients) == ("options@example.com", [first])
        assert change(**place(mail_server), enabled=True, auth="none").status == 200
        second = invite(org)
        assert (mail_server.got().sender, mail_server.mails[0].recipients) == ("site@example.com", [second])
        assert change(enabled=False).status == 200
        invite(org)
        assert own.got(2).sender == "options@example.com" and len(mail_server.mails) == 1
    finally:
        notifier.release()
        own.release()


def test_a_password_is_sealed_and_goes_only_to_its_server(org, api_site, redis, change, mail_server):
    """It needs TLS, which this server has only for those who trust its authority."""
    authority = Authority(api_site.folder)
    certificate, key = authority.issue()
    mail_server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    mail_server.context.load_cert_chain(certificate, key)
    mail_server.login = ("runyard", "pass word")
    assert change(**place(mail_server), enabled=True, auth="plain", username="runyard", password="pass word").status == 200
    assert "pass word" not in org.get("admin/smtp-settings").text
    assert b"pass word" not in bytes(api_site.ask("select value_sealed from site_secrets where name = 'smtp-password'")[0][0])
    notifier = Notifier("notifier-2", api_site.folder, notifier_token=api_site.tokens["notifier-token"], scheduler_url=api_site.scheduler.url, redis_url=redis.url, name="notifier-2",
                        allow="127.0.0.1", ca_file=authority.file, **api_site.bus.options).start()
    try:
        address = invite(org)
        assert mail_server.got().recipients == [address] and "AUTH" in mail_server.said
    finally:
        notifier.release()
    assert "pass word" not in api_site.scheduler.process.log() and "pass word" not in notifier.process.log()
    answer = change(host="localhost")  # the password is not for another host
    refused_at(answer, "/data/attributes/password")
    assert change(host="localhost", enabled=False).status == 200
    assert api_site.ask("select count(*) from site_secrets") == [(0,)]
