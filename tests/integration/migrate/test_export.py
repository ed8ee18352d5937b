# SPDX-License-Identifier: MPL-2.0
"""An organization as files, and back."""

import hashlib
import io
import json
import sys

import pytest

from support.migration import PACKAGE, connect, states_of

sys.path.insert(0, str(PACKAGE))
from runyard_migrate import files  # noqa: E402
from runyard_migrate.client import Failure  # noqa: E402
from runyard_migrate.files import FileSource, export, is_export  # noqa: E402
from runyard_migrate.inventory import Inventory, Item  # noqa: E402
from runyard_migrate.journal import Trouble  # noqa: E402
from runyard_migrate.kinds import BY_NAME  # noqa: E402


def test_an_export_is_imported_into_an_empty_site_and_is_equal(migrate, there, tmp_path):
    migrate.run("export")
    folder = migrate.folder / migrate.source.organization
    assert (folder / "contents/workspaces/network/state-versions/7.tfstate").read_bytes() == states_of(migrate.source, "network")[-1]
    assert not any(path.stat().st_mode & 0o077 for path in folder.rglob("*"))
    assert "the source's password" not in "".join(path.read_text(errors="replace") for path in folder.rglob("*.json"))
    export = str(folder)
    migrate.run("plan", source=export)
    secrets = migrate.fill_secrets()
    migrate.run("import", "--secrets", secrets, source=export, status=3)
    connect(there)
    assert "nothing to do" in migrate.run("import", "--secrets", secrets, source=export)
    assert " 0 differ, 0 wait" in migrate.run("verify", source=export)
    assert " 0 differ, 0 wait" in migrate.run("verify")
    assert states_of(there, "network") == states_of(migrate.source, "network")


def test_an_export_is_not_written_over_another_one(migrate):
    migrate.run("export")
    folder = migrate.folder / migrate.source.organization
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    migrate.source.workspace("new")
    migrate.run("export", status=1)
    assert f"{folder} has an export, which is not changed: name another folder with --folder" in migrate.done.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.extended
def test_the_exports_of_both_sides_are_equal(migrate, there):
    """Apart from ids, what the target exports is what the source exports."""
    connect_first = migrate.run("plan") and migrate.fill_secrets()
    migrate.run("apply", "--secrets", connect_first, status=3)
    connect(there)
    migrate.run("export")
    back = type(migrate)(migrate.folder.parent / "back", there, migrate.source)
    back.run("export")
    sides = [{path.name: {one["key"] for one in json.loads(path.read_text())} for path in (one.folder / one.source.organization / "objects").glob("*.json")} for one in (migrate, back)]
    deferred = {"tasks.json", "workspace-tasks.json", "run-triggers.json", "schedules.json"}
    revoked = "registry-modules/private/{org}/vpc/null/registry-module-versions/0.8.0"  # nobody can read its files
    assert {name: keys - {revoked} for name, keys in sides[0].items() if name not in deferred} == sides[1]


class Source:
    """An organization without a server: a workspace with states, a configuration and a team's access. `fetched` are the keys of the contents that were read."""

    def __init__(self, configuration, *states, team=True, interrupted_at=None):
        self.inventory, self.contents, self.fetched, self.interrupted_at = Inventory("acme"), {}, [], interrupted_at
        workspace = self.add("workspaces", "workspaces/net", None, "ws-1", {"name": "net"})
        if team:
            self.add("team-workspaces", "workspaces/net/team-workspaces/dev", workspace, "tws-1", {"access": "write"})
        for serial, text in enumerate(states):
            key = f"workspaces/net/state-versions/{serial}"
            self.contents[key] = text
            self.add("state-versions", key, workspace, f"sv-{text}", {"serial": serial}, md5=hashlib.md5(text.encode()).hexdigest())
        key = "workspaces/net/configurations/current"
        self.contents[key] = configuration
        self.add("configurations", key, workspace, f"cv-{configuration}", {})

    def add(self, kind, key, owner, id, attributes, **facts):
        self.inventory.add(Item(BY_NAME[kind], key, attributes, {}, owner, id, facts=facts))
        return key

    def fetch(self, item, file):
        if item.key == self.interrupted_at:
            raise KeyboardInterrupt
        self.fetched.append(item.key.rpartition("/")[2])
        file.write(self.contents[item.key].encode())

    def export(self, folder):
        return export(self, self.inventory, folder, 1, lambda text: None)


def read_back(folder):
    """{the last part of its key: content} of an export, or None for an object without one."""
    source = FileSource(folder, "acme")

    def content(item):
        file = io.BytesIO()
        source.fetch(item, file)
        return file.getvalue().decode()
    return {item.key.rpartition("/")[2]: content(item) if item.kind.content else None for item in source.read().items.values()}


def test_an_export_that_was_interrupted_goes_on_with_what_the_source_has_now(tmp_path):
    last = "workspaces/net/configurations/current"
    with pytest.raises(KeyboardInterrupt):
        Source("old", "a", "b", interrupted_at=last).export(tmp_path)
    assert not is_export(tmp_path)
    with pytest.raises(KeyboardInterrupt):  # the state 1 is another one now, but keeps its name
        Source("old", "a", "other", interrupted_at="workspaces/net/state-versions/1").export(tmp_path)
    third = Source("new", "a", "other", team=False)
    assert third.export(tmp_path) == [] and third.fetched == ["1", "current"]
    assert is_export(tmp_path) and read_back(tmp_path) == {"net": None, "0": "a", "1": "other", "current": "new"}


def test_an_export_that_was_killed_while_it_wrote_its_objects_reads_them_again(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        Source("code", "a", interrupted_at="workspaces/net/configurations/current").export(tmp_path)
    objects = tmp_path / "objects/state-versions.json"
    objects.write_bytes(objects.read_bytes()[:20])
    again = Source("code", "a")
    again.export(tmp_path)
    assert again.fetched == ["0", "current"] and read_back(tmp_path)["0"] == "a"


def test_a_state_that_is_not_the_exported_one_is_refused(tmp_path):
    Source("code", "a").export(tmp_path)
    (tmp_path / "contents/workspaces/net/state-versions/0.tfstate").write_text("b")
    with pytest.raises(Failure, match="0.tfstate is not what the source had: export again, into a new folder"):
        read_back(tmp_path)


def test_an_export_keeps_no_contents_of_objects_that_disappeared(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        Source("code", "a", "b", interrupted_at="workspaces/net/configurations/current").export(tmp_path)
    Source("code", "a").export(tmp_path)
    assert {path.name for path in tmp_path.rglob("*.tfstate")} == {"0.tfstate"} and read_back(tmp_path)["0"] == "a"


def test_two_exports_do_not_write_into_one_folder(tmp_path, monkeypatch):
    first, fetch = Source("code", "a"), Source.fetch

    def fetch_and_export(source, item, file):
        if source is first:
            with pytest.raises(Trouble, match=f"another runyard-migrate uses {tmp_path}"):
                Source("other", "b").export(tmp_path)
        fetch(source, item, file)
    monkeypatch.setattr(Source, "fetch", fetch_and_export)
    first.export(tmp_path)
    assert read_back(tmp_path) == {"net": None, "dev": None, "0": "a", "current": "code"}
    with pytest.raises(Trouble, match=f"another runyard-migrate has written an export into {tmp_path}"):  # since this one has looked for it
        Source("other", "b").export(tmp_path)
    assert read_back(tmp_path)["0"] == "a"


def test_an_export_that_was_killed_while_it_wrote_its_last_file_goes_on(tmp_path, monkeypatch):
    dump = json.dump

    def dump_partly(document, file, **form):
        if "form" in document:
            file.write('{"form": 1, "organization": "acme", "and": "more')
            file.flush()
            raise KeyboardInterrupt
        dump(document, file, **form)
    monkeypatch.setattr(json, "dump", dump_partly)
    with pytest.raises(KeyboardInterrupt):
        Source("code", "a").export(tmp_path)
    monkeypatch.undo()
    again = Source("code", "a")
    assert not is_export(tmp_path) and again.export(tmp_path) == [] and again.fetched == []
    assert read_back(tmp_path)["0"] == "a" and not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("damaged", ("export.json", "objects/workspaces.json"))
def test_a_damaged_file_of_an_export_is_named(tmp_path, damaged):
    Source("code", "a").export(tmp_path)
    (tmp_path / damaged).write_text("")
    with pytest.raises(Trouble, match=f"{damaged} is damaged: export again, into a new folder"):
        read_back(tmp_path)


def test_an_export_tells_why_a_file_cannot_be_written(tmp_path, monkeypatch):
    usual = files.os.open

    def full(path, *more):
        if str(path).endswith(".tfstate.part"):
            raise OSError(28, "No space left on device")
        return usual(path, *more)
    monkeypatch.setattr(files.os, "open", full)
    (wrong,) = Source("code", "a").export(tmp_path)
    assert wrong == {"object": "workspaces/net/state-versions/0", "why": "[Errno 28] No space left on device"}
