# SPDX-License-Identifier: MPL-2.0
"""Site admins' settings for organizations and for the installation, and the versions of programs that they list."""

import uuid

import pytest

from support.api import ApiError

SHA = "0" * 64


@pytest.fixture
def owner(api_site):
    """The owner of an organization of their own, who is not a site admin."""
    return api_site.stranger()


@pytest.fixture
def set_admin_settings(org, owner):
    """Changes the site admins' settings of the owner's organization. Returns its attributes."""
    return lambda **attributes: org.patch(f"admin/organizations/{owner.organization}", {"data": {
        "type": "organizations", "attributes": {name.replace("_", "-"): value for name, value in attributes.items()}}}).data["attributes"]


def listed(org, **query):
    return {one["id"]: one for one in org.get("admin/organizations", **query).data}


# ---- organizations ----


def test_organizations_are_found_by_name_and_address(org, owner):
    name = owner.organization
    assert list(listed(org, q=name.upper())) == [name] == list(listed(org, q=org.attributes(f"admin/organizations/{name}")["notification-email"]))
    assert listed(org, q=f"nobody-{uuid.uuid4()}") == {}
    answer = org.get("admin/organizations", q=name, include="owners")
    assert answer.json["meta"]["pagination"]["total-count"] == 1
    (included,) = answer.json["included"]
    assert included["id"] == owner.get("account/details").data["id"] and included["attributes"]["email"]
    with pytest.raises(ApiError) as refused:
        org.get("admin/organizations", include="nonsense")
    assert refused.value.status == 400


def test_an_organization_has_its_workspaces_and_current_runs(org, owner):
    path = f"admin/organizations/{owner.organization}"
    before = org.attributes(path)
    assert (before["workspace-count"], before["current-run-count"]) == (0, 0) and before["created-at"]
    workspace = owner.workspace()
    run = owner.run(workspace, owner.upload(workspace, {"main.tf": ""}))
    after = org.attributes(path)
    assert (after["workspace-count"], after["current-run-count"]) == (1, 1)
    owner.act(run, "cancel")
    owner.wait_status(run, "canceled")
    assert org.attributes(path)["current-run-count"] == 0


def test_only_site_admins_use_the_admin_routes_of_organizations(owner):
    path = f"admin/organizations/{owner.organization}"
    for method, path in (("GET", "admin/organizations"), ("GET", path), ("PATCH", path), ("DELETE", path)):
        assert owner.call(method, path, {} if method == "PATCH" else None).status == 404


def test_a_disabled_organization_is_not_found_until_enabled(org, owner, api_site, set_admin_settings):
    workspace = owner.workspace()
    run = owner.run(workspace, owner.upload(workspace, {"main.tf": ""}))
    team = owner.post(f"organizations/{owner.organization}/authentication-token").data["attributes"]["token"]
    service = type(owner)(owner.url, team, owner.organization)
    paths = (f"organizations/{owner.organization}", f"workspaces/{workspace}", f"runs/{run}", f"organizations/{owner.organization}/workspaces")
    assert set_admin_settings(is_disabled=True)["is-disabled"]
    for path in paths:
        assert owner.call("GET", path).status == service.call("GET", path).status == 404, path
        assert org.call("GET", path).status == 200
    assert [one["id"] for one in owner.get("organizations").data] == []
    refused = org.call("POST", "runs", {"data": {"type": "runs", "relationships": {"workspace": {"data": {"type": "workspaces", "id": workspace}}}}})
    assert refused.status == 422 and "disabled" in refused.text
    assert owner.get("account/details").status == 200
    assert not set_admin_settings(is_disabled=False)["is-disabled"]
    for path in paths:
        assert owner.call("GET", path).status == 200


def test_the_workspace_limit_refuses_new_workspaces_only(owner, set_admin_settings):
    existing = owner.workspace()
    assert set_admin_settings(workspace_limit=2)["workspace-limit"] == 2
    owner.workspace()
    with pytest.raises(ApiError) as refused:
        owner.workspace()
    assert refused.value.status == 422 and "limit" in str(refused.value)
    assert owner.attributes(f"workspaces/{existing}")["locked"] is False
    assert set_admin_settings(workspace_limit=0)["workspace-limit"] == 0
    owner.workspace()


def test_jobs_get_the_time_limit_of_their_organization(owner, set_admin_settings, api_site):
    shown = set_admin_settings(plan_timeout="1h30m", terraform_build_worker_apply_timeout="45s")
    assert shown["plan-timeout"] == shown["terraform-build-worker-plan-timeout"] == "1h30m" and shown["apply-timeout"] == "45s"
    assert set_admin_settings(is_disabled=False)["plan-timeout"] == "1h30m"
    workspace, fake_worker = owner.workspace(auto_apply=True), api_site.fake_worker()
    run = owner.run_files(workspace, {"main.tf": ""})
    assert fake_worker.take(run, "plan")["time-limit"] == 5400
    assert set_admin_settings(plan_timeout="")["plan-timeout"] is None
    other = owner.run_files(owner.workspace(), {"main.tf": ""})
    assert fake_worker.take(other, "plan")["time-limit"] == 0


def test_module_consumers_are_replaced(org, owner, api_site):
    path, other = f"admin/organizations/{owner.organization}/relationships/module-consumers", api_site.stranger()
    link = {"data": [{"type": "organizations", "id": other.organization}]}
    assert org.get(path).data == []
    org.patch(path, link)
    assert [one["id"] for one in org.get(path).data] == [other.organization]
    refused = org.call("PATCH", path, {"data": [{"type": "organizations", "id": "nowhere"}]})
    assert refused.status == 422 and "nowhere" in refused.text
    assert [one["id"] for one in org.get(path).data] == [other.organization]
    org.patch(path, {"data": []})
    assert org.get(path).data == []


def test_an_organization_is_deleted_with_its_workspaces(org, owner):
    workspace = owner.workspace()
    org.delete(f"admin/organizations/{owner.organization}")
    assert org.call("GET", f"admin/organizations/{owner.organization}").status == org.call("GET", f"workspaces/{workspace}").status == 404


# ---- the installation ----


@pytest.fixture
def installation(org):
    """Changes the installation's settings, which are restored at the end. Returns the attributes."""
    def set(**attributes):
        return org.patch("admin/general-settings", {"data": {"type": "general-settings", "attributes": {name.replace("_", "-"): value for name, value in attributes.items()}}}).data["attributes"]

    before = {name: org.attributes("admin/general-settings")[name] for name in ("api-rate-limit", "api-rate-limiting-enabled", "default-remote-state-access", "limit-user-organization-creation")}
    yield set
    set(plan_timeout="", apply_timeout="", **before)


def test_unsupported_settings_are_refused(org, installation):
    assert installation(default_remote_state_access=False)["fair-run-queuing-enabled"]
    refused = org.call("PATCH", "admin/general-settings", {"data": {"type": "general-settings", "attributes": {"fair-run-queuing-enabled": False}}})
    assert refused.status == 422 and "fair-run-queuing-enabled" in refused.text


def test_a_setting_limits_organization_creation_to_site_admins(org, owner, installation):
    def create(client):
        name = f"o-{uuid.uuid4()}"
        return client.call("POST", "organizations", {"data": {"type": "organizations", "attributes": {"name": name, "email": "a@example.com"}}}).status

    installation(limit_user_organization_creation=True)
    assert (create(owner), create(org)) == (403, 201)
    installation(limit_user_organization_creation=False)
    assert create(owner) == 201


def test_new_workspaces_get_the_default_remote_state_access(owner, installation):
    def shares(**attributes):
        return owner.attributes(f"workspaces/{owner.workspace(**attributes)}")["global-remote-state"]

    assert not shares()
    installation(default_remote_state_access=True)
    assert shares() and not shares(global_remote_state=False)


def test_a_changed_rate_limit_applies_at_once(owner, installation):
    def current_limit():
        return int(owner.call("GET", "account/details").headers["X-RateLimit-Limit"])

    before = current_limit()
    assert installation(api_rate_limit=40)["api-rate-limit"] == 40
    assert current_limit() == 40
    assert any(owner.call("GET", "account/details").status == 429 for _ in range(400))
    installation(api_rate_limit=before)
    assert current_limit() == before


def test_an_organizations_timeout_overrides_that_of_the_installation(owner, installation, set_admin_settings, api_site):
    fake_worker = api_site.fake_worker()

    def limit():
        return fake_worker.take(owner.run_files(owner.workspace(), {"main.tf": ""}), "plan")["time-limit"]

    installation(plan_timeout="2h")
    assert limit() == 7200
    set_admin_settings(plan_timeout="3h")
    assert limit() == 10800
    set_admin_settings(plan_timeout="")
    assert limit() == 7200


# ---- versions of programs ----


def version_of(org, tool, version, **attributes):
    return org.post(f"admin/{tool}-versions", {"data": {"type": f"{tool}-versions", "attributes": {
        "version": version, "url": "https://example.com/program.zip", "sha": SHA, **attributes}}}).data


def new_version():
    return f"9.{uuid.uuid4().int % 10 ** 6}.{uuid.uuid4().int % 10 ** 6}"


@pytest.mark.parametrize("tool", ["terraform", "opa", "sentinel"])
def test_versions_are_listed_changed_and_deleted(org, tool):
    older, newer = new_version(), f"1{new_version()}-rc1"
    created = [version_of(org, tool, version) for version in (older, newer)]
    shown = created[0]["attributes"]
    assert (shown["enabled"], shown["official"], shown["beta"], shown["deprecated"], shown["deprecated-reason"], shown["usage"]) == (True, False, False, False, None, 0)
    assert shown["archs"] == [{"os": "linux", "arch": "amd64", "url": shown["url"], "sha": SHA}]
    versions = [one["attributes"]["version"] for one in org.get(f"admin/{tool}-versions", **{"page[size]": 100}).data]
    assert versions.index(newer) < versions.index(older)
    assert [one["id"] for one in org.get(f"admin/{tool}-versions", **{"filter[version]": older}).data] == [created[0]["id"]]
    assert [one["id"] for one in org.get(f"admin/{tool}-versions", **{"search[version]": newer[1:-2]}).data] == [created[1]["id"]]
    assert org.call("POST", f"admin/{tool}-versions", {"data": {"type": f"{tool}-versions", "attributes": {"version": older, "url": "https://x", "sha": SHA}}}).status == 422

    path = f"admin/{tool}-versions/{created[0]['id']}"
    archs = [{"os": "linux", "arch": arch, "url": f"https://example.com/{arch}", "sha": SHA} for arch in ("arm64", "s390x")]
    changed = org.patch(path, {"data": {"type": f"{tool}-versions", "attributes": {"archs": archs, "deprecated": True, "deprecated-reason": "old"}}}).data["attributes"]
    assert (changed["archs"], changed["url"], changed["deprecated-reason"]) == (archs, "", "old")
    assert org.patch(path, {"data": {"type": f"{tool}-versions", "attributes": {"deprecated": False}}}).data["attributes"]["deprecated-reason"] is None
    for other in {"terraform", "opa", "sentinel"} - {tool}:
        assert org.call("GET", f"admin/{other}-versions/{created[0]['id']}").status == 404
    for one in created:
        org.delete(f"admin/{tool}-versions/{one['id']}")
        assert org.call("GET", f"admin/{tool}-versions/{one['id']}").status == 404


def test_a_disabled_version_is_refused_for_workspaces_and_runs(org):
    workspace, version = org.workspace(), new_version()
    configuration = org.upload(workspace, {"main.tf": ""})
    choose = {"data": {"type": "workspaces", "attributes": {"terraform-version": version}}}
    org.patch(f"workspaces/{workspace}", choose)
    listed = version_of(org, "terraform", version)
    path = f"admin/terraform-versions/{listed['id']}"
    assert org.attributes(path)["usage"] == 1
    refused = org.call("DELETE", path)
    assert refused.status == 409 and "workspaces (1)" in refused.text
    org.patch(path, {"data": {"type": "terraform-versions", "attributes": {"enabled": False}}})
    for attributes in ({"terraform-version": version}, {"terraform-version": f"v{version}"}, {"terraform-version": f"= {version}"}):
        refused = org.call("PATCH", f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": attributes}})
        assert refused.status == 422 and "disabled" in refused.text, attributes
    with pytest.raises(ApiError) as refused:
        org.run(workspace, configuration)
    assert refused.value.status == 422 and "disabled" in str(refused.value)
    with pytest.raises(ApiError) as refused:
        org.run(workspace, configuration, plan_only=True, terraform_version=version)
    assert refused.value.status == 422
    org.patch(path, {"data": {"type": "terraform-versions", "attributes": {"enabled": True}}})
    assert org.run(workspace, configuration)
