# SPDX-License-Identifier: MPL-2.0
# label: quick
"""The client of the API: pages, and where links and redirections lead. Without servers."""

import email.message
import re
import sys
import types

import pytest

from support.migration import PACKAGE

sys.path.insert(0, str(PACKAGE))
from runyard_migrate.client import Client, Failure, Unclear  # noqa: E402
from runyard_migrate.writer import Writer  # noqa: E402


class Paged(Client):
    """A server with a list. change(elements) is called after each first page, as long as there are such functions."""

    def __init__(self, elements, *changes):
        super().__init__("https://tfe.example.com", "token")
        self.elements, self.changes = [{"type": "workspaces", "id": f"ws-{number}"} for number in range(elements)], list(changes)

    def get(self, path):
        number = int(re.search(r"number%5D=(\d+)", path)[1])
        total, data = len(self.elements), self.elements[(number - 1) * 100:number * 100]
        if number == 1 and self.changes:
            self.changes.pop(0)(self.elements)
        return {"data": data, "meta": {"pagination": {"total-count": total, "next-page": number + 1 if number * 100 < total else None}}}


def remove(elements):
    del elements[3]


def test_a_list_that_loses_an_element_between_pages_is_read_again():
    client = Paged(150, remove)
    assert [one["id"] for one in client.list("workspaces")] == [one["id"] for one in client.elements]


def test_a_list_that_always_changes_is_not_taken_for_complete():
    with pytest.raises(Failure, match="GET workspaces: the list says 146 or 147 elements and has 146: it changed"):
        Paged(150, *[remove] * 4).list("workspaces")


def test_a_list_without_a_total_is_complete_after_its_last_page():
    client = Paged(150)
    answers, client.get = client.get, lambda path: {**answers(path), "meta": {"pagination": {"next-page": 2 if "number%5D=1" in path else None}}}
    assert len(client.list("workspaces")) == 150


def posted(monkeypatch, answers, lists):
    """Creates a workspace. `answers` are of the requests, `lists` of looking for it: each is an error, or what comes back."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)

    def next_of(outcomes):
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome
    writer = types.SimpleNamespace(client=types.SimpleNamespace(call=lambda *_: next_of(answers)), look=lambda item: next_of(lists))
    return Writer.post(writer, None, "workspaces", {})


NO_ANSWER, TAKEN = Unclear("POST", "workspaces", 0, "no answer: TimeoutError"), Failure("POST", "workspaces", 422, "has already been taken")
NO_LIST, THERE = Failure("GET", "workspaces", 503, ""), {"id": "ws-1"}


@pytest.mark.parametrize("answers, lists", (
    ([NO_ANSWER], [NO_LIST]),
    ([NO_ANSWER, TAKEN], [None, NO_LIST]),  # the first request created it, after it was looked for
))
def test_a_creation_without_an_answer_stays_unclear_if_the_list_cannot_be_read(monkeypatch, answers, lists):
    with pytest.raises(Unclear):
        posted(monkeypatch, answers, lists)


def test_a_creation_without_an_answer_is_found_in_the_list(monkeypatch):
    assert posted(monkeypatch, [NO_ANSWER, TAKEN], [None, THERE]) == {"data": THERE}
    with pytest.raises(Failure, match="has already been taken"):
        posted(monkeypatch, [NO_ANSWER, TAKEN], [None, None])
    with pytest.raises(Failure, match="has already been taken"):
        posted(monkeypatch, [TAKEN], [])


class Answer:
    length = 0

    def __init__(self, location):
        self.status, self.headers = 302 if location else 200, email.message.Message()
        if location:
            self.headers["Location"] = location
        self.getheader = self.headers.get

    def read(self, size=0):
        return b""


class Linked(Client):
    """Servers that redirect: {address: where to}. `sent` are the addresses that were asked, and whether they got the token."""

    def __init__(self, url, redirections):
        super().__init__(url, "token", side="the source")
        self.redirections, self.sent = redirections, []

    def connect(self, scheme, netloc):
        self.at = f"{scheme}://{netloc}"
        return self

    def request(self, method, path, body, headers):
        self.sent.append((self.at + path, "Authorization" in headers))

    def getresponse(self):
        return Answer(self.redirections.get(self.sent[-1][0]))


TFE, API = "tfe.example.com", "tfe.example.com/api/v2/state"


@pytest.mark.parametrize("url, path, redirections, sent", (
    (f"https://{TFE}", "state", {f"https://{API}": "https://store.example.com/a?signature=1"}, [(f"https://{API}", True), ("https://store.example.com/a?signature=1", False)]),
    (f"https://{TFE}", "state", {f"https://{API}": "/files/a"}, [(f"https://{API}", True), (f"https://{TFE}/files/a", True)]),
    (f"https://{TFE}", f"http://{API}", {}, [(f"https://{API}", True)]),  # the server names itself so, behind a proxy with TLS
    (f"http://{TFE}", "state", {f"http://{API}": "http://store.example.com/a"}, [(f"http://{API}", True), ("http://store.example.com/a", False)]),
    (f"http://{TFE}", "state", {f"http://{API}": f"https://{API}"}, [(f"http://{API}", True), (f"https://{API}", True)]),
    ("https://TFE.example.com", "state", {f"https://{API}": "https://TFE.example.com/files/a"}, [(f"https://{API}", True), ("https://TFE.example.com/files/a", True)]),
))
def test_links_and_redirections_are_followed(url, path, redirections, sent):
    client = Linked(url, redirections)
    client.get(path)
    assert client.sent == sent


@pytest.mark.parametrize("path, redirections", (
    ("state", {f"https://{API}": f"http://{API}"}),
    ("state", {f"https://{API}": "http://store.example.com/a"}),
    (f"http://{TFE}/files/a", {}),
    ("http://store.example.com/a", {}),
))
def test_what_leads_from_https_to_http_is_refused(path, redirections):
    client = Linked(f"https://{TFE}", redirections)
    with pytest.raises(Failure, match=f"the source, https://{TFE}, leads to an address without TLS"):
        client.get(path)
    assert all(address.startswith("https://") for address, _ in client.sent)


@pytest.mark.parametrize("url", ("https://Runyard.Example.com/Sub", "HTTPS://runyard.example.com/Sub/"))
def test_an_address_has_one_spelling(url):
    """The reason of a lock names the server: a repeated command finds its own lock by it."""
    assert Client(url, "token").url == "https://runyard.example.com/Sub"
