# SPDX-License-Identifier: MPL-2.0
"""Every endpoint of the API, with random requests: no answer is a 5xx, every error is a JSON:API error, and no process
dies.

Requests are built from earlier answers: ids and attributes are mixed, truncated, or replaced by other types. The
seed is printed; RUNYARD_SEED sets it, RUNYARD_FUZZ_REQUESTS sets the number of requests.
"""

import json
import os
import random
import threading
import urllib.parse
from collections import Counter

from support.routes import rows

REQUESTS = int(os.environ.get("RUNYARD_FUZZ_REQUESTS", 5000))
SEED = int(os.environ.get("RUNYARD_SEED", 1))
# Handlers that would delete objects that all other requests need.
EXCLUDED_HANDLERS = {"organizations_delete", "account_update", "account_password", "tokens_delete"}
UNUSUAL_VALUES = [None, True, False, 0, -1, 1, 2**31, 2**63 - 1, 1e308, "", " ", "null", "../..", "%00", "a" * 300, "a" * 70000, "\u0001", "é😀", "'; drop table runs; --",
       "\u202e", [], {}, [None], [[]], [{}], ["a", 1], {"a": None}, {"id": 1}, [{"key": "k", "value": "v"}], "2026-11-21T00:00:00Z", "2026-99-99", "nan", "true"]
QUERIES = ["page[number]", "page[size]", "include", "sort", "q", "search[name]", "search[tags]", "search[wildcard-name]", "search[basic]", "filter[status]",
           "filter[operation]", "filter[status_group]", "filter[timeframe]", "filter[names]", "filter[organization][name]", "filter[workspace][name]", "filter[kind]",
           "filter[workspace][id]", "filter[project][id]", "filter[tagged][0][key]", "filter[tagged][0][value]", "filter[run-trigger][type]", "filter[email]",
           "filter[current-run][status]", "filter[last-ping-since]", "since", "limit", "offset"]


class Fuzzer:
    def __init__(self, api, seed):
        self.api, self.random = api, random.Random(seed)
        self.ids = {"organizations": [api.organization]}
        self.attributes = {}
        self.answers = Counter()
        # Deleted objects are missing for later requests.
        included = [row for row in rows("API") if row[2] not in EXCLUDED_HANDLERS]
        self.rows = [row for row in included for _ in range(1 if row[0] == "DELETE" else 5)]

    # ---- values from answers ----

    def learn(self, document):
        if isinstance(document, dict):
            if isinstance(document.get("id"), str) and isinstance(document.get("type"), str):
                known = self.ids.setdefault(document["type"], [])
                if document["id"] not in known:
                    known.append(document["id"])
                    del known[:-50]
                self.attributes.setdefault(document["type"], {}).update(document.get("attributes") or {})
            for value in document.values():
                self.learn(value)
        elif isinstance(document, list):
            for value in document:
                self.learn(value)

    # ---- requests ----

    def any_id(self):
        return self.random.choice(self.random.choice([*self.ids.values()]))

    def value(self, like=None):
        dice = self.random.random()
        if dice < 0.4:
            return like
        if dice < 0.5:
            return self.any_id()
        if dice < 0.6 and isinstance(like, str):
            return like[: self.random.randrange(len(like) + 1)] + self.random.choice(["", "x", "\u0000", ",", "*"])
        return self.random.choice(UNUSUAL_VALUES)

    def relation(self):
        one = {"type": self.random.choice([*self.ids, "things", None]), "id": self.value(self.any_id())}
        return {"data": self.random.choice([one, [one], [one, one], None, [], "x"])}

    def document(self, type):
        known = self.attributes.get(type) or self.random.choice([*self.attributes.values(), {}])
        attributes = {name: self.value(value) for name, value in known.items() if self.random.random() < 0.5}
        relations = {self.random.choice([*self.ids, "workspace", "configuration-version", "task", "team", "project", "sourceable"]): self.relation() for _ in range(self.random.randrange(3))}
        data = {"type": self.random.choice([type, type, type, "", 5]), "attributes": attributes, "relationships": relations}
        return self.random.choice([{"data": data}] * 8 + [{"data": [data]}, {"data": None}, data, attributes, [data], {"data": [{"type": type, "id": self.any_id()}]}])

    def body(self, path):
        type = path.rstrip("/").rsplit("/", 1)[-1]
        body = json.dumps(self.document(type if type in self.attributes else self.random.choice([*self.ids]))).encode()
        dice = self.random.random()
        if dice < 0.05:
            return body[: self.random.randrange(len(body))]
        if dice < 0.1:
            at = self.random.randrange(len(body))
            return body[:at] + self.random.randbytes(3) + body[at:]
        return b"[" * 30000 if dice > 0.995 else body

    def path(self, pattern):
        def segment(name):
            if not name.startswith(":"):
                return name
            known = [ids for type, ids in self.ids.items() if type.rstrip("s").startswith(name[1:5])]
            chosen = self.random.choice(self.random.choice(known)) if known and self.random.random() < 0.93 else self.value(self.any_id())
            return urllib.parse.quote(str(chosen)[:200] or "-", safe="")

        path = "/".join(segment(part) for part in pattern.split("/"))
        # A request line over the server's limit is not answered by the API.
        query = {self.random.choice(QUERIES): str(self.value(self.any_id()))[:1000] for _ in range(self.random.choice([0, 0, 1, 3]))}
        return f"{path}?{urllib.parse.urlencode(query)}" if query else path

    def one(self):
        method, pattern, _, _ = self.random.choice(self.rows)
        path = self.path(pattern.lstrip("/"))
        body = self.body(pattern) if method != "GET" and self.random.random() < 0.95 else None
        answer = self.api.call(method, path, body)
        message = f"{method} {path[:300]} {str(body)[:1500]}: {answer.status} {answer.text[:500]}"
        assert answer.status < 500, message
        self.answers[answer.status] += 1
        if answer.status >= 400:
            assert all(isinstance(error["status"], str) and error["title"] for error in answer.json["errors"]), message
        elif "json" in (answer.headers.get("Content-Type") or ""):
            self.learn(answer.json)


def test_random_requests_never_cause_a_server_error(api_site, org):
    print(f"seed {SEED}")
    failed = []
    workspace = org.workspace()
    org.run(workspace, org.upload(workspace, {"main.tf": ""}))
    fuzzers = [Fuzzer(org, SEED + number) for number in range(3)]
    for path in ("account/details", f"organizations/{org.organization}", f"workspaces/{workspace}", f"workspaces/{workspace}/runs", f"organizations/{org.organization}/projects"):
        for fuzzer in fuzzers:
            fuzzer.learn(org.get(path).json)

    def work(fuzzer):
        for _ in range(REQUESTS // len(fuzzers)):
            if failed:
                return
            try:
                fuzzer.one()
            except Exception as error:  # noqa: BLE001: the test reports any exception
                failed.append(error)

    threads = [threading.Thread(target=work, args=[fuzzer]) for fuzzer in fuzzers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answers = sum((fuzzer.answers for fuzzer in fuzzers), Counter())
    print(dict(answers.most_common()))
    if failed:
        raise failed[0]
    assert api_site.scheduler.process.alive() and answers[200] > 100 and answers[201] and answers[422]
