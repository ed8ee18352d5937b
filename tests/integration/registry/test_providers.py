# SPDX-License-Identifier: MPL-2.0
"""Private providers and their keys: the API, what is verified at upload, and the provider registry protocol."""

import time
import urllib.parse

import pytest

from support.api import Api
from support.documents import document
from support.modules import Modules
from support.openpgp import Signer, signer
from support.people import People
from support.providers import KEY, PLATFORM, TYPE, VERSION, Providers, file_name, sha, shasums, zip_of
from support.wait import until

LINUX, ARM = "linux_amd64", "linux_arm64"


@pytest.fixture
def providers(org):
    return Providers(org)


@pytest.fixture
def archive():
    return zip_of({"terraform-provider-time_v1.0.0": b"the provider"})


@pytest.fixture
def temporary_signer():
    made = []

    def make(*arguments, **options):
        made.append(Signer(*arguments, **options))
        return made[-1]

    yield make
    for one in made:
        one.remove()


# ---- keys ----


def test_a_key_is_added_read_listed_and_deleted(org, providers):
    key = providers.key
    made = providers.add_key().data["attributes"]
    assert (made["key-id"], made["fingerprint"], made["namespace"], made["ascii-armor"]) == (key.key_id, key.fingerprint, org.organization, key.armor)
    assert providers.add_key().status == 422
    path = providers.keys(org.organization, key.key_id)
    assert org.call("GET", path).data["attributes"] == made
    assert org.call("GET", providers.keys(org.organization, key.key_id.lower())).data["attributes"] == made
    listed = org.call("GET", f"{providers.keys()}?filter%5Bnamespace%5D={org.organization}")
    assert [item["attributes"]["key-id"] for item in listed.data] == [key.key_id]
    assert org.call("GET", providers.keys()).status == 400
    assert org.call("DELETE", path).status == 204
    assert org.call("GET", path).status == 404


def test_a_key_must_be_one_valid_public_key_in_armor(providers, temporary_signer):
    one, revoked = temporary_signer("one"), temporary_signer("revoked")
    revoked.revoke()
    expired = temporary_signer("expired", expires="seconds=1")
    until(lambda: "[expired:" in expired.gpg("--list-keys").decode(), "the key expires")
    for armor, why in ((one.secret_armor, "private key"), (revoked.armor, "revoked"), (expired.armor, "expired"), (one.armor + providers.key.armor, "more than one key"),
                       ("nonsense", "ASCII armor"), ("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----\n", "OpenPGP key"),
                       (one.sign(b"x", "--armor").decode(), ""), ("x" * 70_000, "too long")):
        answer = providers.add_key(armor)
        assert answer.status == 422 and why in answer.errors(), answer.text
    assert providers.add_key(one.armor).status == 201


def test_a_key_moves_to_another_organization_of_the_user_only(api_site):
    org, foreign = api_site.stranger(), api_site.stranger()
    providers = Providers(org)
    providers.add_key()
    path = providers.keys(org.organization, providers.key.key_id)
    for name in (foreign.organization, "nobody"):
        refused = org.call("PATCH", path, document(KEY, {"namespace": name}))
        assert refused.status == 403 and "namespace not authorized" in refused.errors()
        refused = providers.add_key(namespace=name)
        assert refused.status == 403 and "namespace not authorized" in refused.errors()
        assert org.call("GET", providers.keys(name, providers.key.key_id)).status == 404
        assert org.call("GET", f"{providers.keys()}?filter%5Bnamespace%5D={name}").status == 404
    assert org.call("PATCH", path, document(KEY, {"namespace": org.organization})).status == 200


# ---- providers, versions, platforms ----


def test_an_empty_list_has_no_page(org, providers):
    def pages(path):
        pagination = org.get(path).json["meta"]["pagination"]
        return pagination["total-count"], pagination["total-pages"]

    assert pages(providers.base) == (0, 0)
    providers.create("time")
    assert pages(providers.base) == (1, 1) and pages(f"{providers.path('time')}/versions") == (0, 0)


def test_private_and_public_providers_are_listed_and_searched(org, providers):
    private, public = providers.create("time"), providers.create("aws", **{"registry-name": "public", "namespace": "hashicorp"})
    assert [item["id"] for item in org.get(providers.base).data] == [public["id"], private["id"]]
    assert [item["id"] for item in org.get(providers.base, **{"filter[registry_name]": "public"}).data] == [public["id"]]
    assert [item["id"] for item in org.get(providers.base, q="hashi").data] == [public["id"]]
    assert providers.read("time")["attributes"]["namespace"] == org.organization
    assert org.get(f"{providers.base}/public/hashicorp/aws").data["id"] == public["id"] and org.get(f"registry-providers/{public['id']}").data["id"] == public["id"]
    assert org.call("POST", f"{providers.base}/public/hashicorp/aws/versions", document(VERSION, {"version": "1.0.0", "key-id": "x"})).status == 403
    for attributes, errors in (({"name": "time"}, 1), ({"registry-name": ""}, 2), ({"registry-name": "other"}, 1), ({"name": "a b"}, 1), ({"namespace": "other"}, 1)):
        answer = org.call("POST", providers.base, document(TYPE, {"name": "fine", "namespace": org.organization, "registry-name": "private", **attributes}))
        assert answer.status == 422 and len(answer.json["errors"]) == errors, answer.text
    org.delete(providers.path("time"))
    assert org.call("GET", providers.path("time")).status == 404


def test_a_version_is_served_once_everything_is_verified(org, providers, archive):
    providers.add_key()
    providers.create("time")
    made = providers.version("time", "1.0.0")
    assert made["links"]["shasums-download"] is None and made["attributes"]["shasums-uploaded"] is False
    name = file_name("time", "1.0.0", LINUX)
    sums = shasums({name: archive, file_name("time", "1.0.0", ARM): b"other"})
    platform = providers.platform("time", "1.0.0", LINUX, name, sha(archive))
    for resource, link, content in ((made, "shasums-sig-upload", providers.key.sign(sums)), (platform, "provider-binary-upload", archive), (made, "shasums-upload", sums)):
        assert providers.served("time") == {} and providers.ask("time", "1.0.0", "download", "linux", "amd64").status == 404
        answer = providers.put(resource, link, content)
        assert answer.status == 200, answer.text
    assert providers.served("time") == {"1.0.0": [LINUX]}
    shown = providers.read("time", "versions", "1.0.0")
    assert shown["attributes"]["signature-verified"] and shown["links"]["shasums-upload"] is None
    assert providers.read("time")["attributes"]["latest-version"] == "1.0.0"
    package = providers.ask("time", "1.0.0", "download", "linux", "amd64").json
    assert (package["filename"], package["shasum"], package["protocols"]) == (name, sha(archive), ["5.0"])
    (key,) = package["signing_keys"]["gpg_public_keys"]
    assert (key["key_id"], key["ascii_armor"]) == (providers.key.key_id, providers.key.armor)
    nobody = Api(org.url, None)
    assert nobody.call("GET", package["download_url"]).body == archive
    assert nobody.call("GET", package["shasums_url"]).body == sums
    assert nobody.call("GET", package["shasums_signature_url"]).status == 200
    expiry = int(urllib.parse.urlsplit(package["download_url"]).path.split("/")[2].partition("-")[0])
    assert 0 < expiry - time.time() <= 600
    # verified content stays
    assert providers.put(made, "shasums-upload", sums).status == 200 and providers.put(made, "shasums-upload", sums + b"\n").status == 409
    assert providers.put(platform, "provider-binary-upload", archive).status == 200 and providers.put(platform, "provider-binary-upload", archive + b"x").status == 422
    # a key in use stays
    assert org.call("DELETE", providers.keys(org.organization, providers.key.key_id)).status == 409
    org.delete(providers.path("time", "versions", "1.0.0"))
    assert org.call("DELETE", providers.keys(org.organization, providers.key.key_id)).status == 204
    assert nobody.call("GET", package["download_url"]).status == 404 and nobody.call("GET", package["shasums_url"]).status == 404


@pytest.mark.parametrize("case", ("another key", "another document", "no key", "a key of another organization", "a deleted key", "armor", "nonsense", "a bad line"))
def test_a_wrong_signature_is_refused(api_site, org, providers, archive, case):
    sums = shasums({file_name("time", "1.0.0", LINUX): archive}) if case != "a bad line" else b"nonsense\n"
    other = signer("another")
    signature = {"another key": lambda: other.sign(sums), "another document": lambda: providers.key.sign(sums + b"x"), "armor": lambda: providers.key.sign(sums, "--armor"),
                 "nonsense": lambda: b"\xc2\xff\x00nonsense"}.get(case, lambda: providers.key.sign(sums))()
    if case == "a key of another organization":
        Providers(api_site.stranger()).add_key()
    elif case != "no key":
        providers.add_key()
    if case == "a deleted key":
        assert org.call("DELETE", providers.keys(org.organization, providers.key.key_id)).status == 204
    providers.create("time")
    made = providers.version("time", "1.0.0")
    assert providers.put(made, "shasums-upload", sums).status == 200
    refused = providers.put(made, "shasums-sig-upload", signature)
    assert refused.status == 422, refused.text
    assert {"no key": "has no GPG key", "a key of another organization": "has no GPG key", "a deleted key": "has no GPG key", "a bad line": "line 1", "armor": "binary"}.get(case, "can't be verified") in refused.errors()
    shown = providers.read("time", "versions", "1.0.0")["attributes"]
    assert not shown["signature-verified"] and not shown["shasums-sig-uploaded"] and providers.served("time") == {}


def test_a_signature_by_a_subkey_and_by_an_rsa_key_is_verified(org, archive, temporary_signer):
    subkey = temporary_signer("subkey")
    subkey.add_subkey()
    for number, key in enumerate((subkey, signer("rsa", kind="rsa3072"))):
        providers = Providers(org, key)
        providers.publish(f"time{number}", "1.0.0", {LINUX: archive})
        assert providers.served(f"time{number}") == {"1.0.0": [LINUX]}


def test_a_changed_archive_is_refused(org, providers, archive):
    providers.add_key()
    providers.create("time")
    made, name = providers.version("time", "1.0.0"), file_name("time", "1.0.0", LINUX)
    changed = archive + b"x"
    early = providers.platform("time", "1.0.0", ARM, name, sha(changed))
    assert providers.put(early, "provider-binary-upload", archive).status == 422
    assert providers.put(early, "provider-binary-upload", changed).status == 200  # nothing is signed yet
    sums = shasums({name: archive})
    for link, content in (("shasums-upload", sums), ("shasums-sig-upload", providers.key.sign(sums))):
        assert providers.put(made, link, content).status == 200
    assert providers.served("time") == {} and providers.ask("time", "1.0.0", "download", "linux", "arm64").status == 404
    path = providers.path("time", "versions", "1.0.0", "platforms")
    for filename, shasum in ((name, sha(changed)), ("other.zip", sha(archive))):
        answer = org.call("POST", path, document(PLATFORM, {"os": "linux", "arch": "amd64", "filename": filename, "shasum": shasum}))
        assert answer.status == 422, answer.text
    fine = providers.platform("time", "1.0.0", LINUX, name, sha(archive))
    assert providers.put(fine, "provider-binary-upload", changed).status == 422 and providers.put(fine, "provider-binary-upload", b"").status == 422
    assert providers.put(fine, "provider-binary-upload", archive).status == 200 and providers.served("time") == {"1.0.0": [LINUX]}


def test_a_large_archive_is_sent_as_it_was_uploaded(org, providers):
    archive = bytes(range(256)) * 8192 * 3 + b"end"
    providers.publish("time", "1.0.0", {LINUX: archive})
    package = providers.ask("time", "1.0.0", "download", "linux", "amd64").json
    answer = Api(org.url, None).call("GET", package["download_url"])
    assert answer.body == archive and answer.headers["Content-Length"] == str(len(archive)) and answer.headers["Connection"] == "close"


def test_an_organization_with_a_used_key_is_deleted(api_site, archive):
    admin = Api(api_site.scheduler.url, api_site.tokens["token"])
    gone = api_site.stranger()
    Providers(gone).publish("time", "1.0.0", {LINUX: archive})
    assert admin.call("DELETE", f"admin/organizations/{gone.organization}").status in (200, 204)


# ---- who finds them ----


def every_answer(providers, namespace):
    return [(answer.status, answer.body) for answer in (providers.ask("time", "versions", namespace=namespace), providers.ask("time", "1.0.0", "download", "linux", "amd64", namespace=namespace))]


def test_other_organizations_get_the_answer_for_a_missing_provider(api_site, archive):
    admin = Api(api_site.scheduler.url, api_site.tokens["token"])
    owner, other = api_site.stranger(), api_site.stranger()
    Providers(owner).publish("time", "1.0.0", {LINUX: archive})
    theirs = Providers(other)
    admin.patch(f"admin/organizations/{owner.organization}/relationships/module-consumers", {"data": [{"type": "organizations", "id": other.organization}]})
    Modules(owner).publish("network", "1.0.0")
    found, missing = every_answer(theirs, owner.organization), every_answer(theirs, "nobody")
    assert found == missing and {status for status, _ in found} == {404}
    assert {status for status, _ in every_answer(Providers(Api(owner.url, "nonsense", owner.organization)), owner.organization)} == {401}
    for path in ("", "/versions", "/versions/1.0.0", "/versions/1.0.0/platforms", "/versions/1.0.0/platforms/linux/amd64"):
        assert other.call("GET", Providers(owner).path("time") + path).status == 404
        assert other.call("GET", f"{theirs.base}/private/{owner.organization}/time{path}").status == 404
    assert other.call("GET", f"registry-providers/{Providers(owner).read('time')['id']}").status == 404


def test_tokens_of_teams_and_organizations_find_providers(org, providers, archive, api_site):
    people = People(org, api_site.database)
    providers.publish("time", "1.0.0", {LINUX: archive})
    team = people.team("readers")
    tokens = (org.post(f"teams/{team}/authentication-token").data["attributes"]["token"], org.post(f"organizations/{org.organization}/authentication-token").data["attributes"]["token"],
              people.member("reader", team).token)
    for token in tokens:
        assert Providers(Api(org.url, token, org.organization)).served("time") == {"1.0.0": [LINUX]}
    reader = Api(org.url, tokens[2], org.organization)
    assert reader.get(providers.path("time", "versions", "1.0.0")).data["links"]["shasums-upload"] is None
    assert reader.call("DELETE", providers.path("time")).status == 404 and Providers(reader).add_key(signer("another").armor).status == 403


def test_the_token_of_a_run_finds_providers_of_its_organization_until_the_attempt_ends(api_site, archive):
    owner, other = api_site.stranger(), api_site.stranger()
    Providers(owner).publish("time", "1.0.0", {LINUX: archive})

    def job(api):
        pool, token = api.pool()
        worker = api_site.fake_worker(token)
        workspace = api.workspace(execution_mode="agent", agent_pool_id=pool)
        return worker, worker.take(api.run_files(workspace, {"main.tf": ""}), "plan")

    (worker, own), (_, foreign) = job(owner), job(other)
    registry = Providers(Api(owner.url, own["run-token"], owner.organization))
    assert registry.served("time") == {"1.0.0": [LINUX]} and registry.ask("time", "1.0.0", "download", "linux", "amd64").status == 200
    stranger = Providers(Api(owner.url, foreign["run-token"], owner.organization))
    assert every_answer(stranger, owner.organization) == every_answer(stranger, "nobody")
    worker.result(own, "passed")
    assert registry.ask("time", "versions").status == 401


def test_tags_are_replaced(org, providers, api_site):
    people = People(org, api_site.database)
    made = providers.create("tagged")
    path, list_path = providers.path("tagged"), f"registry-providers/{made['id']}/tag-bindings"

    def change(client=org, **tags):
        bindings = [{"type": "tag-bindings", "attributes": {"key": key, "value": value}} for key, value in tags.items()]
        return client.call("PATCH", path, document("registry-providers", {}, **{"tag-bindings": {"data": bindings}}))

    def tags():
        return {item["attributes"]["key"]: item["attributes"]["value"] for item in org.get(list_path).data}

    assert change(env="production", team="a").status == 200 and tags() == {"env": "production", "team": "a"}
    assert change(env="test").status == 200 and tags() == {"env": "test"}
    assert change(**{f"key{number}": "" for number in range(11)}).status == 422
    assert org.call("PATCH", path, document("registry-providers", {})).status == 200 and tags() == {"env": "test"}
    assert org.call("PATCH", path, document("registry-modules", {})).status == 422
    reader = people.member("tag-reader", people.team("tag-readers"))
    assert change(reader, env="x").status == 404 and reader.call("GET", list_path).status == 200
    assert api_site.stranger().call("GET", list_path).status == 404 and change(api_site.stranger(), env="x").status == 404
    assert change().status == 200 and tags() == {}
