# SPDX-License-Identifier: MPL-2.0
"""Providers of the private registry, their keys, and what the registry curates."""

import json
import os
import signal

import pytest

from support.api import Api
from support.documents import document
from support.migration import connect
from support.providers import Providers, file_name, sha, shasums, zip_of
from support.wait import until

LINUX, ARM = "linux_amd64", "linux_arm64"
VERSION = "registry-providers/private/{org}/%s/registry-provider-versions/%s"


@pytest.fixture
def theirs(there, moved):
    """The registry of the target."""
    there.post("organizations", document("organizations", {"name": there.organization, "email": "admin@example.com"}))
    return Providers(connect(there), moved.providers.key)


def applied(migrate, status=0):
    migrate.run("plan")
    return migrate.run("apply", "--secrets", migrate.fill_secrets(), status=status)


def waiting(migrate):
    return {row["object"]: row["why"] for row in migrate.plan_rows() if row["action"] == "waits for you"}


def test_engines_get_the_same_provider_at_the_target(migrate, moved, theirs):
    applied(migrate)
    assert theirs.served("cloud") == {"1.0.0": [LINUX, ARM]}
    nobody = Api(theirs.api.url, None)
    mine, package = (one.ask("cloud", "1.0.0", "download", "linux", "arm64").json for one in (moved.providers, theirs))
    assert package["shasum"] == sha(moved.archives[ARM]) and package["signing_keys"] == mine["signing_keys"]
    assert nobody.call("GET", package["download_url"]).body == moved.archives[ARM]
    for name in ("shasums_url", "shasums_signature_url"):
        assert nobody.call("GET", package[name]).body == nobody.call("GET", mine[name]).body
    base = f"organizations/{theirs.api.organization}"
    pointers = [theirs.api.get(f"{base}/registry-{path}").data["attributes"]["registry-name"] for path in ("providers/public/hashicorp/aws", "modules/public/hashicorp/consul/aws")]
    assert pointers == ["public", "public"]
    assert theirs.api.get(f"{base}/registry-modules/private/{theirs.api.organization}/vpc/null").data["attributes"]["no-code"] is True
    module = theirs.api.get(f"{base}/registry-modules/private/{theirs.api.organization}/vpc/null").data
    statuses = {one["version"]: (one["deprecation"] or {}).get("reason") for one in module["attributes"]["version-statuses"]}
    assert statuses == {"1.1.0": None, "1.0.0": None, "0.9.0": "It is old."}  # nobody can read the files of a revoked version
    for path in (f"registry-modules/{module['id']}", f"registry-providers/{theirs.read('cloud')['id']}"):
        bindings = theirs.api.get(f"{path}/tag-bindings").data
        assert sorted(one["attributes"]["key"] for one in bindings) == ["owner", "tier"]
    (provider_set,) = theirs.api.get(f"{base}/provider-sets").data
    assert provider_set["attributes"]["configuration-hcl"] == 'provider "aws" {}\n' and len(provider_set["relationships"]["projects"]["data"]) == 1
    done = [json.loads(line) for line in (migrate.work / "journal.jsonl").read_text().splitlines()]
    assert VERSION % ("cloud", "1.0.0") in [line["object"] for line in done if line["did"] == "created"]
    assert "nothing to do" in migrate.run("apply", "--secrets", migrate.work / "secrets.json")
    out = migrate.run("verify")
    assert "and 6 files of the registry byte by byte: 0 differ" in out


@pytest.mark.extended
def test_marks_and_tags_that_change_at_the_source_change_at_the_target(migrate, moved, theirs):
    applied(migrate)
    source, name = migrate.source, "registry-modules/private/%s/vpc/null"
    mine, their = (f"organizations/{one.organization}/" + name % one.organization for one in (source, theirs.api))
    tags = {"tag-bindings": {"data": [{"type": "tag-bindings", "attributes": {"key": "tier", "value": "y"}}, {"type": "tag-bindings", "attributes": {"key": "owner", "value": "x"}}]}}
    source.patch(mine, {"data": {"type": "registry-modules", "attributes": {}, "relationships": tags}})
    source.patch(f"{mine}/0.9.0", document("registry-module-versions", {"revocation": {"status": "Revoked", "message": "It leaks."}}))
    assert "update: 1 module-tags" in migrate.run("apply", "--secrets", migrate.work / "secrets.json")
    module = theirs.api.get(their).data
    assert {one["version"]: one["revoked"] for one in module["attributes"]["version-statuses"]} == {"1.1.0": False, "1.0.0": False, "0.9.0": True}
    bindings = theirs.api.get(f"registry-modules/{module['id']}/tag-bindings").data
    assert {one["attributes"]["key"]: one["attributes"]["value"] for one in bindings} == {"tier": "y", "owner": "x"}
    assert " 0 differ, 0 wait" in migrate.run("verify")


@pytest.mark.extended
def test_an_apply_that_is_killed_in_an_upload_goes_on(migrate, moved, theirs):
    """The archive takes long enough that the program is in its upload when the platform is listed."""
    large = zip_of({"terraform-provider-large_v1.0.0": os.urandom(48 << 20)})
    moved.providers.publish("large", "1.0.0", {LINUX: large})
    path = theirs.path("large", "versions", "1.0.0", "platforms")
    migrate.run("plan")
    running = migrate.start("apply", "--secrets", migrate.fill_secrets())

    def platforms():
        answer = theirs.api.call("GET", path)
        return answer.status == 200 and answer.data
    until(lambda: running.poll() is not None or platforms(), "the platform is there")
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert platforms()[0]["attributes"]["provider-binary-uploaded"] is False
    assert "is missing at the target" in migrate.run("verify", status=3)
    migrate.run("apply", "--secrets", migrate.work / "secrets.json")
    assert theirs.served("large") == {"1.0.0": [LINUX]} and platforms()[0]["attributes"]["shasum"] == sha(large)
    assert " 0 differ, 0 wait" in migrate.run("verify")


@pytest.mark.extended
def test_a_version_that_an_interrupted_apply_created_is_completed(migrate, moved, theirs):
    """Each step that leaves something behind: the version alone, with its checksums, and a platform."""
    sums = {}
    for name in ("bare", "summed", "placed"):
        archive = zip_of({f"terraform-provider-{name}_v1.0.0": name.encode()})
        moved.providers.publish(name, "1.0.0", {LINUX: archive})
        sums[name] = shasums({file_name(name, "1.0.0", LINUX): archive}), archive
    theirs.add_key()
    for name, (text, archive) in sums.items():
        theirs.create(name)
        made = theirs.version(name, "1.0.0")
        if name != "bare":
            assert theirs.put(made, "shasums-upload", text).status == 200
        if name == "placed":
            theirs.platform(name, "1.0.0", LINUX, file_name(name, "1.0.0", LINUX), sha(archive))
    applied(migrate)
    assert [theirs.served(name) for name in sums] == [{"1.0.0": [LINUX]}] * 3
    assert " 0 differ, 0 wait" in migrate.run("verify")


def test_what_the_source_has_not_whole_is_on_the_checklist(migrate, moved, theirs):
    """A platform without an archive, a version without a signature, a module's version without content."""
    mine, archive = moved.providers, zip_of({"terraform-provider-part_v1.0.0": b"part"})
    mine.publish("part", "1.0.0", {LINUX: archive})
    mine.create("empty")
    mine.version("empty", "2.0.0")
    sums = shasums({file_name("late", "1.0.0", ARM): archive})
    mine.create("late")
    made = mine.version("late", "1.0.0")
    for link, content in (("shasums-upload", sums), ("shasums-sig-upload", mine.key.sign(sums))):
        assert mine.put(made, link, content).status == 200
    mine.platform("late", "1.0.0", ARM, file_name("late", "1.0.0", ARM), sha(archive))
    module = f"organizations/{migrate.source.organization}/registry-modules/private/{migrate.source.organization}/vpc/null/versions"
    migrate.source.post(module, {"data": {"type": "registry-module-versions", "attributes": {"version": "9.0.0"}}})
    applied(migrate)
    missing = [VERSION % ("empty", "2.0.0"), VERSION % ("late", "1.0.0") + "/registry-provider-platforms/linux_arm64",
               "registry-modules/private/{org}/vpc/null/registry-module-versions/9.0.0"]
    lines = [line for line in (migrate.work / "checklist.md").read_text().splitlines() if "publish it at the target" in line]
    assert sorted(line.split("`")[1] for line in lines) == sorted(missing)
    assert theirs.served("part") == {"1.0.0": [LINUX]} and theirs.api.call("GET", theirs.path("empty", "versions", "2.0.0")).status == 404
    assert " 0 differ, 0 wait" in migrate.run("verify")
    out = migrate.run("export")
    assert [line for line in out.splitlines() if line.startswith("not in the export")] == [
        f"not in the export: {key}: publish it at the target: its files were never uploaded to the source" for key in sorted(missing)]


@pytest.mark.extended
def test_another_archive_at_the_target_is_not_replaced(migrate, moved, theirs):
    other = zip_of({"terraform-provider-cloud_v1.0.0": b"of others"})
    theirs.publish("cloud", "1.0.0", {LINUX: other})
    out = applied(migrate, status=3)
    key = VERSION % ("cloud", "1.0.0")
    assert "the target has it with another shasum, which cannot be changed: delete it there" in waiting(migrate)[key + "/registry-provider-platforms/linux_amd64"]
    assert f"{key}/registry-provider-platforms/linux_arm64" in out and "sha256sums" in out.lower(), out  # its checksums do not name it
    assert theirs.read("cloud", "versions", "1.0.0", "platforms", "linux", "amd64")["attributes"]["shasum"] == sha(other)
    out = migrate.run("verify", status=3)
    assert f"{key}: has another content" in out and f"{key}/registry-provider-platforms/linux_amd64: has another content" in out


@pytest.mark.extended
def test_a_version_of_a_key_that_the_source_no_longer_has_waits(migrate, moved, theirs):
    """HCP lets keys of versions be deleted. An export without its keys stands for such a source."""
    migrate.run("export")
    folder = migrate.folder / migrate.source.organization
    (folder / "objects/gpg-keys.json").write_text("[]")
    migrate.run("plan", source=str(folder))
    key = moved.providers.key
    assert waiting(migrate) == {VERSION % ("cloud", "1.0.0"): f"the source has no GPG key {key.key_id}: add it at the target"}
    migrate.run("import", "--secrets", migrate.fill_secrets(), source=str(folder), status=3)
    theirs.add_key()
    migrate.run("import", "--secrets", migrate.work / "secrets.json", source=str(folder))
    assert theirs.served("cloud") == {"1.0.0": [LINUX, ARM]}


def test_a_changed_archive_of_an_export_is_refused(migrate, moved, theirs):
    migrate.run("export")
    folder = migrate.folder / migrate.source.organization
    (archive,) = folder.glob("contents/registry-providers/**/linux_amd64.zip")
    archive.write_bytes(moved.archives[ARM])
    migrate.run("plan", source=str(folder))
    out = migrate.run("import", "--secrets", migrate.fill_secrets(), source=str(folder), status=3)
    assert f"failed: {VERSION % ('cloud', '1.0.0')}/registry-provider-platforms/linux_amd64" in out and sha(moved.archives[LINUX]) in out
    assert theirs.served("cloud") == {"1.0.0": [ARM]}
