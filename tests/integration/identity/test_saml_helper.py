# SPDX-License-Identifier: MPL-2.0
"""The helper process of SAML: what it may do, and what happens without it."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from support.saml_site import AUTH, METADATA
from support.wait import until

TOKENS = "/app/settings/tokens"
LIMIT_S = 5  # SAML_SECONDS


def helper(saml):
    """The process id of the scheduler's helper."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue
        if f"\nPPid:\t{saml.api_site.scheduler.pid}\n" in text and text.startswith("Name:\trunyard-saml\n"):
            return int(status.parent.name)
    return None


def field(pid, name):
    return next(line.split()[1] for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith(name + ":"))


def test_it_may_do_nothing(saml):
    saml.get(METADATA)
    pid = helper(saml)
    assert field(pid, "Seccomp") == "2" and field(pid, "NoNewPrivs") == "1" and field(pid, "CapEff") == "0" * 16
    if os.geteuid() == 0:
        assert field(pid, "Uid") != "0"
        descriptors = {os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir()}
        assert len([name for name in descriptors if name.startswith("socket:")]) == 1, descriptors
        assert Path(f"/proc/{pid}/environ").read_bytes() == b""
        assert os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net")


def test_it_is_started_again_after_it_was_killed(saml):
    name = saml.person()
    first = helper(saml)
    os.kill(first, signal.SIGKILL)
    assert name in saml.sign_in(path=f"{AUTH}?return={TOKENS}").text
    assert helper(saml) not in (first, None)


def test_without_its_program(saml, tmp_path):
    """The sign-in answers 503; the settings say why; everything else goes on."""
    stopped = helper(saml)
    os.kill(stopped, signal.SIGSTOP)
    _, began = saml.browser(), time.monotonic()
    answers = []

    def begin():
        browser = saml.browser().ask(AUTH)
        answers.append((browser.status, browser.text, browser.headers["Retry-After"], time.monotonic() - began))

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        asked = time.monotonic()
        assert saml.admin.get("account/details").status == 200 and saml.get("/app/login").status == 200
        assert time.monotonic() - asked < 2
        time.sleep(0.05)
    assert [status for status, *_ in answers] == [503] * 4 and all(after == "30" for _, _, after, _ in answers)
    sentences = " ".join(text for _, text, _, _ in answers)
    assert "not available at the moment" in sentences and "Too many people" in sentences
    assert max(seconds for *_, seconds in answers) < LIMIT_S + 3
    until(lambda: helper(saml) not in (None, stopped), "the helper is started again")
    name = saml.person()
    assert name in saml.sign_in(path=f"{AUTH}?return={TOKENS}").text


def test_flood(saml):
    """Many responses at once: those that are not checked are refused, and a person can sign in afterwards."""
    _, location = saml.begin()
    fields = {"SAMLResponse": "x" * 100_000, "RelayState": saml.provider.sign_in(location)["RelayState"]}
    statuses = []

    def post():
        for _ in range(10):
            statuses.append(saml.browser().ask(AUTH, fields, follow=False).status)

    threads = [threading.Thread(target=post) for _ in range(16)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        asked = time.monotonic()
        assert saml.admin.get("account/details").status == 200
        assert time.monotonic() - asked < 2
        time.sleep(0.05)
    assert set(statuses) <= {403, 429, 503}, set(statuses)
    name = saml.person()
    assert name in saml.sign_in(path=f"{AUTH}?return={TOKENS}").text


def test_one_address_floods(saml):
    browser = saml.browser()
    statuses = [browser.ask(AUTH, {"SAMLResponse": "x", "RelayState": "x"}, follow=False).status for _ in range(40)]
    assert statuses[0] == 403 and statuses[-1] == 429
    assert saml.begin()[0].status == 303


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_its_scheduler(saml, by):
    other = saml.api_site.new_scheduler(f"scheduler-{by}", public_url=saml.url).start()
    try:
        pid = next(int(status.parent.name) for status in Path("/proc").glob("[0-9]*/status") if f"\nPPid:\t{other.pid}\n" in status.read_text())
        os.kill(other.pid, by)
        until(lambda: not Path(f"/proc/{pid}").exists(), "the helper ends")
    finally:
        other.kill() if by == signal.SIGKILL else other.release()
