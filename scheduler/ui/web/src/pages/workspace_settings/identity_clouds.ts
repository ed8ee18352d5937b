// SPDX-License-Identifier: MPL-2.0
// What to paste at each cloud so that it trusts the runs of one workspace, and which variables to set here.
//
// A trust names subjects exactly, never with a pattern. A subject has names, which another workspace can get later: where
// the cloud can compare the workspace's id, the trust has that, too. Words in capitals, such as ACCOUNT_ID, are for the
// reader to replace.

import { argument, awsValue, command, commandReading, type Flags, gcloudList, json, pasteable, quoted } from "./identity_quoting.ts";

export type Phase = "plan" | "apply";

export type Workspace = {
	readonly id: string;
	readonly issuer: string;
	readonly organization: string;
	readonly subjects: Readonly<Record<Phase, string>>;
};

export type Trust = Workspace & {
	readonly audience: string; // empty: the cloud's own
	readonly tag: string;
};

export type Snippet = { readonly title: string; readonly text: string };
export type Variable = { readonly name: string; readonly value: string };

export type Cloud = {
	readonly kind: string; // as in the configurations of the API
	readonly name: string;
	readonly audience: string; // if no variable says another one; empty: the name of the trust itself
	readonly named?: RegExp; // audiences that are the name of the trust
	readonly https: boolean; // it takes no issuer with http
	readonly note?: string;
	readonly snippets: (trust: Trust) => readonly Snippet[];
	readonly variables: readonly (readonly [string, string])[]; // behind TFC_, without the tag
};

// Makes what trusts these subjects: those of one phase, or those of both, which is called "run".
type Make = (trust: Trust, subjects: readonly string[], phase: Phase | "run") => string;

function eachPhase(trust: Trust, word: string, make: Make): readonly Snippet[] {
	const { plan, apply } = trust.subjects;
	return [
		{ title: `${word} for plans`, text: make(trust, [plan], "plan") },
		{ title: `${word} for applies`, text: make(trust, [apply], "apply") },
		{ title: `${word} for both, in place of these two`, text: make(trust, [plan, apply], "run") },
	];
}

const oneOrMore = (items: readonly string[]) => (items.length === 1 ? (items[0] ?? "") : items);

// ---- AWS ----

const hostOf = (issuer: string) => issuer.replace(/^https?:\/\//, "");

function awsPolicy({ issuer, audience }: Trust, subjects: readonly string[]): string {
	const host = hostOf(issuer);
	return json({
		Version: "2012-10-17",
		Statement: [
			{
				Effect: "Allow",
				Principal: { Federated: `arn:aws:iam::ACCOUNT_ID:oidc-provider/${host}` },
				Action: "sts:AssumeRoleWithWebIdentity",
				Condition: {
					StringEquals: { [`${host}:aud`]: awsValue(audience), [`${host}:sub`]: oneOrMore(subjects.map(awsValue)) },
				},
			},
		],
	});
}

const aws: Cloud = {
	kind: "aws",
	name: "AWS",
	audience: "aws.workload.identity",
	https: true,
	note: "AWS takes no issuer with a port. One identity provider in an account serves all workspaces; each role has a trust policy.",
	snippets: (trust) => [
		{
			title: "The identity provider, once in an account",
			text: command(
				"aws iam create-open-id-connect-provider",
				{ "--cli-input-json": json({ Url: trust.issuer, ClientIDList: [trust.audience] }) },
				" ",
			),
		},
		...eachPhase(trust, "Trust policy of the role", awsPolicy),
	],
	variables: [
		["AWS_PROVIDER_AUTH", "true"],
		["AWS_PLAN_ROLE_ARN", "arn:aws:iam::ACCOUNT_ID:role/PLAN_ROLE"],
		["AWS_APPLY_ROLE_ARN", "arn:aws:iam::ACCOUNT_ID:role/APPLY_ROLE"],
	],
};

// ---- Azure ----

function azureCredential(trust: Trust, phase: Phase): string {
	const parameters = {
		name: `runyard-${trust.id}-${phase}`,
		issuer: trust.issuer,
		subject: trust.subjects[phase],
		audiences: [trust.audience],
	};
	return command(`az ad app federated-credential create --id ${phase.toUpperCase()}_CLIENT_ID`, { "--parameters": json(parameters) }, " ");
}

const azure: Cloud = {
	kind: "azure",
	name: "Azure",
	audience: "api://AzureADTokenExchange",
	https: true,
	note: "One application can have both credentials.",
	snippets: (trust) => [
		{ title: "Federated credential for plans", text: azureCredential(trust, "plan") },
		{ title: "Federated credential for applies", text: azureCredential(trust, "apply") },
	],
	variables: [
		["AZURE_PROVIDER_AUTH", "true"],
		["AZURE_PLAN_CLIENT_ID", "PLAN_CLIENT_ID"],
		["AZURE_APPLY_CLIENT_ID", "APPLY_CLIENT_ID"],
	],
};

// ---- Google Cloud ----

// Google's subject has at most 127 bytes, which ours can exceed. The id of a workspace is short, and stays when it is renamed.
const gcpSubject = `assertion.terraform_workspace_id+":"+assertion.terraform_run_phase`;

function gcpProvider({ issuer, organization, audience }: Trust): string {
	const flags: Flags = {
		"--project": "PROJECT_ID",
		"--location": "global",
		"--workload-identity-pool": "runyard",
		"--issuer-uri": issuer,
		"--attribute-mapping": `google.subject=${gcpSubject}`,
		"--attribute-condition": `assertion.terraform_organization_name == ${quoted(organization)}`,
	};
	const also: Flags = audience ? { "--allowed-audiences": gcloudList(audience) } : {};
	return command("gcloud iam workload-identity-pools providers create-oidc runyard", { ...flags, ...also });
}

function gcpBinding({ id }: Trust, phase: Phase): string {
	const pool = "//iam.googleapis.com/projects/PROJECT_NUMBER/locations/global/workloadIdentityPools/runyard";
	return command(`gcloud iam service-accounts add-iam-policy-binding ${phase.toUpperCase()}_SERVICE_ACCOUNT_EMAIL`, {
		"--project": "PROJECT_ID",
		"--role": "roles/iam.workloadIdentityUser",
		"--member": `principal:${pool}/subject/${id}:${phase}`,
	});
}

const gcp: Cloud = {
	kind: "gcp",
	name: "Google Cloud",
	audience: "",
	named: /^\/\/iam\.googleapis\.com\//,
	https: true,
	note: "One pool with one provider serves all workspaces of the organization. Each service account names its workspace and phase.",
	snippets: (trust) => [
		{
			title: "The pool, once",
			text: command("gcloud iam workload-identity-pools create runyard", { "--project": "PROJECT_ID", "--location": "global" }),
		},
		{ title: "Its provider, once", text: gcpProvider(trust) },
		{ title: "Service account for plans", text: gcpBinding(trust, "plan") },
		{ title: "Service account for applies", text: gcpBinding(trust, "apply") },
	],
	variables: [
		["GCP_PROVIDER_AUTH", "true"],
		["GCP_WORKLOAD_PROVIDER_NAME", "projects/PROJECT_NUMBER/locations/global/workloadIdentityPools/runyard/providers/runyard"],
		["GCP_PLAN_SERVICE_ACCOUNT_EMAIL", "PLAN_SERVICE_ACCOUNT_EMAIL"],
		["GCP_APPLY_SERVICE_ACCOUNT_EMAIL", "APPLY_SERVICE_ACCOUNT_EMAIL"],
	],
};

// ---- Vault ----

function vaultRole({ id, audience }: Trust, subjects: readonly string[], phase: Phase | "run"): string {
	return commandReading(`vault write auth/jwt/role/${argument(`${id}-${phase}`)} -`, {
		role_type: "jwt",
		user_claim: "terraform_workspace_id",
		bound_audiences: [audience],
		bound_claims_type: "string",
		bound_claims: { sub: oneOrMore(subjects), terraform_workspace_id: id },
		token_policies: ["POLICY"],
		token_ttl: "20m",
	});
}

const vault: Cloud = {
	kind: "vault",
	name: "Vault or OpenBao",
	audience: "vault.workload.identity",
	https: false,
	note: "Add oidc_discovery_ca_pem=@ca.pem to the first command if this site has a certificate of a private CA. For OpenBao, write bao in place of vault.",
	snippets: (trust) => [
		{
			title: "The issuer, once",
			text: `vault auth enable jwt\n${command("vault write auth/jwt/config", { oidc_discovery_url: trust.issuer, bound_issuer: trust.issuer })}`,
		},
		...eachPhase(trust, "Role", vaultRole),
	],
	variables: [
		["VAULT_PROVIDER_AUTH", "true"],
		["VAULT_ADDR", "https://VAULT:8200"],
		["VAULT_PLAN_ROLE", "WORKSPACE_ID-plan"],
		["VAULT_APPLY_ROLE", "WORKSPACE_ID-apply"],
	],
};

// ---- Kubernetes ----

const userPrefix = "runyard:";

function authentication({ issuer, audience, organization }: Trust): string {
	return `apiVersion: apiserver.config.k8s.io/v1beta1
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: ${quoted(issuer)}
    audiences:
    - ${quoted(audience)}
  claimValidationRules:
  - claim: terraform_organization_name
    requiredValue: ${quoted(organization)}
  claimMappings:
    username:
      claim: sub
      prefix: ${quoted(userPrefix)}
`;
}

function binding({ id, subjects }: Trust, phase: Phase, role: string): string {
	return `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: ${quoted(`runyard-${id}-${phase}`)}
  namespace: NAMESPACE
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: ${role}
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: ${quoted(userPrefix + subjects[phase])}
`;
}

const kubernetes: Cloud = {
	kind: "kubernetes",
	name: "Kubernetes",
	audience: "kubernetes",
	https: true,
	note: "The file of kube-apiserver's --authentication-config, for Kubernetes 1.30 or later. Its issuer has a member certificateAuthority for a private CA.",
	snippets: (trust) => [
		{ title: "The issuer, once in a cluster", text: authentication(trust) },
		{ title: "Rights of plans", text: binding(trust, "plan", "view") },
		{ title: "Rights of applies", text: binding(trust, "apply", "edit") },
	],
	variables: [
		["KUBERNETES_PROVIDER_AUTH", "true"],
		["KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE", "AUDIENCE"],
	],
};

// ---- HCP ----

function hcpProvider(trust: Trust, subjects: readonly string[], phase: Phase | "run"): string {
	const equals = subjects.map((subject) => `jwt_claims.sub == ${quoted(subject)}`).join(" or ");
	const also: Flags = trust.audience ? { "--allowed-audience": trust.audience } : {};
	return command(`hcp iam workload-identity-providers create-oidc runyard-${phase}`, {
		"--service-principal": `iam/project/HCP_PROJECT_ID/service-principal/${phase.toUpperCase()}_PRINCIPAL`,
		"--issuer": trust.issuer,
		"--conditional-access": `jwt_claims.terraform_workspace_id == ${quoted(trust.id)} and (${equals})`,
		...also,
	});
}

const hcpName = (phase: Phase) =>
	`iam/project/HCP_PROJECT_ID/service-principal/${phase.toUpperCase()}_PRINCIPAL/workload-identity-provider/runyard-${phase}`;

const hcp: Cloud = {
	kind: "hcp",
	name: "HCP",
	audience: "",
	named: /^iam\//,
	https: true,
	snippets: (trust) => eachPhase(trust, "Identity provider", hcpProvider),
	variables: [
		["HCP_PROVIDER_AUTH", "true"],
		["HCP_PLAN_PROVIDER_RESOURCE_NAME", hcpName("plan")],
		["HCP_APPLY_PROVIDER_RESOURCE_NAME", hcpName("apply")],
	],
};

export const clouds: readonly Cloud[] = [aws, azure, gcp, vault, kubernetes, hcp];

// ---- for all of them ----

export function variablesOf(cloud: Cloud, { id, audience, tag }: Trust): readonly Variable[] {
	const end = tag && `_${tag}`;
	return cloud.variables.map(([name, value]) => ({
		name: `TFC_${name}${end}`,
		value: value.replace("WORKSPACE_ID", id).replace(/^AUDIENCE$/, () => audience),
	}));
}

// The audience that a cloud must expect. A value that may not be read, or that is unsafe to paste, is for the reader to enter.
export const unknownAudience = "AUDIENCE";
const sensitive = "(sensitive)"; // as the API shows the value of a sensitive variable

export function audienceOf(cloud: Cloud, configured: string | undefined): string {
	if (configured === undefined || cloud.named?.test(configured)) {
		return cloud.audience;
	}
	return configured !== sensitive && pasteable(configured) ? configured : unknownAudience;
}

const privateHost =
	/^([^.:]+|.*\.(local|localhost|internal)|(10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01]))\..*|\[(::1|f[cd].*|fe[89ab].*)\])$/;

// Says why verifiers can't use the issuer, as far as its address shows. undefined: they can.
export function issuerProblem(issuer: string): string | undefined {
	const verifiers = clouds.filter(({ https }) => https).map(({ name }) => name);
	const names = `${verifiers.slice(0, -1).join(", ")} and ${verifiers.at(-1)}`;
	if (!issuer.startsWith("https://")) {
		return `${names} need an issuer with https that they can reach, and this site's address begins with http.`;
	}
	return privateHost.test(new URL(issuer).hostname)
		? "AWS, Azure, Google Cloud and HCP need an issuer that they can reach, and this site's address is private."
		: undefined;
}
