# SPDX-License-Identifier: MPL-2.0
"""An organization as files, and back."""

import json

import pytest

from support.migration import connect, states_of


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
