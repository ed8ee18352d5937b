// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { stages } from "generated/statuses";
import { siteView } from "./api.ts";
import { waitAfter } from "./connection.ts";
import { ApiError, problemsOf } from "./errors.ts";
import { absolute, ago, counted, duration, momentOf, moneyDelta, size } from "./format.ts";
import { helpFor } from "./help.ts";
import { themeOf } from "./preferences.ts";
import { pathTo, patternMatch } from "./router.ts";
import { runTitle } from "./run_title.ts";
import { sessionOf } from "./session.ts";
import { statusRow, statusTone, statusWord, workspaceGroups } from "./status.ts";
import { Store } from "./store.ts";
import { titleOf } from "./title.ts";

test("durations have two units at most, and tenths below a second", () => {
	assert.deepEqual([4000, 64_000, 7_500_000, 273_600_000].map(duration), ["4s", "1m 04s", "2h 05m", "3d 04h"]);
	assert.deepEqual([999, 400, 20, 0, -5, 1000].map(duration), ["0.9 s", "0.4 s", "0.1 s", "0s", "0s", "1s"]);
});

test("times are relative for a month, then dates", () => {
	const now = Date.UTC(2026, 10, 23, 12);
	const shown = [1, 30, 200, 7300, 90_000, 864_000, 5_184_000].map((seconds) => ago(now - seconds * 1000, now));
	assert.deepEqual(shown, ["now", "30 s ago", "3 min ago", "2 h ago", "1 day ago", "10 days ago", "2026-09-24"]);
	assert.equal(absolute(now, true), "2026-11-23 12:00:00 UTC");
});

test("a day begins and ends in the zone whose times are shown", () => {
	const zone = process.env.TZ;
	process.env.TZ = "America/New_York";
	assert.equal(momentOf("2026-11-23", "00:00:00", false), "2026-11-23T05:00:00.000Z");
	assert.equal(momentOf("2026-11-23", "23:59:59.999", true), "2026-11-23T23:59:59.999Z");
	assert.equal(momentOf("", "00:00:00", false), undefined);
	if (zone === undefined) {
		delete process.env.TZ;
	} else {
		process.env.TZ = zone;
	}
});

test("each page has the section of the longest pattern that begins its address", () => {
	const sections = [
		"/app",
		"/app/acme/workspaces/net",
		"/app/acme/workspaces/net/runs/run-1",
		"/app/acme/workspaces/net/settings/general",
	].map(helpFor);
	assert.deepEqual(sections, [
		"/app/docs",
		"/app/docs/users#your-first-workspace",
		"/app/docs/users#read-a-run",
		"/app/docs/platform#how-do-i-organize-workspaces",
	]);
	assert.deepEqual(["/app/admin/scim", "/app/admin/users", "/app/settings/theme"].map(helpFor), [
		"/app/docs/deploy-identity-scim",
		"/app/docs/operators",
		"/app/docs/deploy-identity-your-account",
	]);
	assert.equal(helpFor("/app/acme/elsewhere"), "/app/docs");
});

test("numbers have a unit", () => {
	assert.deepEqual([counted(1, "run"), counted(1200, "run")], ["1 run", "1,200 runs"]);
	assert.deepEqual([size(10), size(2048), size(3 << 20), size(200 * (1 << 20))], ["10 B", "2.0 KiB", "3.0 MiB", "200 MiB"]);
	assert.deepEqual([moneyDelta("12.5"), moneyDelta("-3")], ["+$12.50", "−$3.00"]);
});

test("a pattern gives decoded values, and pathTo encodes them", () => {
	assert.deepEqual(patternMatch("/app/:org/workspaces/:ws", "/app/acme/workspaces/a%20b"), { org: "acme", ws: "a b" });
	assert.equal(pathTo("/app/:org/workspaces/:ws", { org: "acme", ws: "a/b" }), "/app/acme/workspaces/a%2Fb");
	assert.equal(patternMatch("/app/:org/workspaces", "/app//workspaces"), undefined);
	assert.equal(patternMatch("/app/:org/workspaces", "/app/%/workspaces"), undefined);
	assert.deepEqual(patternMatch("/app", "/app/"), {});
});

test("the tables give each status a word, and the stages their order", () => {
	assert.equal(statusRow("planned")?.label, "Needs Confirmation");
	assert.equal(statusWord("applied"), "Applied");
	assert.equal(statusWord("errored", "Plan Errored"), "Plan Errored");
	assert.equal(statusWord("unheard_of"), "unheard_of");
	assert.deepEqual(
		[statusTone("cost_estimated", true), statusTone("cost_estimated"), statusTone("errored"), statusTone("discarded", true)],
		["wait", "running", "failure", "muted"],
	);
	assert.equal(
		stages.map((stage) => stage.name).join(" "),
		"fetch pre_plan plan post_plan opa cost sentinel confirm pre_apply apply post_apply",
	);
	for (const name of workspaceGroups.flatMap((group) => group.names)) {
		assert.ok(statusRow(name), name);
	}
});

test("an included object without relationships keeps those that are known", () => {
	const store = new Store();
	const link = { type: "runs", id: "run-1" };
	store.put({ data: { type: "workspaces", id: "ws-1", attributes: { name: "w" }, relationships: { "current-run": { data: link } } } });
	store.put({ data: { ...link, attributes: {} }, included: [{ type: "workspaces", id: "ws-1", attributes: { name: "v" } }] });
	const workspace = store.get({ type: "workspaces", id: "ws-1" });
	assert.equal(workspace?.attributes.name, "v");
	assert.equal(store.one(workspace, "current-run")?.id, "run-1");
});

test("the errors of the API stand at their fields", () => {
	const body = {
		errors: [
			{ title: "invalid attribute", detail: "Name can't be blank", source: { pointer: "/data/attributes/name" } },
			{ title: "other" },
		],
	};
	const error = new ApiError(422, problemsOf(body));
	assert.equal(error.at("/data/attributes/name"), "Name can't be blank");
	assert.deepEqual(
		error.outside(["/data/attributes/name"]).map((problem) => problem.title),
		["other"],
	);
	assert.deepEqual(problemsOf("<html>"), []);
});

test("a page's text gives the session", () => {
	assert.deepEqual(sessionOf('<meta name="csrf" content="abc">\n<meta name="user-id" content="user-1">'), {
		csrf: "abc",
		userId: "user-1",
		username: "",
		impersonator: "",
		siteAdmin: false,
		build: "",
	});
});

test("waits double up to 30 s, with jitter", () => {
	assert.deepEqual(
		[1, 2, 3, 9].map((failed) => waitAfter(failed, 1)),
		[1000, 2000, 4000, 30_000],
	);
	assert.equal(waitAfter(9, 0), 15_000);
});

test("the theme is read from the cookies, the state stands first in the title", () => {
	assert.deepEqual(["runyard_theme=dark; a=b", "a=b; runyard_theme=light", "runyard_theme=pink", ""].map(themeOf), [
		"dark",
		"light",
		"system",
		"system",
	]);
	assert.equal(titleOf(["net-prod"], "Applying"), "● Applying · net-prod · Runyard");
});

test("the title of a run is its message, but not the one that each run of the CLI has", () => {
	const run = (message: string, source: string) => ({ type: "runs", id: "run-0123456789abcdef", attributes: { message, source } });
	assert.deepEqual(
		[run("Add one", "terraform+cloud"), run("Queued manually using Terraform", "terraform+cloud"), run("", "tfe-api")].map(runTitle),
		["Add one", "CLI run run-01234567…", "API run run-01234567…"],
	);
	assert.equal(runTitle(run("\n Fix the gateway \r\n\r\nIt had no route.", "tfe-configuration-version")), "Fix the gateway");
});

test("answers for site admins do not replace the objects of an organization", () => {
	const document = {
		data: [{ type: "organizations", id: "acme", attributes: {} }],
		included: [{ type: "users", id: "u", attributes: {} }],
	};
	const shown = siteView("/api/v2/admin/organizations?q=a", document);
	assert.deepEqual([shown.data, shown.included], [[{ type: "admin-organizations", id: "acme", attributes: {} }], document.included]);
	assert.equal(siteView("/api/v2/organizations/admin/runs", document), document);
	assert.deepEqual(siteView("/api/v2/admin/users/u", { data: null }), { data: null });
});
