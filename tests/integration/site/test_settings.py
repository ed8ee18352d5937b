# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Settings of the site: texts on its pages, cost estimates, ceilings, forks, and what is refused with a reason."""

import uuid

import pytest

from support.api import Api
from support.browser import Browser
from support.documents import refused, refused_at

NO_CLOUD = "no account of a cloud"


def change(api, group, **attributes):
    attributes = {name.replace("_", "-"): value for name, value in attributes.items()}
    return api.patch(f"admin/{group}-settings", {"data": {"type": f"{group}-settings", "attributes": attributes}}).data["attributes"]


def wrong(api, group, **attributes):
    body = {"data": {"type": f"{group}-settings", "attributes": {name.replace("_", "-"): value for name, value in attributes.items()}}}
    return api.call("PATCH", f"admin/{group}-settings", body)


@pytest.fixture
def page(api_site):
    return Browser(api_site.scheduler.url, address=f"10.9.{uuid.uuid4().int % 250}.1")


def test_groups_answer_with_their_values(org):
    for group in ("cost-estimation", "customization", "smtp", "twilio"):
        item = org.get(f"admin/{group}-settings").data
        assert (item["id"], item["type"]) == (group, f"{group}-settings")
    assert org.attributes("admin/cost-estimation-settings")["enabled"] is True
    smtp = org.attributes("admin/smtp-settings")
    assert (smtp["enabled"], smtp["port"], smtp["auth"]) == (False, 25, "none") and "password" not in smtp


def test_only_site_admins_see_them(api_site):
    stranger = api_site.stranger()
    for group in ("cost-estimation", "customization", "smtp", "twilio", "general"):
        refused(404, stranger.get, f"admin/{group}-settings")


def test_what_has_no_use_is_refused_with_the_reason(org):
    assert NO_CLOUD in refused_at(wrong(org, "cost-estimation", aws_secret_key="secret"), "/data/attributes/aws-secret-key")
    assert "Text messages are not available" in refused_at(wrong(org, "twilio", enabled=True), "/data/attributes/enabled")
    assert change(org, "twilio", enabled=False, account_sid="AC1", from_number="555")["account-sid"] == "AC1"
    answer = org.call("POST", "admin/twilio-settings/verify", {"data": {"attributes": {"test-number": "555"}}})
    assert answer.status == 400 and "not available" in answer.text
    refused_at(wrong(org, "general", fair_run_queuing_enabled=False), "/data/attributes/fair-run-queuing-enabled")


# ---- texts ----


def test_texts_appear_on_the_pages(org, api_site, page):
    change(org, "customization", support_email_address="help@example.com", login_help="<p>Use your <b>badge</b></p>", footer="Run by <em>us</em>", new_user="Ask <a href='https://example.com/?a=1&b=2'>them</a>",
           error="Call 112")
    try:
        page.ask("/app/login")
        assert "<p>Use your <b>badge</b></p>" in page.page and "mailto:help@example.com" in page.page and "Run by <em>us</em>" in page.page
        page.sign_in(api_site.tokens["user"], api_site.tokens["password"])
        shell = page.ask("/app").page
        assert '<template id="site-new-user">Ask <a rel="noopener noreferrer" href="https://example.com/?a=1&amp;b=2">them</a></template>' in shell
        assert "Run by <em>us</em>" in shell and "Call 112" in shell
    finally:
        change(org, "customization", support_email_address="", login_help="", footer="", new_user="", error="")
    assert "site-footer" not in page.ask("/app").page


@pytest.mark.parametrize("text", [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</div></main></body>", "<a href='javascript:alert(1)'>x</a>", "<a href=\"data:text/html,x\">x</a>", "<b onclick='x'>y</b>",
    "<style>*{display:none}</style>", "<svg/onload=alert(1)>", "<a href='//evil.example'>x</a>", "<iframe src='https://evil.example'>", "<form action='https://evil.example'>", "<p", "<!--",
])
def test_texts_can_do_no_harm(org, page, text):
    change(org, "customization", login_help=text)
    try:
        shown = page.ask("/app/login").page
        block = shown.partition('<div class="site-text">')[2].partition('<script type="module" src="/assets/sign_in')[0]
        for bad in ("<script", "<img", "onerror", "javascript:", "data:text", "onclick", "<style", "<svg", 'href="//', "<iframe", "<form", "<!--", "</body"):
            assert bad not in block, block
        assert shown.count("</main>") == 1 and shown.rstrip().endswith("</html>")
    finally:
        change(org, "customization", login_help="")


def test_the_supports_address_is_an_address(org):
    refused_at(wrong(org, "customization", support_email_address="nobody"), "/data/attributes/support-email-address")


# ---- acting ----


def test_cost_estimates_are_switched_off_for_the_site(org, api_site):
    org.patch(f"organizations/{org.organization}", {"data": {"type": "organizations", "attributes": {"cost-estimation-enabled": True}}})
    worker = api_site.fake_worker()

    def estimated():
        run = org.run(workspace, org.upload(workspace, {"main.tf": ""}))
        worker.plan(run)
        return org.get(f"runs/{run}").data["relationships"].get("cost-estimate", {}).get("data") is not None

    workspace = org.workspace("costs")
    change(org, "cost-estimation", enabled=False)
    try:
        assert org.attributes(f"organizations/{org.organization}/entitlement-set")["cost-estimation"] is False
        assert not estimated()
    finally:
        change(org, "cost-estimation", enabled=True)
    workspace = org.workspace("costs-again")
    assert org.attributes(f"organizations/{org.organization}/entitlement-set")["cost-estimation"] is True and estimated()


def test_a_person_owns_at_most_so_many_organizations(org, api_site):
    stranger = api_site.stranger()
    body = {"data": {"type": "organizations", "attributes": {"name": f"o-{uuid.uuid4()}", "email": "a@example.com"}}}
    change(org, "general", limit_organizations_per_user=True, default_organizations_per_user_ceiling=1)
    try:
        assert "at most 1" in refused(403, stranger.post, "organizations", body).text
        change(org, "general", default_organizations_per_user_ceiling=2)
        stranger.post("organizations", body)
        api_site.organization()  # site admins have no ceiling
    finally:
        change(org, "general", limit_organizations_per_user=False, default_organizations_per_user_ceiling=0)


def test_organizations_without_a_limit_of_their_own_have_the_sites(org):
    change(org, "general", limit_workspaces_per_organization=True, default_workspaces_per_organization_ceiling=1)
    try:
        org.workspace("one")
        refused(422, org.workspace, "two")
        org.patch(f"admin/organizations/{org.organization}", {"data": {"type": "organizations", "attributes": {"workspace-limit": 2}}})
        org.workspace("two")
    finally:
        change(org, "general", limit_workspaces_per_organization=False, default_workspaces_per_organization_ceiling=0)


def test_forks_and_statuses_follow_the_site_unless_set(org):
    workspace = org.workspace("forks")
    own = org.workspace("own", **{"vcs-fork-plans": False})
    change(org, "general", allow_speculative_plans_on_pull_requests_from_forks=True, send_passing_statuses_for_untriggered_speculative_plans=True)
    passing = "send-passing-statuses-for-untriggered-speculative-plans"
    try:
        assert org.attributes(f"workspaces/{workspace}")["vcs-fork-plans"] is True and org.attributes(f"workspaces/{own}")["vcs-fork-plans"] is False
        assert org.attributes(f"organizations/{org.organization}")[passing] is True
    finally:
        change(org, "general", allow_speculative_plans_on_pull_requests_from_forks=False, send_passing_statuses_for_untriggered_speculative_plans=False)
    assert org.attributes(f"workspaces/{workspace}")["vcs-fork-plans"] is False


# ---- the addresses of the site ----


def test_the_addresses_of_the_site(api_site):
    anybody = Api(api_site.scheduler.url, None)
    ranges = anybody.ask("GET", f"{anybody.url}/api/meta/ip-ranges")
    assert ranges.json == {name: ["127.0.0.1/32"] for name in ("api", "notifications", "sentinel", "vcs")}
    later = anybody.ask("GET", f"{anybody.url}/api/meta/ip-ranges", headers={"If-Modified-Since": "Wed, 01 Jan 2070 00:00:00 GMT"})
    assert later.status == 304 and not later.body
    assert anybody.ask("GET", f"{anybody.url}/api/meta/ip-ranges", headers={"If-Modified-Since": "Wed, 01 Jan 2020 00:00:00 GMT"}).status == 200


# ---- workspaces of all organizations ----


def test_workspaces_of_all_organizations_are_listed(org, api_site):
    name = f"w-{uuid.uuid4().hex[:12]}"
    one = org.workspace(name)
    stranger = api_site.stranger()
    two = stranger.workspace(f"{name}-b")

    def listed(**query):
        return [item["id"] for item in org.get("admin/workspaces", **query).data]

    assert set(listed(q=name)) == {one, two} and listed(q=stranger.organization) == [two]
    assert listed(q=name, sort="name") == [one, two] and listed(q=name, sort="-name") == [two, one]
    run = org.run(one, org.upload(one, {"main.tf": ""}))
    status = org.status(run)
    assert listed(q=name, **{"filter[current_run][status]": status}) == [one]
    answer = org.get("admin/workspaces", q=name, include="organization,current_run")
    assert {item["id"] for item in answer.json["included"]} == {org.organization, stranger.organization, run}
    assert answer.json["meta"]["status-counts"]["total"] >= 2
    refused(400, org.get, "admin/workspaces", sort="size")
    assert org.get(f"admin/workspaces/{two}").data["attributes"]["name"] == f"{name}-b"
    org.delete(f"admin/workspaces/{two}")
    refused(404, org.get, f"admin/workspaces/{two}")
    refused(404, stranger.get, "admin/workspaces")
