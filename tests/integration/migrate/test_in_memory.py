# SPDX-License-Identifier: MPL-2.0
"""What a migration does after refusals, kills and changes by others, with two servers in memory."""

import base64
import hashlib
import json
import sys

import pytest

from support.migration import PACKAGE, state_text

sys.path.insert(0, str(PACKAGE))
from runyard_migrate import __main__ as program  # noqa: E402
from runyard_migrate import client, commands, cutover, difference, inventory, journal, kinds  # noqa: E402

KEY, ID = "workspaces/net", "ws-net"
OTHERS = "22222222-2222-3333-4444-555555555555"  # a lineage


def digest(state):
    return hashlib.md5(state).hexdigest()


class Server:
    """A client of a server with one workspace. `refusals` are (method, end of the path, status, text)."""

    def __init__(self, url, states=(), reason=None):
        self.url, self.states, self.reason = url, list(states), reason
        self.exists, self.held, self.configuration, self.digests = True, False, None, True  # held: by another user; digests: of states, in lists
        self.run, self.reasons = False, True  # run: holds the lock; reasons: of locks are told
        self.description = ""
        self.refusals, self.calls, self.before = [], [], lambda method, path: None

    def inventory(self):
        found = inventory.Inventory("acme")
        found.add(inventory.Item(kinds.BY_NAME["organization"], "organization/settings", {"name": "acme", "email": "ops@example.com"}, id="acme"))
        if self.exists:
            facts = {"locked": self.reason is not None, "locked-reason": self.reason or ""}
            found.add(inventory.Item(kinds.BY_NAME["workspaces"], KEY, {"name": "net", "execution-mode": "local", "description": self.description}, id=ID, facts=facts))
            reader = inventory.Reader(self, "acme")
            for resource in self.resources():
                found.add(reader.item(kinds.BY_NAME["state-versions"], resource, found.items[KEY]))
            if self.configuration:
                found.add(inventory.Item(kinds.BY_NAME["configurations"], KEY + "/configurations/current", {}, {}, KEY, self.configuration))
        return found

    def resources(self):
        return [{"id": f"sv-{number}", "type": "state-versions", "attributes": {
            "serial": json.loads(text)["serial"], "lineage": json.loads(text)["lineage"], "hosted-state-download-url": f"states/{number}", **({"md5": digest(text)} if self.digests else {})}}
            for number, text in enumerate(self.states)]

    def call(self, method, path, body=None, to=None, **_):
        self.before(method, path)
        self.calls.append((method, path, (body.get("data") or {}).get("attributes") if isinstance(body, dict) else None))
        for verb, end, status, text in self.refusals:
            if method == verb and path.endswith(end):
                raise (client.Unclear if status >= 500 and method == "POST" else client.Failure)(method, path, status, text)
        return self.answer(method, path, body, to)

    def answer(self, method, path, body, to):
        if path.endswith("/actions/lock"):
            if self.reason is not None:
                raise client.Failure(method, path, 409, "the workspace is already locked")
            self.reason = body["reason"]
        elif path.endswith("/actions/unlock"):
            if self.reason is None or self.held or self.run:
                raise client.Failure(method, path, 409, "the workspace is locked by User alice" if self.held else "the workspace is already unlocked")
            self.reason = None
        elif path.endswith("/workspaces") and method == "POST":
            self.exists = True
            return {"data": {"id": ID, "type": "workspaces", "attributes": {}}}
        elif path.endswith("/state-versions") and method == "POST":
            self.states.append(base64.b64decode(body["data"]["attributes"]["state"]))
        elif path.startswith("states/"):
            to.write(self.states[int(path.partition("/")[2])])
        elif path.startswith("state-versions?"):
            return {"data": self.resources()[::-1]}
        elif path == f"workspaces/{ID}" and method == "GET":
            used = {"data": {"id": self.configuration, "type": "configuration-versions"} if self.configuration else None}
            holder = {"data": {"id": "a", "type": "runs" if self.run else "users"} if self.reason is not None else None}
            return {"data": {"id": ID, "type": "workspaces", "attributes": {"locked": self.reason is not None, **({"locked-reason": self.reason or ""} if self.reasons else {})},
                             "relationships": {"current-configuration-version": used, "locked-by": holder}}}
        elif path.endswith("/configuration-versions"):
            return {"data": {"id": f"cv-{len(self.calls)}", "attributes": {"upload-url": "upload"}}}
        return {"data": {}}

    def get(self, path):
        return self.call("GET", path)

    def list(self, path):
        return []

    def wrote(self):
        return [attributes for method, path, attributes in self.calls if path.endswith("/state-versions") and method == "POST"]


class Moving:
    """Runs commands with one working folder."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        self.source, self.target = Server("https://source.example.com", [state_text(5)]), Server("https://target.example.com")
        self.target.exists = False

    def open(self, command, *arguments, source=None):
        for side in ("SOURCE", "TARGET"):
            self.monkeypatch.setenv(f"RUNYARD_{side}_TOKEN", "token")
        options = program.parser().parse_args([command, "--from", str(source or self.source.url), "--to", self.target.url, "--organization", "acme", "--folder", str(self.folder), "--quiet", *arguments])
        migration = commands.Migration(program.settle(options), "acme", "acme", {})
        migration.client = migration.target.client = self.target
        migration.source.client = self.source
        migration.source.read, migration.target.read, migration.exists = self.source.inventory, self.target.inventory, lambda: True
        return migration

    def run(self, command, *arguments, source=None):
        """The exit status."""
        migration = self.open(command, *arguments, source=source)
        try:
            return getattr(migration, command.replace("-", "_"))()
        finally:
            migration.journal.file.close()

    def note(self, *did, **more):
        """Lines of an earlier command, which may have been killed after them."""
        earlier = journal.Journal(self.folder, "acme")
        for one in did:
            earlier.note(one, KEY, **more)
        earlier.file.close()

    def did(self):
        return [line["did"] for line in map(json.loads, (self.folder / "acme/journal.jsonl").read_text().splitlines()) if line["object"] == KEY]


@pytest.fixture
def moving(tmp_path, monkeypatch):
    return Moving(tmp_path / "work", monkeypatch)


# ---- the working folder ----

def test_a_working_folder_belongs_to_one_move(moving):
    """What was cut over at a test server was not cut over at the next one."""
    assert moving.run("apply") == 0 and moving.run("cut-over", "--all") == 0
    test_server, moving.target = moving.target, Server("https://production.example.com")
    for command in (("plan",), ("apply",), ("cut-over", "--all"), ("verify",)):
        with pytest.raises(journal.Trouble, match="belongs to the move of acme from https://source.example.com to https://target.example.com: name another one with --folder"):
            moving.run(*command)
    moving.source.url, moving.target = "https://other.example.com", test_server
    with pytest.raises(journal.Trouble, match="belongs to the move"):
        moving.run("apply")
    moving.source.url = "https://Source.example.com/"
    assert moving.run("apply") == 0


def test_a_working_folder_of_version_1_0_0_belongs_to_its_next_move(moving):
    moving.note("creating", "created")
    moving.note("wrote state", serial=5, md5=digest(state_text(5)), size=1)
    moving.target.exists, moving.target.states = True, [state_text(5)]
    assert moving.run("apply") == 0 and not moving.target.wrote()
    moving.target.url = "https://production.example.com"
    with pytest.raises(journal.Trouble, match="belongs to the move"):
        moving.run("apply")


def test_a_mistyped_address_does_not_claim_the_working_folder(moving):
    migration = moving.open("apply")
    migration.exists = lambda: moving.target.get("organizations/acme")
    moving.target.refusals = [("GET", "organizations/acme", 401, "refuses the token")]
    with pytest.raises(client.Failure):
        migration.apply()
    migration.journal.file.close()
    moving.target.refusals, moving.target.url = [], "https://right.example.com"
    assert moving.run("apply") == 0


@pytest.mark.parametrize("organization, accepted", [("acme", True), ("other", False)])
def test_an_export_needs_the_name_of_the_organization_alone(moving, tmp_path, organization, accepted):
    """It does not know its server."""
    assert moving.run("apply") == 0
    (tmp_path / "export.json").write_text(json.dumps({"form": 1, "organization": organization}))
    if accepted:
        assert moving.open("plan", source=tmp_path).place["source"] == ""
    else:
        with pytest.raises(journal.Trouble, match="belongs to the move of acme"):
            moving.open("plan", source=tmp_path)


def test_a_folder_of_code_has_a_working_folder_of_its_own(moving, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    migration = moving.open("apply", source=tmp_path / "one")
    migration.journal.belong(migration.place)
    migration.journal.file.close()
    assert migration.place == {"source": str(tmp_path / "one"), "organization": "acme", "target": moving.target.url}
    with pytest.raises(journal.Trouble, match=f"belongs to the move of acme from {tmp_path}/one to"):
        moving.open("plan", source=tmp_path / "two")


def test_an_organization_is_not_moved_onto_itself(moving):
    moving.source.url, moving.target.url = "https://Source.example.com/", "https://source.example.com"
    with pytest.raises(journal.Trouble, match="source and target are the same organization, acme"):
        moving.open("apply")


# ---- workspaces and states of others ----

def refuse(server):
    server.refusals = [("POST", "/workspaces", 422, "Terraform version 9.9 is not available")]


def test_a_refused_creation_does_not_count_as_moved(moving, capsys):
    refuse(moving.target)
    assert moving.run("apply") == 3
    moving.target.refusals, moving.target.exists, moving.target.states = [], True, [state_text(9, OTHERS)]  # a colleague makes it by hand
    moving.target.calls.clear()
    assert moving.run("apply") == 3
    assert f"waits for you: {KEY}: the target has a workspace of this name" in capsys.readouterr().out
    assert not [call for call in moving.target.calls if call[0] != "GET"]


@pytest.mark.parametrize("killed, exists, adopted", [(True, True, True), (True, False, False), (False, True, False)])
def test_a_refusal_after_a_kill_says_nothing_about_a_creation_before_it(moving, monkeypatch, killed, exists, adopted):
    """The earlier command's request may have been carried out after the target was read."""
    if killed:
        moving.note("creating")
    refuse(moving.target)
    monkeypatch.setattr(program.commands.Writer, "look", lambda writer, item: exists)
    moving.run("apply")
    assert (KEY in moving.open("plan").journal.moved) == adopted


def test_a_creation_without_an_answer_counts_as_moved(moving, monkeypatch):
    """The target fails, and can't be read after it."""
    def away(method, path):
        if method == "GET" and path.startswith("organizations/acme/workspaces"):
            raise client.Failure(method, path, 503, "")
    moving.target.before, moving.target.list = away, moving.target.get
    moving.target.refusals = [("POST", "/workspaces", 503, "")]
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    assert moving.run("apply") == 3
    assert set(moving.did()) == {"creating"}


@pytest.mark.parametrize("states, written", [
    ([state_text(9, OTHERS)], []),
    ([state_text(9)], []),
    ([state_text(4)], [5]),  # the source's states follow it
    ([state_text(3), state_text(9, OTHERS)], []),
    ([state_text(5), state_text(9, OTHERS)], []),  # the source's newest one, and another one after it
    ([state_text(5, OTHERS), state_text(9, OTHERS)], []),
    ([state_text(9, OTHERS), state_text(3)], [5]),  # the newest one counts
])
def test_a_state_that_was_not_moved_is_replaced_only_with_adopt(moving, capsys, states, written):
    moving.note("creating", "created")
    moving.target.exists, moving.target.states = True, states
    assert moving.run("apply") == (0 if written else 3)
    assert [one["serial"] for one in moving.target.wrote()] == written and not any(one.get("force") for one in moving.target.wrote())
    assert ("the target has another state, which was not moved: use --adopt to replace it" in capsys.readouterr().out) != bool(written)
    assert written or moving.run("verify") == 3
    assert moving.run("apply", "--adopt") == 0
    assert moving.target.states[-1] == moving.source.states[-1]
    written = moving.target.wrote()
    assert moving.run("apply") == 0 and moving.run("verify") == 0 and moving.target.wrote() == written


def test_a_source_without_digests_gets_its_state_back_only_with_adopt(moving, capsys):
    moving.source.digests = False
    test_a_state_that_was_not_moved_is_replaced_only_with_adopt(moving, capsys, [state_text(5), state_text(9, OTHERS)], [])


@pytest.mark.parametrize("journalled", (True, False))  # it may have been killed before
def test_a_state_that_was_moved_is_replaced(moving, journalled):
    """The source's history got another lineage."""
    moving.note("creating", "created")
    if journalled:
        moving.note("wrote state", serial=5, md5=digest(state_text(5)), size=1)
    moving.target.exists, moving.target.states = True, [state_text(5)]
    moving.source.states = [state_text(6, OTHERS)] if journalled else [state_text(5), state_text(6, OTHERS)]
    assert moving.run("apply") == 0
    assert moving.target.states[-1] == state_text(6, OTHERS) and moving.target.wrote()[0]["force"]


# ---- locks ----

@pytest.fixture
def applied(moving):
    assert moving.run("apply") == 0
    moving.target.calls.clear()
    moving.ours = cutover.REASON + moving.target.url
    return moving


def test_a_lock_of_another_user_at_the_target_is_named(applied, capsys):
    applied.target.held = True
    for _ in range(2):
        assert applied.run("cut-over", "--all") == 3
        assert 'stopped: net: cannot be unlocked at the target: the workspace is locked by User alice ("runyard-migrate: this workspace' in capsys.readouterr().out
    applied.target.held = False
    assert applied.run("cut-over", "--all") == 0
    assert applied.did().count("works") == 1 and applied.target.reason is None


def test_a_lock_of_another_user_at_the_source_is_named(applied, capsys):
    assert applied.run("cut-over", "--all") == 0
    applied.source.held = True
    assert applied.run("roll-back", "--all") == 3
    assert "stopped: net: cannot be unlocked at the source: the workspace is locked by User alice" in capsys.readouterr().out
    assert "unlocked source" not in applied.did()
    applied.source.held = False
    assert applied.run("roll-back", "--all") == 0
    assert applied.source.reason is None and applied.did()[-1] == "unlocked source"


def test_a_stopped_cut_over_that_cannot_unlock_the_source_tells_both(applied, capsys):
    applied.source.states.append(state_text(6))
    applied.target.refusals = [("POST", "/state-versions", 422, "is too large")]
    applied.source.held = True
    assert applied.run("cut-over", "--all") == 3
    out = capsys.readouterr().out
    assert "422 is too large; cannot be unlocked at the source: " in out
    applied.source.held, applied.target.refusals = False, []
    assert applied.run("cut-over", "--all") == 0


def test_an_unlock_whose_answer_was_lost_is_no_failure(applied):
    applied.note("locking source", "locked source", "cut over")
    applied.source.reason, applied.target.reason = applied.ours, None
    assert applied.run("cut-over", "--all") == 0
    assert applied.did()[-1] == "works"


@pytest.mark.parametrize("earlier", (("locking source", "locked source"), ("locking source",), ()))
def test_a_lock_call_without_an_answer_may_have_locked(applied, earlier):
    applied.note(*earlier)
    applied.source.refusals = [("POST", "/actions/lock", 503, "")]
    applied.source.before = lambda method, path: path.endswith("/lock") and setattr(applied.source, "reason", applied.ours)  # carried out all the same
    assert applied.run("cut-over", "--all") == 3
    assert "unlocked source" not in applied.did()
    applied.source.refusals, applied.source.before = [], lambda method, path: None
    assert applied.run("cut-over", "--all") == 0 and applied.run("roll-back", "--all") == 0
    assert applied.source.reason is None


def test_a_lock_whose_answer_was_lost_is_ours(applied):
    """The client repeats the request, and the second answer is 409."""
    applied.source.before = lambda method, path: path.endswith("/lock") and setattr(applied.source, "reason", applied.ours)
    assert applied.run("cut-over", "--all") == 0


@pytest.mark.parametrize("earlier", (("locking source",), ()))
def test_a_source_that_somebody_locked_is_not_cut_over(applied, capsys, earlier):
    """Also if the program was killed before its own request."""
    applied.note(*earlier)
    applied.source.reason = "maintenance"
    assert applied.run("cut-over", "--all") == 3
    assert 'cannot be locked at the source: the workspace is already locked ("maintenance"): unlock it there, and repeat' in capsys.readouterr().out
    assert applied.source.reason == "maintenance" and applied.did()[-1] == "unlocked source" and applied.target.reason


OURS = cutover.REASON + "https://target.example.com"


@pytest.mark.parametrize("reason, run, reasons, accepted", [
    (OURS, False, True, True),
    (OURS, False, False, True),  # a server that tells no reasons
    ("", True, True, False),
    ("", True, False, False),
    ("", False, True, False),  # a person's, who gave no reason: ours has one
])
def test_a_source_that_was_locked_before_a_kill_may_have_another_lock(applied, capsys, reason, run, reasons, accepted):
    """Somebody has unlocked it since. The run can still be applied there."""
    applied.note("locking source", "locked source")
    applied.source.reason, applied.source.run, applied.source.reasons = reason, run, reasons
    assert applied.run("cut-over", "--all") == (0 if accepted else 3)
    assert ("cut over" in applied.did()) == accepted and (applied.target.reason is None) == accepted
    if not accepted:
        hint = " by a run: let the run end, and repeat" if run else ": unlock it there, and repeat"
        assert "stopped: net: cannot be locked at the source: the workspace is already locked" + hint in capsys.readouterr().out
        assert applied.did()[-1] == "unlocked source"


def test_a_run_at_the_target_shows_that_it_was_unlocked(applied):
    """The program was killed after it had unlocked it."""
    applied.note("locking source", "locked source", "cut over")
    applied.source.reason, applied.target.reason, applied.target.run = applied.ours, "", True
    assert applied.run("cut-over", "--all") == 0
    assert applied.did()[-1] == "works" and applied.target.run


def test_a_run_at_the_source_shows_that_it_was_unlocked(applied):
    applied.note("locking source", "locked source", "cut over", "works", "rolled back")
    applied.source.reason, applied.source.run = "", True
    assert applied.run("roll-back", "--all") == 0
    assert applied.did()[-1] == "unlocked source" and applied.source.run


# ---- several workspaces at once ----

def test_an_inventory_may_change_while_it_is_looked_through(moving):
    """Threads of other workspaces add and remove objects."""
    found = moving.source.inventory()

    class Watched(inventory.Item):
        def __getattribute__(self, name):
            if name in ("kind", "owner", "key"):
                key = f"{KEY}/vars/env/{len(found.items)}"
                found.items[key] = inventory.Item(kinds.BY_NAME["vars"], key, {}, {}, KEY)
            return super().__getattribute__(name)
    found.add(Watched(kinds.BY_NAME["run-triggers"], KEY + "/run-triggers/other", {}, {}, KEY))
    compared = difference.Comparison(found, found)
    assert compared.changes() and not compared.extra() and found.owned(KEY, "state-versions") and not difference.secrets_of(found)


def test_states_are_read_again_before_the_inventory_changes(moving):
    server, seen = moving.source, []
    found, reader = server.inventory(), inventory.Reader(server, "acme")
    server.states.append(state_text(6))
    server.before = lambda method, path: seen.append(len(found.of("state-versions")))
    server.refusals = [("GET", f"workspaces/{ID}", 503, "")]
    with pytest.raises(client.Failure):
        reader.refresh(found.items[KEY], found)
    server.refusals = []
    reader.refresh(found.items[KEY], found)
    assert set(seen) == {1} and len(found.of("state-versions")) == 2


def test_an_unexpected_error_stops_one_workspace(applied, monkeypatch, capsys):
    def plan(*_):
        raise RuntimeError("out of luck")
    monkeypatch.setattr(cutover.CutOver, "plan", plan)
    assert applied.run("cut-over", "--all") == 3
    assert "stopped: net: unexpected RuntimeError: out of luck" in capsys.readouterr().out
    assert applied.source.reason is None and applied.did()[-1] == "unlocked source"


# ---- roll-back ----

def test_a_state_that_comes_before_the_roll_back_locks_the_target_is_seen(applied, capsys):
    """A command with local execution ends there after both sides were read."""
    assert applied.run("cut-over", "--all") == 0
    applied.target.before = lambda method, path: path.endswith("/lock") and applied.target.states.append(state_text(6))
    assert applied.run("roll-back", "--all") == 3
    assert "stopped: net: the target has a newer state" in capsys.readouterr().out
    assert applied.target.reason is None and applied.source.reason == applied.ours and "rolled back" not in applied.did()


@pytest.mark.parametrize("digests", (True, False))
@pytest.mark.parametrize("theirs", (state_text(5), state_text(5, word="another")))
def test_a_state_that_the_journal_does_not_know_is_compared_with_the_source(moving, digests, theirs):
    """It was adopted, or the program was killed after the state was written."""
    moving.note("adopted", "locking source", "locked source", "cut over", "works")
    moving.target.exists, moving.target.states = True, [theirs]
    moving.source.reason, moving.source.digests = cutover.REASON + moving.target.url, digests
    equal = theirs == state_text(5)
    assert moving.run("roll-back", "--all") == (0 if equal else 3)
    assert (moving.source.reason is None) == equal and (moving.target.reason is None) != equal


@pytest.mark.parametrize("did, waits, stays", [
    (("cut over", "rolled back"), True, True),
    (("cut over",), True, True),  # its settings could not be written, so both sides are locked
    (("cut over",), False, False),  # a notification could not be switched on
    (("cut over", "works"), False, False),
    (("cut over", "works"), True, False),  # an earlier roll-back was killed
])
def test_a_target_that_waits_stays_locked_if_its_state_cannot_be_read(applied, did, waits, stays):
    applied.note("locking source", "locked source", *did)
    applied.source.reason = applied.ours
    if not waits:
        applied.target.reason = None
    applied.target.before = lambda method, path: path.endswith("/lock") and applied.target.refusals.append(("GET", "5Bstatus%5D=finalized&page%5Bnumber%5D=1&page%5Bsize%5D=6", 503, ""))
    assert applied.run("roll-back", "--all") == 3
    assert (applied.target.reason is not None) == stays
    applied.target.refusals, applied.target.before = [], lambda method, path: None
    assert applied.run("roll-back", "--all") == 0
    assert applied.target.reason and applied.source.reason is None


def test_a_roll_back_of_a_move_from_an_export_is_repeated(applied, tmp_path, capsys):
    """The source has no lock that tells of it."""
    (tmp_path / "export.json").write_text(json.dumps({"form": 1, "organization": "acme"}))
    assert applied.run("cut-over", "--all", source=tmp_path) == 0
    applied.source.description, applied.target.refusals = "changed", [("PATCH", ID, 503, "")]
    for _ in range(2):
        assert applied.run("roll-back", "--all", source=tmp_path) == 3
        assert f"stopped: net: repeat the roll-back: {KEY}: PATCH workspaces/{ID}: 503" in capsys.readouterr().out
    applied.target.refusals = []
    assert applied.run("roll-back", "--all", source=tmp_path) == 0
    assert applied.target.reason and applied.did()[-1] == "switched off"
    assert applied.run("roll-back", "--all", source=tmp_path) == 3
    assert "stopped: net: was not cut over" in capsys.readouterr().out


# ---- configurations ----

def test_a_configuration_that_is_current_again_is_uploaded_again(moving, capsys):
    """The plan of the cut-over is of the one that was uploaded last, and so are later runs at the target."""
    key = KEY + "/configurations/current"
    for configuration in ("cv-a", "cv-b", "cv-a", "cv-a"):
        moving.source.configuration = configuration
        assert moving.run("apply") == 0
    uploads = [line for line in map(json.loads, (moving.folder / "acme/journal.jsonl").read_text().splitlines()) if line["object"] == key]
    assert [line["did"] for line in uploads] == ["uploaded cv-a", "uploaded cv-b", "uploaded cv-a"] and len({line["id"] for line in uploads}) == 3
    assert moving.run("verify") == 0
    moving.source.configuration = "cv-b"
    assert moving.run("verify") == 3
    assert f"{key}: is missing at the target" in capsys.readouterr().out
    migration = moving.open("plan")
    migration.plan()
    assert ("create", key) in [(row["action"], row["object"]) for row in json.loads((moving.folder / "acme/plan.json").read_text())["changes"]]
