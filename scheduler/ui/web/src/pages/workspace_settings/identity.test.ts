// SPDX-License-Identifier: MPL-2.0
// What is to be pasted means what it says to a shell, to JSON and to YAML, whatever an audience contains.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { audienceOf, type Cloud, clouds, issuerProblem, type Trust, unknownAudience, variablesOf } from "./identity_clouds.ts";
import { argument, awsValue, gcloudList, pasteable } from "./identity_quoting.ts";

const subject = "organization:acme:project:Default Project:workspace:net-prod:run_phase:";
const subjects = { plan: `${subject}plan`, apply: `${subject}apply` };
const trust: Trust = { id: "ws-1", issuer: "https://runyard.example.com", organization: "acme", subjects, audience: "", tag: "" };
const hostile = `it's "a" \\ $(touch x) \`y\` \${aws:z} *,?; EOF !1 #`;

function cloudOf(kind: string): Cloud {
	const cloud = clouds.find((row) => row.kind === kind);
	assert.ok(cloud);
	return cloud;
}

function textsOf(kind: string, audience = cloudOf(kind).audience): string[] {
	return cloudOf(kind)
		.snippets({ ...trust, audience })
		.map(({ text }) => text);
}

// The arguments and the standard input of each command in the text, as the shell gives them to programs.
function run(shell: string, text: string): { words: string[]; input: string }[] {
	const show = 'show() { printf "%s\\037" "$@"; printf "\\036"; [ -t 0 ] || cat; printf "\\035"; }\n';
	const names = ["aws", "az", "gcloud", "vault", "hcp"].map((name) => `${name}() { show ${name} "$@"; }\n`);
	const done = spawnSync(shell, ["-c", show + names.join("") + text], { input: "", encoding: "utf8" });
	assert.equal(done.status, 0, done.stderr);
	assert.equal(done.stderr, "");
	return done.stdout
		.split("\x1d")
		.slice(0, -1)
		.map((one) => one.split("\x1e"))
		.map(([words = "", input = ""]) => ({ words: words.split("\x1f").slice(0, -1), input }));
}

const shells = ["sh", "bash"];
const commands = ["azure", "gcp", "vault", "hcp"];

test("each command has its arguments in each shell", () => {
	for (const shell of shells) {
		for (const kind of commands) {
			for (const text of textsOf(kind, hostile)) {
				for (const { words } of run(shell, text)) {
					assert.ok(!words.some((word) => word.endsWith(" ") || word === "\\"), JSON.stringify(words));
				}
			}
		}
	}
});

test("a trust policy of AWS names the subject and the audience exactly", () => {
	const host = "runyard.example.com";
	const [provider = "", ...policies] = textsOf("aws");
	assert.deepEqual(JSON.parse(run("sh", provider)[0]?.words.at(-1) ?? ""), { Url: trust.issuer, ClientIDList: ["aws.workload.identity"] });
	const conditions = policies.map((text) => JSON.parse(text).Statement[0].Condition);
	assert.deepEqual(
		conditions.map(({ StringEquals: equals }) => equals[`${host}:sub`]),
		[subjects.plan, subjects.apply, [subjects.plan, subjects.apply]],
	);
	for (const condition of conditions) {
		assert.deepEqual(Object.keys(condition), ["StringEquals"]);
		assert.equal(condition.StringEquals[`${host}:aud`], "aws.workload.identity");
	}
	assert.equal(JSON.parse(policies[0] ?? "").Statement[0].Principal.Federated, `arn:aws:iam::ACCOUNT_ID:oidc-provider/${host}`);
});

test("a variable of AWS's policies in an audience stays text", () => {
	assert.equal(awsValue(`a\${aws:username}`), `a\${$}{aws:username}`);
	const [provider = "", policy = ""] = textsOf("aws", hostile);
	assert.equal(JSON.parse(policy).Statement[0].Condition.StringEquals["runyard.example.com:aud"], awsValue(hostile));
	for (const shell of shells) {
		assert.deepEqual(JSON.parse(run(shell, provider)[0]?.words.at(-1) ?? "").ClientIDList, [hostile]);
	}
});

test("Azure has one credential for each phase", () => {
	for (const shell of shells) {
		const found = textsOf("azure", hostile).map((text) => run(shell, text)[0]?.words ?? []);
		assert.deepEqual(
			found.map((words) => JSON.parse(words.at(-1) ?? "")),
			(["plan", "apply"] as const).map((phase) => ({
				name: `runyard-ws-1-${phase}`,
				issuer: trust.issuer,
				subject: subjects[phase],
				audiences: [hostile],
			})),
		);
		assert.deepEqual(found[0]?.slice(0, 7), ["az", "ad", "app", "federated-credential", "create", "--id", "PLAN_CLIENT_ID"]);
	}
});

test("Google Cloud maps the workspace's id, since its subjects are short", () => {
	const long = { ...trust, organization: "o".repeat(90) };
	const [, provider = "", plan = "", apply = ""] = cloudOf("gcp")
		.snippets(long)
		.map(({ text }) => run("sh", text)[0]?.words.join("\n"));
	assert.match(provider, /^--issuer-uri=https:\/\/runyard\.example\.com$/m);
	assert.match(provider, /^--attribute-mapping=google\.subject=assertion\.terraform_workspace_id\+":"\+assertion\.terraform_run_phase$/m);
	assert.match(provider, /^--attribute-condition=assertion\.terraform_organization_name == "o{90}"$/m);
	assert.doesNotMatch(provider, /allowed-audiences/);
	assert.match(plan, /\/workloadIdentityPools\/runyard\/subject\/ws-1:plan$/m);
	assert.match(apply, /\/workloadIdentityPools\/runyard\/subject\/ws-1:apply$/m);
});

test("an audience for Google Cloud is one item of a list", () => {
	assert.equal(gcloudList("mine"), "mine");
	assert.equal(gcloudList("a,b"), "^;^a,b");
	assert.equal(gcloudList("^;^a"), "^|^^;^a");
	const [, provider = ""] = textsOf("gcp", hostile);
	assert.ok(run("bash", provider)[0]?.words.includes(`--allowed-audiences=${gcloudList(hostile)}`));
});

test("a role of Vault names subjects without patterns", () => {
	const [issuer = "", ...roles] = textsOf("vault", hostile);
	assert.deepEqual(
		run("sh", issuer).map(({ words }) => words),
		[
			["vault", "auth", "enable", "jwt"],
			["vault", "write", "auth/jwt/config", `oidc_discovery_url=${trust.issuer}`, `bound_issuer=${trust.issuer}`],
		],
	);
	for (const shell of shells) {
		const found = roles.map((text) => run(shell, text)[0]).map((one) => ({ words: one?.words, role: JSON.parse(one?.input ?? "") }));
		assert.deepEqual(
			found.map(({ words }) => words),
			["plan", "apply", "run"].map((phase) => ["vault", "write", `auth/jwt/role/ws-1-${phase}`, "-"]),
		);
		assert.deepEqual(
			found.map(({ role }) => role.bound_claims.sub),
			[subjects.plan, subjects.apply, [subjects.plan, subjects.apply]],
		);
		assert.ok(found.every(({ role }) => role.bound_claims_type === "string" && role.bound_audiences[0] === hostile));
		assert.ok(found.every(({ role }) => role.bound_claims.terraform_workspace_id === trust.id));
	}
});

test("Kubernetes has the texts in quotation marks", () => {
	const [issuer = "", plan = "", apply = ""] = textsOf("kubernetes", hostile);
	assert.ok(issuer.includes(`    - ${JSON.stringify(hostile)}\n`));
	assert.ok(issuer.includes('    requiredValue: "acme"\n'));
	assert.ok(plan.includes(`  name: "runyard:${subjects.plan}"\n`) && plan.includes("  name: view\n"));
	assert.ok(apply.includes(`  name: "runyard:${subjects.apply}"\n`) && apply.includes("  name: edit\n"));
});

test("HCP compares the workspace and the subject", () => {
	const access = textsOf("hcp").map((text) => run("sh", text)[0]?.words.find((word) => word.startsWith("--conditional-access=")));
	const equals = (phase: "plan" | "apply") => `jwt_claims.sub == "${subjects[phase]}"`;
	assert.deepEqual(
		access,
		[equals("plan"), equals("apply"), `${equals("plan")} or ${equals("apply")}`].map(
			(text) => `--conditional-access=jwt_claims.terraform_workspace_id == "ws-1" and (${text})`,
		),
	);
});

test("no text has a pattern for subjects", () => {
	for (const { kind } of clouds) {
		assert.ok(
			textsOf(kind).every((text) => !/[*?]|StringLike|glob\b/.test(text)),
			kind,
		);
	}
});

test("variables have the tag and the workspace's values", () => {
	assert.deepEqual(variablesOf(cloudOf("vault"), { ...trust, tag: "V2" }), [
		{ name: "TFC_VAULT_PROVIDER_AUTH_V2", value: "true" },
		{ name: "TFC_VAULT_ADDR_V2", value: "https://VAULT:8200" },
		{ name: "TFC_VAULT_PLAN_ROLE_V2", value: "ws-1-plan" },
		{ name: "TFC_VAULT_APPLY_ROLE_V2", value: "ws-1-apply" },
	]);
	const kubernetes = variablesOf(cloudOf("kubernetes"), { ...trust, audience: "$& mine" });
	assert.deepEqual(kubernetes.at(-1), { name: "TFC_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE", value: "$& mine" });
});

test("the audience is that of the variables if it may be shown and pasted", () => {
	assert.equal(audienceOf(cloudOf("aws"), undefined), "aws.workload.identity");
	assert.equal(audienceOf(cloudOf("aws"), "mine"), "mine");
	assert.equal(audienceOf(cloudOf("gcp"), "//iam.googleapis.com/projects/1/x"), "");
	assert.equal(audienceOf(cloudOf("gcp"), "mine"), "mine");
	assert.equal(audienceOf(cloudOf("hcp"), "iam/project/1"), "");
	for (const hidden of ["(sensitive)", "", "a\nb", "a\u0003b", "a\u202eb", "a\u2028b", "a\u200bb"]) {
		assert.equal(audienceOf(cloudOf("vault"), hidden), unknownAudience, JSON.stringify(hidden));
	}
	assert.ok(pasteable(hostile));
});

test("an argument that a shell would change is quoted", () => {
	assert.equal(argument("a:b/c=d"), "a:b/c=d");
	for (const word of ["=ls", "~", "a b", "", "*", "{a,b}", "it's"]) {
		assert.deepEqual(run("bash", `aws ${argument(word)}`)[0]?.words, ["aws", word]);
	}
});

test("an issuer that verifiers can't reach is named", () => {
	assert.match(
		issuerProblem("http://runyard.example.com") ?? "",
		/^AWS, Azure, Google Cloud, Kubernetes and HCP need an issuer with https/,
	);
	for (const host of ["localhost:8443", "runyard", "10.1.2.3", "172.20.0.1", "192.168.1.1", "[::1]", "[fd00::1]", "runyard.internal"]) {
		assert.match(issuerProblem(`https://${host}`) ?? "", /this site's address is private/, host);
	}
	for (const host of ["runyard.example.com", "203.0.113.7", "172.32.0.1", "[2001:db8::1]"]) {
		assert.equal(issuerProblem(`https://${host}`), undefined, host);
	}
});
