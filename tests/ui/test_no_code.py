# SPDX-License-Identifier: MPL-2.0
"""No-code modules: their settings, the form that makes workspaces from them, and upgrades of these workspaces."""

import re

import pytest
from playwright.sync_api import expect

from support.api import Api
from support.documents import document
from support.fake_worker import FakeWorker
from support.hostile_texts import CORPUS, SHORT, WORD
from support.modules import Modules
from support.people import People
from support.wait import until


def described_input(name, type="string", **more):
    return {"name": name, "type": type, "description": "", "default": "", "required": True, "sensitive": False, **more}


INPUTS = [
    described_input("region", description="Where it runs."),
    described_input("key", sensitive=True),
    described_input("size", "number", required=False, default="3"),
    described_input("zones", "list(string)", required=False, default="[]"),
    described_input("public", "bool", required=False, default="false"),
]
HOSTILE = [
    described_input("__proto__", description=SHORT),
    described_input(WORD, f"object({{ a = {WORD} }})", description="\n".join(CORPUS), default=SHORT, required=False),
    described_input("constructor", WORD, required=False, default=WORD),
]


@pytest.fixture(scope="module")
def api(fake_site):
    return Api(fake_site.scheduler.url, fake_site.tokens["token"])


@pytest.fixture(scope="module")
def publish(fake_site, api):
    """publish(name, {version: inputs}) is the id of a module with these versions, which are described."""
    worker, modules = FakeWorker(fake_site.scheduler.url, fake_site.tokens["agent-token"], "describer"), Modules(api)

    def publish(name, versions):
        for version, inputs in versions.items():
            modules.publish(name, version, {"main.tf": ""})
            worker.describe("", inputs=inputs)
        return modules.read(name)["id"]

    return publish


@pytest.fixture(scope="module")
def people(fake_site, api):
    people = People(api, fake_site.database)
    makers = people.team("makers", manage_workspaces=True)
    return {"maker": people.with_password("maker", makers), "reader": people.with_password("reader", people.team("readers", read_workspaces=True)),
            "owner": (fake_site.tokens["user"], fake_site.tokens["password"])}


@pytest.fixture
def visit(visitors, sessions, fake_site, people):
    """visit(path, person) is the page as that person sees it."""
    return lambda path, person="owner": sessions.page(visitors, fake_site.scheduler.url, people[person], path)


def no_code(api, module, options=(), **attributes):
    """The id of new no-code settings. options: (name, type, values)"""
    items = [{"type": "variable-options", "attributes": {"variable-name": name, "variable-type": type, "options": values}} for name, type, values in options]
    body = document("no-code-modules", attributes, **{"registry-module": {"data": {"type": "registry-modules", "id": module}}, "variable-options": {"data": items}})
    return api.post("organizations/acme/no-code-modules", body).data["id"]


def settings_of(api, module):
    (link,) = api.get(f"registry-modules/{module}").data["relationships"]["no-code-modules"]["data"]
    answer = api.get(f"no-code-modules/{link['id']}", include="variable_options").json
    options = [(item["attributes"]["variable-name"], item["attributes"]["options"]) for item in answer.get("included", [])]
    return answer["data"]["attributes"], options


def test_a_manager_enables_changes_and_deletes_the_settings(visit, api, publish, axe):
    module = publish("managed", {"1.0.0": INPUTS, "1.1.0": INPUTS})
    page = visit(f"/app/acme/modules/{module}")
    page.get_by_role("button", name="Enable no-code provisioning").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Version").select_option("1.0.0")
    for name, lines in (("region", "eu\nus"), ("size", "1\nlarge")):
        dialog.get_by_label("Input").select_option(name)
        dialog.get_by_role("button", name="Add values").click()
        dialog.get_by_label(f"Values of {name}").fill(lines)
    expect(dialog.get_by_role("button", name=re.compile("^Save"))).to_have_attribute("title", "large is no value of size")
    dialog.get_by_label("Values of size").fill("1\n2")
    axe(page)
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("table", name="Allowed values").get_by_role("row", name=re.compile("region"))).to_contain_text("eu")
    expect(page.get_by_text("1.0.0, pinned")).to_be_visible()
    expect(page.get_by_role("link", name="Provision workspace")).to_be_visible()
    assert settings_of(api, module) == ({"enabled": True, "version-pin": "1.0.0", "current-version": "1.0.0"}, [("region", ["eu", "us"]), ("size", [1, 2])])
    axe(page)
    page.get_by_role("button", name="Edit no-code settings").click()
    dialog.get_by_label("Enabled").uncheck()
    dialog.get_by_label("Version").select_option("The newest version")
    expect(dialog.get_by_label("Values of region")).to_have_value("eu\nus")
    dialog.get_by_label("Values of region").fill("")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="No-code provisioning")).to_contain_text("Disabled")
    expect(page.get_by_role("link", name="Provision workspace")).to_have_count(0)
    assert settings_of(api, module) == ({"enabled": False, "version-pin": None, "current-version": "1.1.0"}, [("size", [1, 2])])
    page.get_by_role("button", name="Delete no-code settings").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("button", name="Enable no-code provisioning")).to_be_visible()
    assert api.get(f"registry-modules/{module}").data["relationships"]["no-code-modules"]["data"] == []


def test_a_refused_list_of_values_says_so_at_its_field(visit, visitors, api, publish):
    module = publish("crowded", {"1.0.0": INPUTS})
    visitors.expect_console("422")
    no_code(api, module, [("size", "number", [1])])
    page = visit(f"/app/acme/modules/{module}")
    page.get_by_role("button", name="Edit no-code settings").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Input").select_option("region")
    dialog.get_by_role("button", name="Add values").click()
    dialog.get_by_label("Values of region").fill("\n".join(map(str, range(201))))
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator(".field").filter(has=page.get_by_label("Values of region")).get_by_role("alert")).to_contain_text("at most 200 values")
    expect(dialog.get_by_role("alert")).to_have_count(1)
    assert settings_of(api, module)[1] == [("size", [1])]


def test_a_member_makes_a_workspace(visit, api, publish, axe):
    module = publish("offered", {"1.0.0": INPUTS})
    no_code(api, module, [("region", "string", ["eu", "us"])])
    page = visit(f"/app/acme/modules/{module}", "maker")
    expect(page.get_by_role("heading", name="No-code provisioning")).to_have_count(0)
    page.get_by_role("link", name="Provision workspace").click()
    expect(page.get_by_role("heading", name="Provision workspace", level=1)).to_be_visible()
    create = page.get_by_role("button", name=re.compile("^Create workspace"))
    expect(create).to_have_attribute("title", "the workspace needs a name")
    axe(page)
    page.get_by_label("Name").fill("from-a-form")
    page.get_by_label("Description").fill("For the team")
    page.get_by_label("Auto-apply").check()
    expect(create).to_have_attribute("title", "region needs a value")
    expect(page.get_by_text("Where it runs.")).to_be_visible()
    page.get_by_label("region").select_option("us")
    page.get_by_label("key").fill("wine-dark\nsea")
    page.get_by_label("zones").fill('["a", "b"]')
    page.get_by_label("public").select_option("true")
    create.click()
    expect(page).to_have_url(re.compile("/app/acme/workspaces/from-a-form$"))
    expect(page.get_by_role("heading", name="from-a-form", level=1)).to_be_visible()
    made = api.get("organizations/acme/workspaces/from-a-form").data
    assert (made["attributes"]["auto-apply"], made["attributes"]["description"], made["attributes"]["source"]) == (True, "For the team", "tfe-module")
    shown = {item["attributes"]["key"]: item["attributes"] for item in api.get(f"workspaces/{made['id']}/vars").data}
    assert {key: (item["value"], item["hcl"], item["sensitive"]) for key, item in shown.items()} == {
        "region": ("us", False, False), "key": (None, False, True), "zones": ('["a", "b"]', True, False), "public": ("true", False, False)}
    assert len(api.get(f"workspaces/{made['id']}/runs").data) == 1


def test_an_error_stands_at_its_field(visit, visitors, api, publish):
    module = publish("changing", {"1.0.0": INPUTS})
    settings = no_code(api, module, [("region", "string", ["eu", "us"])])
    visitors.expect_console("422")
    page = visit(f"/app/acme/modules/{module}/provision", "maker")
    page.get_by_label("Name").fill("not a name")
    page.get_by_label("key").fill("x")
    page.get_by_label("region").select_option("us")
    page.get_by_role("button", name="Create workspace").click()
    at = lambda label: page.locator(".field").filter(has=page.get_by_label(label, exact=True)).get_by_role("alert")
    expect(at("Name")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(1)
    page.get_by_label("Name").fill("a-name")
    api.patch(f"no-code-modules/{settings}", document("no-code-modules", {}, **{"variable-options": {"data": [
        {"type": "variable-options", "attributes": {"variable-name": "region", "variable-type": "string", "options": ["eu"]}}]}}))
    page.get_by_role("button", name="Create workspace").click()
    expect(at("region")).to_have_text("region must be one of the values that the module allows")
    page.get_by_label("size").fill("5")
    expect(at("region")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(1)
    expect(page.get_by_label("key")).to_have_value("x")
    page.get_by_label("region").select_option("eu")
    page.get_by_role("button", name="Create workspace").click()
    expect(page.get_by_role("heading", name="a-name", level=1)).to_be_visible()


def test_those_who_may_not_and_modules_that_are_not_enabled_get_no_form(visit, api, publish):
    module = publish("withheld", {"1.0.0": INPUTS})
    page = visit(f"/app/acme/modules/{module}/provision", "maker")
    expect(page.get_by_text("No-code provisioning is not enabled for this module.")).to_be_visible()
    no_code(api, module)
    page = visit(f"/app/acme/modules/{module}", "reader")
    expect(page.get_by_role("heading", name="How to use")).to_be_visible()
    expect(page.get_by_role("link", name="Provision workspace")).to_have_count(0)
    page = visit(f"/app/acme/modules/{module}/provision", "reader")
    expect(page.get_by_text("You may not create workspaces in any project.")).to_be_visible()


def test_the_form_waits_for_the_description(visit, fake_site, api):
    modules = Modules(api)
    modules.publish("fresh", "1.0.0", {"main.tf": ""})
    module = modules.read("fresh")["id"]
    no_code(api, module)
    page = visit(f"/app/acme/modules/{module}/provision", "maker")
    expect(page.get_by_text("The inputs of this version are not known")).to_be_visible()
    FakeWorker(fake_site.scheduler.url, fake_site.tokens["agent-token"], "describer").describe("", inputs=INPUTS)
    expect(page.get_by_label("region")).to_be_visible()


def test_hostile_texts_of_a_module_are_shown_as_text(visit, api, publish):
    module = publish("hostile", {"1.0.0": HOSTILE})
    no_code(api, module, [("constructor", WORD, [SHORT, {"a": WORD}])])
    page = visit(f"/app/acme/modules/{module}/provision", "maker")
    field = page.locator(".field")
    expect(field.filter(has=page.get_by_label("__proto__"))).to_contain_text(SHORT)
    expect(field.filter(has=page.get_by_label(WORD))).to_contain_text(CORPUS[0])
    expect(page.get_by_label("constructor").locator("option").nth(1)).to_have_text(SHORT)
    page.get_by_label("Name").fill("tamed")
    create = page.get_by_role("button", name=re.compile("^Create workspace"))
    expect(create).to_have_attribute("title", "__proto__ needs a value")
    page.get_by_label("__proto__").fill(SHORT)
    assert page.locator("main").locator("img, svg, script, iframe, base, meta, link").count() == 0
    create.click()
    expect(page.get_by_role("heading", name="tamed", level=1)).to_be_visible()
    assert page.evaluate("self.pwned") is None
    workspace = api.get("organizations/acme/workspaces/tamed").data["id"]
    assert [(item["attributes"]["key"], item["attributes"]["value"]) for item in api.get(f"workspaces/{workspace}/vars").data] == [("__proto__", SHORT)]


def test_a_workspace_is_upgraded(visit, fake_site, api, publish, axe):
    module = publish("growing", {"1.0.0": INPUTS[:1], "2.0.0": [INPUTS[0], described_input("owner", description="Who pays.")]})
    settings = no_code(api, module, **{"version-pin": "1.0.0"})
    vars = {"data": [{"type": "vars", "attributes": {"key": "region", "value": "eu", "category": "terraform"}}]}
    workspace = api.post(f"no-code-modules/{settings}/workspaces", document("workspaces", {"name": "older"}, vars=vars)).data["id"]
    (run,) = api.get(f"workspaces/{workspace}/runs").data
    api.post(f"runs/{run['id']}/actions/cancel", {})
    page = visit("/app/acme/workspaces/older", "maker")
    expect(page.get_by_role("button", name="Upgrade")).to_have_count(0)
    api.patch(f"no-code-modules/{settings}", document("no-code-modules", {"version-pin": "2.0.0"}))
    page.reload()
    expect(page.get_by_text("This workspace has version 1.0.0 of the module growing")).to_be_visible()
    page.get_by_role("button", name="Upgrade").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("version 2.0.0")
    dialog.get_by_label("owner").fill("finance")
    expect(dialog.get_by_label("region")).to_have_count(0)
    axe(page)
    dialog.get_by_label("Message").fill("The newer module")
    dialog.get_by_role("button", name="Plan upgrade").click()
    expect(page).to_have_url(re.compile("/app/acme/workspaces/older/runs/run-"))
    upgrade = page.url.rsplit("/", 1)[1]
    worker = FakeWorker(fake_site.scheduler.url, fake_site.tokens["agent-token"], slots=8)
    until(lambda: api.status(upgrade) == "plan_queued", lambda: f"the plan waits: {api.status(upgrade)}")
    worker.plan(upgrade)
    page.locator(".run-header").get_by_role("button", name="Confirm & Apply").click()
    page.get_by_role("dialog").get_by_role("button", name="Confirm & Apply").click()
    until(lambda: api.status(upgrade) in ("apply_queued", "applying"), lambda: f"the apply waits: {api.status(upgrade)}")
    assert {item["attributes"]["key"]: item["attributes"]["value"] for item in api.get(f"workspaces/{workspace}/vars").data} == {"region": "eu", "owner": "finance"}
    assert api.attributes(f"workspaces/{workspace}")["source-module-id"].endswith("/2.0.0")
