# SPDX-License-Identifier: MPL-2.0
"""Workers and notifiers name the versions of the protocol that they support, and a refusal says whom to upgrade."""

import json

import pytest

from support.http_proxy import HttpProxy
from support.wait import until


def called(api, tokens, kind, body):
    path, token = {"worker": ("worker/v1/register", "agent-token"), "notifier": ("notifier/v1/claim", "notifier-token")}[kind]
    full = {"worker": {"name": "w", "slots": 1, "version": "9.9.9"},
            "notifier": {"notifier": "n", "callback-url": "http://x", "internal-url": "http://127.0.0.1:1", "max": 1, "ids": [], "version": "9.9.9"}}[kind]
    return api.call("POST", f"{api.url}/api/{path}", json.dumps({**full, **body}).encode(),
                    headers={"Authorization": f"Bearer {tokens[token]}", "Content-Type": "application/json"})


@pytest.mark.parametrize("kind", ["worker", "notifier"])
def test_the_newest_common_version_is_used(api, tokens, ask, kind):
    for protocols, expected in ((None, 1), ([1], 1), ([1, 2], 2), ([2, 3], 2)):
        answer = called(api, tokens, kind, {} if protocols is None else {"protocols": protocols})
        assert answer.status == 200
        assert kind == "notifier" or answer.json["protocol"] == expected
        assert ask("select version, protocol from processes where kind = %s order by seen_at desc limit 1", kind) == [("9.9.9", expected)]
    refused = called(api, tokens, kind, {"protocols": [3]})
    assert refused.status == 426 and f"this {kind} is too new" in refused.errors() and "Upgrade the schedulers first" in refused.errors()
    assert called(api, tokens, kind, {"protocols": "2"}).status == 422


def test_processes_register_their_versions(scheduler, worker, notifier, ask):
    worker(), notifier()
    rows = until(lambda: (found := ask("select kind, name, version, protocol from processes order by kind")) and len(found) == 3 and found, "all are there")
    assert [(kind, protocol) for kind, _, _, protocol in rows] == [("notifier", 2), ("scheduler", 2), ("worker", 2)]
    assert rows[0][1] == "notifier-1" and len({version for _, _, version, _ in rows}) == 1


def test_a_refused_process_logs_which_side_to_upgrade_and_retries(scheduler, worker, notifier, request, ask):
    """As by a scheduler of a release that no longer speaks its versions."""
    one = scheduler()
    front = HttpProxy(one.port)
    request.addfinalizer(front.release)
    body = json.dumps({"errors": [{"status": "426", "title": "upgrade required", "detail": "this one is too old: install a newer one"}]})
    refused = {"refusing": True}

    headers = [("Content-Type", "application/json"), ("Runyard-Installation", ask("select id from installation")[0][0])]

    def reply(method, path):
        return (426, headers, body.encode()) if refused["refusing"] and path.endswith(("/register", "/claim")) else None

    front.reply = reply
    both = [worker.launch(scheduler_url=front.url), notifier.launch(scheduler_url=front.url)]
    for process in both:
        process.process.wait_until(lambda process=process: any("status 426: this one is too old: install a newer one" in json.dumps(line)
                                                               for line in process.log_lines()), "says why it is refused")
    refused["refusing"] = False
    for process in both:
        process.start_waiting()
