# SPDX-License-Identifier: MPL-2.0
"""Modules of an organization's registry: addresses, versions, and the upload of their content."""

import gzip
import hashlib
import io
import tarfile

import pytest

from support.api import Api, tar_gz
from support.documents import document, refused, refused_at
from support.modules import TYPE, VERSION, Modules
from support.people import People
from support.samples import LONG


@pytest.fixture
def modules(org):
    return Modules(org)


def create(modules, **attributes):
    return modules.api.call("POST", modules.base, document(TYPE, attributes))


# ---- modules ----


def test_a_module_is_created_read_and_listed(modules):
    organization = modules.api.organization
    made = modules.create("network")
    assert made["id"].startswith("mod-")
    shown = made["attributes"]
    assert (shown["name"], shown["namespace"], shown["provider"], shown["registry-name"]) == ("network", organization, "null", "private")
    assert (shown["status"], shown["version-statuses"], shown["no-code"]) == ("pending", [], False)
    assert shown["permissions"] == {"can-delete": True, "can-resync": True, "can-retry": True}
    assert made["links"]["self"] == f"/api/v2/organizations/{organization}/registry-modules/private/{organization}/network/null"
    for path in (modules.path("network"), modules.path("NETWORK"), f"registry-modules/{made['id']}", f"registry-modules/show/{organization}/network/null"):
        assert modules.api.get(path).data == made
    assert modules.api.get(modules.base).data == [made]


def test_public_modules_are_pointers_without_versions(modules):
    made = modules.create("vpc", **{"provider": "aws", "registry-name": "public", "namespace": "terraform-aws-modules"})
    assert (made["attributes"]["namespace"], made["attributes"]["status"]) == ("terraform-aws-modules", "setup_complete")
    path = f"{modules.base}/public/terraform-aws-modules/vpc/aws"
    assert modules.api.get(path).data == made
    refused(403, modules.api.post, f"{path}/versions", document(VERSION, {"version": "1.0.0"}))
    refused(404, modules.api.get, f"{modules.base}/private/terraform-aws-modules/vpc/aws")
    modules.api.delete(f"{modules.base}/public/terraform-aws-modules/vpc")
    assert modules.names() == []


def test_addresses_are_checked_and_unique(modules):
    modules.create("network")
    for field, values in (("name", ("", "a b", "-a", "a_", "a/b", "ü", LONG, "x" * 65)), ("provider", ("", "a-b", "AWS", "a b", "x" * 65))):
        for value in values:
            refused_at(create(modules, **{"name": "fine", "provider": "null", field: value}), f"/data/attributes/{field}")
    refused_at(create(modules, name="fine", provider="null", **{"registry-name": "PRIVATE"}), "/data/attributes/registry-name")
    refused_at(create(modules, name="fine", provider="null", namespace="other"), "/data/attributes/namespace")
    refused_at(create(modules, name="fine", provider="null", **{"registry-name": "public"}), "/data/attributes/namespace")
    refused_at(create(modules, name="fine", provider="null", **{"no-code": "yes"}), "/data/attributes/no-code")
    assert "already been taken" in refused_at(create(modules, name="Network", provider="null"), "/data/attributes/name")
    assert create(modules, name="network", provider="aws").status == 201


def test_the_list_is_searched_and_filtered(modules):
    for name, provider in (("network", "aws"), ("network", "azurerm"), ("database", "aws")):
        modules.api.post(modules.base, document(TYPE, {"name": name, "provider": provider}))
    modules.create("vpc", **{"provider": "google", "registry-name": "public", "namespace": "elsewhere"})
    assert modules.names() == ["database", "network", "network", "vpc"]
    assert modules.names(q="NET") == ["network", "network"]
    assert modules.names(q="azure") == ["network"]
    assert modules.names(q="elsewh") == ["vpc"]
    assert modules.names(q=modules.api.organization[:12]) == ["database", "network", "network"]
    assert modules.names(**{"filter[provider]": "aws"}) == ["database", "network"]
    assert modules.names(**{"filter[registry_name]": "public"}) == ["vpc"]
    assert modules.names(**{"filter[organization_name]": "nobody"}) == []
    page = modules.api.get(modules.base, **{"page[size]": 2, "page[number]": 2})
    assert [module["attributes"]["name"] for module in page.data] == ["network", "vpc"] and page.json["meta"]["pagination"]["total-count"] == 4
    beyond = modules.api.get(modules.base, **{"page[number]": 999})
    assert beyond.data == [] and beyond.json["meta"]["pagination"]["total-count"] == 4


# ---- versions ----


def test_a_version_is_ok_once_its_content_is_uploaded(modules):
    modules.create("network")
    made = modules.version("network", "1.2.3", **{"commit-sha": "a" * 40})
    shown = made["attributes"]
    assert (shown["version"], shown["status"], shown["source"], shown["commit-sha"], shown["sha256"]) == ("1.2.3", "pending", "tfe-api", "a" * 40, None)
    assert made["relationships"]["registry-module"]["data"] == {"type": "registry-modules", "id": modules.read("network")["id"]}
    assert modules.read("network")["attributes"]["status"] == "pending"
    archive = tar_gz({"main.tf": 'output "a" {\n  value = 1\n}\n'})
    assert modules.upload(made, archive).status == 200
    shown = modules.read("network", "1.2.3")["attributes"]
    assert (shown["status"], shown["sha256"], shown["size"]) == ("ok", hashlib.sha256(archive).hexdigest(), len(archive))
    module = modules.read("network")["attributes"]
    assert module["status"] == "setup_complete" and module["version-statuses"] == [
        {"version": "1.2.3", "status": "ok", "error": "", "test-run": None, "tests-failed": False, "deprecation": None, "revoked": False, "revocation": None}]


def test_versions_are_semantic_unique_and_ordered(modules):
    modules.create("network")
    for version in ("", "1", "1.2", "v1.2.3", "1.2.3.4", "01.2.3", "1.2.3-", "1.2.3-a..b", "1.2.3-01", "1.2.3+", "1.2.3+a+b", "1.2.x", "1.2.3 ", "1" * 10 + ".0.0", "1.2.3-" + "a" * 60):
        answer = modules.api.call("POST", modules.path("network", "versions"), document(VERSION, {"version": version}))
        refused_at(answer, "/data/attributes/version")
    for version in ("1.10.0", "1.9.0", "2.0.0-beta.2", "2.0.0-beta.11", "2.0.0-alpha+build", "0.0.1"):
        modules.version("network", version)
    refused_at(modules.api.call("POST", modules.path("network", "versions"), document(VERSION, {"version": "1.9.0"})), "/data/attributes/version")
    statuses = modules.read("network")["attributes"]["version-statuses"]
    assert [item["version"] for item in statuses] == ["2.0.0-beta.11", "2.0.0-beta.2", "2.0.0-alpha+build", "1.10.0", "1.9.0", "0.0.1"]


def test_older_paths_create_and_delete_versions(modules):
    api, organization = modules.api, modules.api.organization
    modules.create("network")
    for version in ("1.0.0", "1.1.0"):
        api.post(f"registry-modules/{organization}/network/null/versions", document(VERSION, {"version": version}))
    api.post(f"registry-modules/actions/delete/{organization}/network/null/1.0.0")
    assert [item["version"] for item in modules.read("network")["attributes"]["version-statuses"]] == ["1.1.0"]
    api.post(f"registry-modules/actions/delete/{organization}/network/null")
    refused(404, modules.read, "network")
    modules.create("network")
    modules.create("network", **{"registry-name": "public", "namespace": "other"})
    api.post(f"registry-modules/actions/delete/{organization}/network")
    assert modules.names() == []
    refused(404, api.post, f"registry-modules/actions/delete/{organization}/network")


def test_the_last_version_takes_its_module_along(modules, api_site):
    modules.publish("network", "1.0.0")
    modules.publish("network", "1.1.0")
    modules.api.delete(modules.path("network", "1.0.0"))
    refused(404, modules.read, "network", "1.0.0")
    assert modules.read("network")["attributes"]["status"] == "setup_complete"
    ((blob,),) = api_site.ask("select blob_id from registry_module_versions v join registry_modules m on m.id = v.module_id where m.id = %s", modules.read("network")["id"])
    modules.api.delete(modules.path("network", "1.1.0"))
    refused(404, modules.read, "network")
    # The collector looks at it, or has deleted it already.
    assert api_site.ask("select exists (select 1 from loose_blobs where blob_id = %s) or not exists (select 1 from blobs where id = %s)",
                        blob, blob) == [(True,)]


def test_deleting_leaves_other_providers_and_namespaces(modules):
    modules.create("network")
    modules.api.post(modules.base, document(TYPE, {"name": "network", "provider": "aws"}))
    modules.create("network", **{"registry-name": "public", "namespace": "other"})
    modules.api.delete(modules.path("network"))
    assert modules.names() == ["network", "network"]
    refused(404, modules.api.delete, f"{modules.base}/private/other/network")
    modules.api.delete(f"{modules.base}/private/{modules.api.organization}/network")
    assert [module["attributes"]["registry-name"] for module in modules.api.get(modules.base).data] == ["public"]


# ---- content ----


def test_content_may_be_replaced_until_somebody_may_have_it(modules, api_site):
    modules.create("network")
    made = modules.version("network", "1.0.0")
    assert modules.upload(made, {"main.tf": "# one"}).status == 200
    assert modules.upload(made, {"main.tf": "# two"}).status == 200
    api_site.change("update registry_module_versions set given_at = now() where id = %s", made["id"])
    assert modules.upload(made, {"main.tf": "# two"}).status == 200
    answer = modules.upload(made, {"main.tf": "# three"})
    assert answer.status == 409 and "another version" in answer.errors()
    shown = modules.read("network", "1.0.0")
    assert shown["attributes"]["sha256"] == hashlib.sha256(tar_gz({"main.tf": "# two"})).hexdigest() and shown["links"]["upload"] is None


def archive(*members):
    """Of (name, type, target) without content."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as packed:
        for name, kind, target in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            packed.addfile(info)
    return out.getvalue()


def bomb():
    """A file of 600 MiB of zeros, 600 KiB packed."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as packed:
        info = tarfile.TarInfo("zeros")
        info.size = 600 << 20
        packed.write(info.tobuf())
        for _ in range(600):
            packed.write(bytes(1 << 20))
    return out.getvalue()


HOSTILE = {
    "no archive": lambda: b"nonsense", "nothing": lambda: b"", "a cut archive": lambda: tar_gz({"main.tf": "# " + "x" * 5000})[:-60], "a path that leads out": lambda: tar_gz({"../main.tf": ""}),
    "an absolute path": lambda: tar_gz({"/etc/passwd": ""}), "a link that leads out": lambda: archive(("a", tarfile.SYMTYPE, "../../etc")),
    "a file behind a link": lambda: archive(("a", tarfile.SYMTYPE, "b"), ("a/c", tarfile.REGTYPE, "")), "a device": lambda: archive(("a", tarfile.CHRTYPE, "")),
    "100,000 files": lambda: archive(*((f"f{n}", tarfile.REGTYPE, "") for n in range(100_000))), "a bomb": bomb,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_archives_are_refused_and_another_may_be_uploaded(modules, what):
    modules.create("network")
    made = modules.version("network", "1.0.0")
    answer = modules.upload(made, HOSTILE[what]())
    assert answer.status == 422, answer.text
    shown = modules.read("network", "1.0.0")["attributes"]
    assert shown["status"] == "reg_ingress_failed" and shown["error"] == answer.json["errors"][0]["detail"]
    assert modules.read("network")["attributes"]["version-statuses"][0]["error"] == shown["error"]
    assert modules.upload(made, {"main.tf": ""}).status == 200
    shown = modules.read("network", "1.0.0")["attributes"]
    assert (shown["status"], shown["error"]) == ("ok", None)


def test_a_module_may_have_20_megabytes(modules):
    modules.create("network")
    made = modules.version("network", "1.0.0")
    content = b"".join(hashlib.sha512(str(n).encode()).digest() for n in range((20 << 20) // 64))
    assert modules.upload(made, {"main.tf": "", "data.bin": content}).status == 200
    assert modules.read("network", "1.0.0")["attributes"]["size"] > 20 << 20


def test_the_upload_needs_the_links_signature(modules):
    modules.create("network")
    one, other = modules.version("network", "1.0.0"), modules.version("network", "1.1.0")
    forged = one["links"]["upload"].replace(one["id"], other["id"])
    assert modules.upload({"links": {"upload": forged}}, {"main.tf": ""}).status == 404
    assert modules.read("network", "1.1.0")["attributes"]["status"] == "pending"


# ---- deprecation and revocation ----


def mark(modules, version, **attributes):
    return modules.api.call("PATCH", modules.path("network", version), document("module-versions", attributes))


def test_a_version_is_deprecated_revoked_and_reinstated(modules):
    modules.publish("network", "1.0.0")
    why, link = "It has a defect.", "https://example.com/why"
    refused_at(mark(modules, "1.0.0", revocation={"status": "Revoked"}), "/data/attributes/revocation")
    shown = mark(modules, "1.0.0", deprecation={"deprecated-status": "Deprecated", "reason": why, "link": link}).data["attributes"]
    assert (shown["deprecation"], shown["revocation"]) == ({"reason": why, "link": link}, None)
    (status,) = modules.read("network")["attributes"]["version-statuses"]
    assert status == {"version": "1.0.0", "status": "ok", "error": "", "test-run": None, "tests-failed": False, "deprecation": {"reason": why, "link": link}, "revoked": False, "revocation": None}
    shown = mark(modules, "1.0.0", revocation={"status": "Revoked", "message": why}).data["attributes"]
    assert shown["revocation"] == {"status": "Revoked", "message": why, "link": ""} and shown["deprecation"]["reason"] == why
    assert modules.read("network")["attributes"]["version-statuses"][0]["revoked"]
    refused_at(mark(modules, "1.0.0", deprecation={"deprecated-status": "Undeprecated"}), "/data/attributes/revocation")
    assert mark(modules, "1.0.0", revocation={"status": "Unrevoked"}).data["attributes"]["revocation"] is None
    assert modules.read("network", "1.0.0")["attributes"]["deprecation"]["reason"] == why
    assert mark(modules, "1.0.0", deprecation={"deprecated-status": "Undeprecated"}).data["attributes"]["deprecation"] is None
    assert mark(modules, "2.0.0", deprecation={"deprecated-status": "Deprecated"}).status == 404


def test_marks_are_checked(modules):
    modules.publish("network", "1.0.0")
    place = "/data/attributes/deprecation"
    for value in ("x", 7, [], {}, {"deprecated-status": "deprecated"}):
        refused_at(mark(modules, "1.0.0", deprecation=value), place)
    good = {"deprecated-status": "Deprecated"}
    refused_at(mark(modules, "1.0.0", deprecation={"deprecated-status": 7}), f"{place}/deprecated-status")
    for name, values in (("reason", (7, "x" * 1001)), ("link", ("x" * 1001, []))):
        for value in values:
            refused_at(mark(modules, "1.0.0", deprecation={**good, name: value}), f"{place}/{name}")
    refused_at(mark(modules, "1.0.0", deprecation={**good, "link": "javascript:alert(1)"}), place)
    assert modules.read("network", "1.0.0")["attributes"]["deprecation"] is None


# ---- permissions and the audit trail ----


def test_members_read_and_managers_of_modules_change(org, modules, api_site):
    people = People(org, api_site.database)
    member, manager = people.member("reader", people.team("readers")), people.member("manager", people.team("managers", manage_modules=True))
    modules.publish("network", "1.0.0")
    seen = member.get(modules.path("network")).data
    assert seen["attributes"]["permissions"] == {"can-delete": False, "can-resync": False, "can-retry": False}
    assert member.get(modules.path("network", "version"), module_version="1.0.0").data["links"]["upload"] is None
    refused(404, member.post, modules.base, document(TYPE, {"name": "other", "provider": "null"}))
    refused(404, member.delete, modules.path("network"))
    assert manager.get(modules.path("network")).data["attributes"]["permissions"]["can-delete"]
    made = manager.post(modules.path("network", "versions"), document(VERSION, {"version": "2.0.0"})).data
    assert modules.upload(made, {"main.tf": ""}).status == 200
    manager.delete(modules.path("network"))


def test_changes_are_in_the_audit_trail(modules, api_site):
    modules.publish("network", "1.0.0")
    version, module = modules.read("network", "1.0.0")["id"], modules.read("network")["id"]
    modules.version("network", "2.0.0")
    modules.api.delete(modules.path("network", "2.0.0"))
    modules.api.delete(modules.path("network"))
    events = api_site.ask("select e.action, e.resource_type, e.resource_id from audit_events e join organizations o on o.id = e.organization_id "
                          "where o.name = %s and e.resource_type like 'registry%%' order by e.position", modules.api.organization)
    kinds = [(action, kind) for action, kind, _ in events]
    assert kinds == [("create", "registry_module"), ("create", "registry_module_version"), ("upload", "registry_module_version"), ("create", "registry_module_version"),
                     ("destroy", "registry_module_version"), ("destroy", "registry_module")]
    assert events[0][2] == module and events[2][2] == version and events[5][2] == module


# ---- changes ----


def change(modules, attributes={}, **relations):
    body = document(TYPE, attributes)
    if relations:
        body["data"]["relationships"] = {name.replace("_", "-"): {"data": data} for name, data in relations.items()}
    return modules.api.call("PATCH", modules.path("network"), body)


def tags(modules, api=None):
    return {item["attributes"]["key"]: item["attributes"]["value"] for item in (api or modules.api).get(f"registry-modules/{modules.read('network')['id']}/tag-bindings").data}


def test_a_change_makes_a_module_a_no_code_module_and_ends_it(modules):
    modules.create("network")
    assert not change(modules, {"no-code": False}).data["relationships"]["no-code-modules"]["data"]
    shown = change(modules, {"no-code": True}).data
    (made,) = shown["relationships"]["no-code-modules"]["data"]
    assert shown["attributes"]["no-code"] and change(modules).data["attributes"]["no-code"]
    assert not change(modules, {"no-code": False}).data["attributes"]["no-code"]
    assert modules.api.attributes(f"no-code-modules/{made['id']}")["enabled"] is False
    assert change(modules, {"no-code": True}).data["relationships"]["no-code-modules"]["data"] == [made]
    refused_at(change(modules, {"no-code": "yes"}), "/data/attributes/no-code")


def test_a_change_replaces_the_tags_of_a_module(modules, api_site):
    def bindings(**pairs):
        return [{"type": "tag-bindings", "attributes": {"key": key, "value": value}} for key, value in pairs.items()]

    modules.create("network")
    assert tags(modules) == {}
    assert change(modules, tag_bindings=bindings(env="production", team="a")).status == 200 and tags(modules) == {"env": "production", "team": "a"}
    assert change(modules).status == 200 and tags(modules) == {"env": "production", "team": "a"}
    assert change(modules, tag_bindings=bindings(env="test")).status == 200 and tags(modules) == {"env": "test"}
    refused_at(change(modules, tag_bindings=bindings(**{"hc:env": "x"})), "/data/relationships/tag-bindings")
    refused_at(change(modules, tag_bindings=bindings(**{f"key{number}": "" for number in range(11)})), "/data/relationships/tag-bindings")
    assert tags(modules) == {"env": "test"}
    assert [item["attributes"]["instance-count"] for item in modules.api.get(f"organizations/{modules.api.organization}/tags").data if item["attributes"]["name"] == "env"] == [0]
    consumer, admin = api_site.stranger(), Api(api_site.scheduler.url, api_site.tokens["token"])
    admin.patch(f"admin/organizations/{modules.api.organization}/relationships/module-consumers", {"data": [{"type": "organizations", "id": consumer.organization}]})
    module = modules.read("network")["id"]
    assert consumer.call("GET", f"registry-modules/{module}").status == 200 and consumer.call("GET", f"registry-modules/{module}/tag-bindings").status == 404
    assert change(modules, tag_bindings=[]).status == 200 and tags(modules) == {}
    assert api_site.stranger().call("GET", f"registry-modules/{module}/tag-bindings").status == 404


def test_addresses_are_validated(modules, api_site):
    modules.create("taken-one")

    def valid(name, provider="null", api=modules.api):
        shown = api.get(f"{modules.base}/validation", name=name, provider=provider).data
        assert (shown["attributes"]["module-name"], shown["attributes"]["provider-name"]) == (name, provider)
        return shown["attributes"]["valid"]

    assert valid("free-one") and valid("taken-one", "aws")
    assert not any((valid("taken-one"), valid("TAKEN-one"), valid("-x"), valid("free-one", "AWS"), valid("", "")))
    assert api_site.stranger().call("GET", f"{modules.base}/validation?name=a&provider=b").status == 404
