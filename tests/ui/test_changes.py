# SPDX-License-Identifier: MPL-2.0
"""The changes of a plan: many, hostile and secret ones."""

import re

from playwright.sync_api import expect

from support.synthetic import change, large_plan, plan

COUNT = 20_000
POLICY = '{"Statement":[{"Action":"get","Effect":"Allow"}]}'
SCRIPT = "#!/bin/sh\nset -e\necho one\nport=80\nexit 0\n"
XSS = '<img src=x onerror="alert(1)">'


def show_changes(page):
    page.locator("#plan > summary").click()
    return page.get_by_role("region", name="Changes", exact=True)


def row(changes, address):
    return changes.locator(".change-item").filter(has=changes.page.locator(".row-link", has_text=re.compile(re.escape(address) + "$")))


def attribute(item, name):
    return item.locator(".attribute").filter(has=item.page.locator(".attribute-name bdi", has_text=re.compile(f"^{re.escape(name)}$")))


def test_twenty_thousand_changes_are_filtered_grouped_and_linked(operations, open_plan):
    run = operations.planned(operations.api.workspace(), b"", large_plan(COUNT))
    page = open_plan(run)
    changes = show_changes(page)
    expect(changes.locator(".change-head").first).to_have_text(re.compile("Destroy 5,?000"))
    assert changes.get_by_role("listitem").count() < 100
    page.get_by_label("Filter changes").fill("m7 row[1")
    expect(page.get_by_text(re.compile(r"^showing [\d,]+ of 20,000$"))).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]find=m7"))
    page.get_by_label("Group changes").select_option(label="By module")
    expect(changes.locator(".change-head").first).to_contain_text("module.m7")
    page.get_by_label("Filter changes").fill("")
    expect(page).not_to_have_url(re.compile(r"find="))
    page.get_by_role("navigation", name="Filter by action").get_by_role("link", name="replace").click()
    expect(page.get_by_text("showing 5,000 of 20,000")).to_be_visible()
    expect(page).to_have_url(re.compile(r"show=replace"))
    page.reload()
    page.locator("#plan > summary").click()
    expect(page.get_by_text("showing 5,000 of 20,000")).to_be_visible()

    linked = open_plan(run, "#change:module.m30.example_thing.row[12830]")
    changes = linked.get_by_role("region", name="Changes", exact=True)
    item = row(changes, "example_thing.row[12830]")
    expect(item.locator(".row-link")).to_be_focused()
    expect(item.locator(".row-link")).to_be_in_viewport()
    expect(attribute(item, "size")).to_contain_text("removed")
    linked.keyboard.press("ArrowDown")
    expect(row(changes, "example_thing.row[12834]").locator(".row-link")).to_be_focused()
    linked.keyboard.press("Enter")
    expect(linked).to_have_url(re.compile(r"#change:module\.m34\.example_thing\.row(\[|%5B)12834(\]|%5D)$"))
    expect(row(changes, "example_thing.row[12834]").locator(".drawer")).to_be_visible()
    linked.keyboard.press("Enter")
    expect(row(changes, "example_thing.row[12834]").locator(".drawer")).to_have_count(0)


def details():
    """A plan with the kinds of differences that the drawer shows."""
    return plan(
        [
            change("module.a.aws_x.updated", ["update"],
                   {"id": "i-1", "none": None, "empty": "", "size": "8", "policy": POLICY, "script": SCRIPT, "set": ["a", "b", "c"], "blocks": [{"p": 1}, {"p": 2}],
                    "space": "a b", "secret": "s3cret-old", "same": 1, XSS: 1, "tags": {"Name": "web", "env": "prod"}},
                   {"none": "", "empty": None, "size": 8, "policy": POLICY.replace("get", "put").replace(":", ": "), "script": SCRIPT.replace("80", "443"), "set": ["b", "c", "d"],
                    "blocks": [{"p": 2}], "space": "a  b", "secret": "s3cret-new", "same": 1, XSS: XSS, "tags": {"Name": "web", "env": "prod"}},
                   after_unknown={"id": True}, before_sensitive={"secret": True}, after_sensitive={"secret": True}),
            change("aws_x.replaced", ["delete", "create"], {"ami": "one", "n": {"k": 1}}, {"ami": "two", "n": {"k": 2}}, replace_paths=[["ami"]],
                   action_reason="replace_because_cannot_update"),
            change("aws_x.moved", ["no-op"], {"id": "m"}, {"id": "m"}, previous_address="aws_x.old"),
            change("aws_x.strange", ["create", "forget"], {}, {}),
            change(f'aws_x.each["{XSS}"]', ["create"], None, {"a": XSS}),
        ],
        resource_drift=[change("aws_x.drifted", ["update"], {"size": 1}, {"size": 2})],
        relevant_attributes=[{"resource": "aws_x.drifted", "attribute": ["size"]}],
        output_changes={"address": {"actions": ["update"], "before": "10.0.0.1", "after": "10.0.0.2", "after_unknown": False, "before_sensitive": False, "after_sensitive": False}},
        checks=[{"address": {"kind": "check", "to_display": "check.young"}, "status": "fail", "instances": [{"problems": [{"message": f"it is old {XSS}"}]}]}],
        deferred_changes=[{"reason": "instance_count_unknown", "resource_change": change("aws_x.later", ["create"], None, {"a": 1})}])


def test_a_drawer_shows_how_the_values_differ(operations, open_plan, axe):
    types = {"risk-hint-types": ["aws_x", "aws_db_instance"]}
    operations.api.patch("organizations/acme", {"data": {"type": "organizations", "attributes": types}})
    run = operations.planned(operations.api.workspace(), b"", details())
    page = open_plan(run)
    changes = show_changes(page)
    expect(changes.locator(".change-head")).to_have_text([
        "▾ Replace 1", "▾ Other actions 1", "▾ Update 1", "▾ Create 1", "▾ State only 1", "▾ Deferred 1", "▾ Changed outside Terraform 1", "▾ Outputs 1", "▾ Checks 1"])
    expect(page.get_by_role("list", name="Risks").get_by_role("listitem")).to_have_text(["1 resource (aws_x) will be replaced"])
    expect(row(changes, "aws_x.strange")).to_contain_text("create,forget")
    expect(row(changes, "aws_x.moved")).to_contain_text("move only")
    expect(row(changes, "aws_x.moved")).to_contain_text("from aws_x.old")
    expect(row(changes, "aws_x.later")).to_contain_text("count or for_each is known after apply")
    expect(row(changes, "aws_x.drifted")).to_contain_text("may have led to changes of this plan")
    expect(row(changes, f'aws_x.each["{XSS}"]')).to_be_visible()

    item = row(changes, "aws_x.updated")
    item.locator(".row-link").click()
    expect(attribute(item, "id").locator(".attribute-value")).to_have_text(['before: "i-1"', "after: (known after apply)"])
    expect(attribute(item, "none").locator(".attribute-value")).to_have_text(["before: null", 'after: ""'])
    expect(attribute(item, "empty").locator(".attribute-value")).to_have_text(['before: ""', "after: null"])
    expect(attribute(item, "size")).to_contain_text("type: string → number")
    expect(attribute(item, "space")).to_contain_text("whitespace only")
    expect(attribute(item, "secret").locator(".attribute-value")).to_have_text(["before: (sensitive)", "after: (sensitive, changed)"])
    expect(attribute(item, "Action").locator(".attribute-value")).to_have_text(['before: "get"', 'after: "put"'])
    expect(attribute(item, "Name")).to_be_visible()
    expect(attribute(item, XSS)).to_contain_text(XSS)
    expect(attribute(item, "same")).to_have_count(0)
    script = attribute(item, "script")
    expect(script.locator("mark")).to_have_text(["80", "443"])
    expect(script.locator(".text-line").first).to_contain_text("#!/bin/sh")
    attribute(item, "policy").get_by_role("button", name="Raw").click()
    expect(attribute(item, "policy").first).to_contain_text('Statement\\":[')
    item.get_by_role("button", name=re.compile("unchanged")).last.click()
    expect(attribute(item, "same").locator(".attribute-value")).to_have_text(["before: 1", "after: 1"])
    item.get_by_role("button", name="Copy as HCL").click()
    expect(page.locator(".toast")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert 'resource "aws_x" "updated" {' in copied and "secret = null # sensitive" in copied

    replaced = row(changes, "aws_x.replaced")
    expect(replaced).to_contain_text("it can't be changed in place")
    replaced.locator(".row-link").click()
    expect(attribute(replaced, "ami")).to_contain_text("forces replacement")
    expect(attribute(replaced, "k")).not_to_contain_text("forces replacement")
    output = row(changes, "address")
    output.locator(".row-link").click()
    expect(attribute(output, "value").locator(".attribute-value")).to_have_text(['before: "10.0.0.1"', 'after: "10.0.0.2"'])
    check = row(changes, "check.young")
    check.locator(".row-link").click()
    expect(check).to_contain_text(f"it is old {XSS}")
    assert "s3cret" not in page.content()
    assert page.locator(".changes img").count() == 0
    axe(page)
    page.get_by_label("Filter changes").fill("value: 10.0.0.2")
    expect(changes.locator(".change-item")).to_have_count(2)
    expect(page.get_by_label("Filter changes")).to_be_focused()
    page.evaluate("location.hash = '#change:aws_x.moved'")
    expect(row(changes, "aws_x.moved").locator(".drawer")).to_be_visible()
    expect(page.get_by_label("Filter changes")).to_have_value("")


def test_a_drawer_has_one_column_on_a_narrow_screen(operations, open_plan):
    run = operations.planned(operations.api.workspace(), b"", details())
    page = open_plan(run, "#output:address", viewport={"width": 600, "height": 800})
    item = row(page.get_by_role("region", name="Changes", exact=True), "address")
    expect(item.locator(".attribute-value")).to_have_text(['before: "10.0.0.1"', 'after: "10.0.0.2"'])
    before, after = item.locator(".attribute-value").all()
    assert before.bounding_box()["x"] == after.bounding_box()["x"]
