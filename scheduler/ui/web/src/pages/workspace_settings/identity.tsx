// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { CopyButton, CopyId } from "../../components/copy.tsx";
import { Fact } from "../../components/fact.tsx";
import { SelectField } from "../../components/field.tsx";
import { Fold } from "../../components/fold.tsx";
import { Content } from "../../components/states.tsx";
import { type Column, PlainTable } from "../../components/table.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument, useLive } from "../../core/hooks.ts";
import { list, type Members, membersOf, type Resource, text, textIn } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import {
	audienceOf,
	type Cloud,
	clouds,
	issuerProblem,
	type Snippet,
	unknownAudience,
	type Variable,
	variablesOf,
	type Workspace,
} from "./identity_clouds.ts";
import { SettingsFrame } from "./settings_frame.tsx";

export default function Identity({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="identity">
			{(view) => <WorkspaceIdentity view={view} />}
		</SettingsFrame>
	);
}

function WorkspaceIdentity({ view }: { readonly view: WorkspaceView }) {
	const { id } = view.workspace;
	const identity = useDocument(address(`/workspaces/${segment(id)}/workload-identity`));
	useLive([`workspace:${id}`], () => void identity.reload());
	return (
		<>
			<p>
				Each plan and each apply of this workspace can prove who it is with a signed token. A cloud that trusts the issuer gives it
				credentials for a short time, so no key of the cloud is stored here.
			</p>
			<Content of={identity}>{() => identity.item && <Trusts identity={identity.item} />}</Content>
		</>
	);
}

function Trusts({ identity }: { readonly identity: Resource }) {
	const issuer = text(identity, "issuer");
	const workspace: Workspace = {
		id: identity.id,
		issuer,
		organization: text(identity, "organization-name"),
		subjects: { plan: text(identity, "plan-subject"), apply: text(identity, "apply-subject") },
	};
	const configurations = list(identity, "configurations").map(membersOf);
	const problem = text(identity, "problem");
	const unreachable = issuerProblem(issuer);
	return (
		<>
			<dl class="facts">
				<Fact word="Issuer">
					<CopyId id={issuer} />
				</Fact>
				<Fact word="Keys of the issuer">
					<CopyId id={`${issuer}/.well-known/jwks`} />
				</Fact>
				<Fact word="Subject of plans">
					<CopyId id={workspace.subjects.plan} />
				</Fact>
				<Fact word="Subject of applies">
					<CopyId id={workspace.subjects.apply} />
				</Fact>
			</dl>
			{unreachable && <p class="note">{unreachable}</p>}
			<h3>Credentials of this workspace</h3>
			{problem && (
				<p class="note failure">
					The next run will fail: <span class="as-written">{problem}</span>
				</p>
			)}
			<Configurations configurations={configurations} />
			<h3>Set up the other side</h3>
			<p>Replace the words in capitals. Names, projects and organizations are compared exactly: after a change of one, paste again.</p>
			{clouds.map((cloud) => (
				<CloudTrust key={cloud.kind} cloud={cloud} workspace={workspace} configurations={configurations.filter(ofCloud(cloud))} />
			))}
		</>
	);
}

const ofCloud = (cloud: Cloud) => (configuration: Members) => textIn(configuration, "kind") === cloud.kind;
const tagWord = (tag: string) => tag || "None";

// ---- what the variables of the workspace ask for ----

const columns: readonly Column<Members>[] = [
	{ key: "product", head: "For", cell: (row) => textIn(row, "product") },
	{ key: "tag", head: "Tag", cell: (row) => <span class="value">{tagWord(textIn(row, "tag"))}</span> },
	{ key: "variable", head: "Variable", cell: (row) => <span class="value">{textIn(row, "variable")}</span> },
	{
		key: "audience",
		head: "Audience",
		cell: (row) =>
			row.audience === null ? <span class="muted">By its login at Vault</span> : <span class="value">{textIn(row, "audience")}</span>,
	},
];

function Configurations({ configurations }: { readonly configurations: readonly Members[] }) {
	if (configurations.length === 0) {
		return <p class="muted">None. Variables of the category env ask for them, such as TFC_AWS_PROVIDER_AUTH.</p>;
	}
	return (
		<PlainTable
			caption="Credentials of this workspace"
			class="rows stack"
			columns={columns}
			rows={configurations}
			keyOf={(row) => textIn(row, "variable")}
		/>
	);
}

// ---- what to paste ----

type CloudProps = { readonly cloud: Cloud; readonly workspace: Workspace; readonly configurations: readonly Members[] };

function CloudTrust(props: CloudProps) {
	return (
		<Fold summary={props.cloud.name} open={props.configurations.length > 0} class="cloud">
			{() => <CloudTexts {...props} />}
		</Fold>
	);
}

function CloudTexts({ cloud, workspace, configurations }: CloudProps) {
	const [chosen, setChosen] = useState("");
	const configuration = configurations.find((row) => textIn(row, "tag") === chosen) ?? configurations[0];
	const tag = configuration ? textIn(configuration, "tag") : "";
	const audience = audienceOf(cloud, configuration && textIn(configuration, "audience"));
	const trust = { ...workspace, tag, audience };
	return (
		<>
			{configurations.length > 1 && (
				<SelectField
					label={`Tag for ${cloud.name}`}
					options={configurations.map((row) => [textIn(row, "tag"), tagWord(textIn(row, "tag"))])}
					value={tag}
					onValue={setChosen}
				/>
			)}
			{cloud.note && <p>{cloud.note}</p>}
			{audience === unknownAudience && <p class="note">The audience can't be shown here: write it in place of {unknownAudience}.</p>}
			{cloud.snippets(trust).map((snippet) => (
				<PasteBox key={snippet.title} cloud={cloud} snippet={snippet} />
			))}
			<h4>Variables to set here</h4>
			<p>Category env. One with RUN in place of PLAN and APPLY serves both.</p>
			<VariableTable cloud={cloud} variables={variablesOf(cloud, trust)} />
		</>
	);
}

function PasteBox({ cloud, snippet }: { readonly cloud: Cloud; readonly snippet: Snippet }) {
	return (
		<section class="paste" aria-label={`${cloud.name}: ${snippet.title}`}>
			<div class="paste-head">
				<h4>{snippet.title}</h4>
				<CopyButton text={snippet.text} label={`Copy ${cloud.name}: ${snippet.title}`} />
			</div>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it */}
			<pre tabIndex={0}>{snippet.text}</pre>
		</section>
	);
}

const variableColumns: readonly Column<Variable>[] = [
	{ key: "name", head: "Variable", cell: ({ name }) => <CopyId id={name} /> },
	{ key: "value", head: "Value", cell: ({ value }) => <span class="value">{value}</span> },
];

function VariableTable({ cloud, variables }: { readonly cloud: Cloud; readonly variables: readonly Variable[] }) {
	return (
		<PlainTable
			caption={`Variables for ${cloud.name}`}
			class="rows stack"
			columns={variableColumns}
			rows={variables}
			keyOf={({ name }) => name}
		/>
	);
}
