// SPDX-License-Identifier: MPL-2.0
import { Button, DialogButton } from "../../components/button.tsx";
import { CopyId } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Fact } from "../../components/fact.tsx";
import { announce } from "../../components/live_region.tsx";
import { SafeLink } from "../../components/safe_link.tsx";
import { Content } from "../../components/states.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { flag, type Resource, text } from "../../core/resource.ts";
import { navigate } from "../../core/router.ts";
import type { FieldRow } from "../../objects/fields.ts";
import { SettingsForm } from "../../objects/settings_form.tsx";
import { byPath, RelationList } from "../org_settings/relation_list.tsx";
import type { OrganizationView } from "../org_settings/settings_frame.tsx";
import { projectsOf } from "../org_settings/words.ts";
import { CallProblem } from "./call_problem.tsx";
import { Keys } from "./connection_keys.tsx";
import { ConnectionPools } from "./connection_pool.tsx";
import { RemovalText, Repositories } from "./connection_repositories.tsx";
import { type Provider, providerOf } from "./providers.ts";
import { connectionName, TokenStateText, tokenOf } from "./token_state.tsx";

const clientPath = (id: string) => `/oauth-clients/${segment(id)}`;

// What can be changed of a connection: its addresses stay, because its credential belongs to them.
function fieldsOf(provider: Provider | undefined, byOauth: boolean): readonly FieldRow[] {
	const kept = "It is never shown again. Empty: it stays as it is.";
	return [
		{ name: "name", label: "Name", kind: "text" },
		...(byOauth
			? ([
					{ name: "key", label: "Client id", kind: "text" },
					{ name: "secret", label: "New client secret", kind: "secret", hint: kept },
				] as const)
			: ([
					...(provider?.user ? [{ name: "key", label: provider.user, kind: "text" } as const] : []),
					{
						name: "oauth-token-string",
						label: `New ${(provider?.tokenWord ?? "token").toLowerCase()}`,
						kind: "secret",
						hint: `${provider?.tokenHelp ?? ""} ${kept}`.trim(),
					},
				] as const)),
		{ name: "organization-scoped", label: "All projects may use it", kind: "flag" },
	];
}

type Props = { readonly view: OrganizationView; readonly id: string; readonly reason: string | undefined };

export function Connection({ view, id, reason }: Props) {
	const of = useDocument(address(clientPath(id), { include: "oauth_tokens,projects" }));
	return (
		<>
			<p>
				<a href={location.pathname}>All VCS connections</a>
			</p>
			<Content of={of}>{() => of.item && <ConnectionParts view={view} connection={of.item} reason={reason} onDone={of.reload} />}</Content>
		</>
	);
}

type PartProps = {
	readonly view: OrganizationView;
	readonly connection: Resource;
	readonly reason: string | undefined;
	readonly onDone: () => Promise<void>;
};

function ConnectionParts({ view, connection, reason, onDone }: PartProps) {
	const provider = providerOf(text(connection, "service-provider"));
	const token = tokenOf(connection);
	const byOauth = provider?.oauth === true && text(connection, "key") !== "";
	return (
		<>
			<h2>
				<bdi>{connectionName(connection)}</bdi> <CopyId id={connection.id} />
			</h2>
			<ConnectionFacts connection={connection} />
			<TokenStateText token={token} />
			<CallProblem of={connection} />
			{byOauth && <Connect connection={connection} connected={token !== undefined} reason={reason} />}
			<h3>Settings</h3>
			<SettingsForm
				kind={{ type: "oauth-clients", fields: fieldsOf(provider, byOauth), item: clientPath }}
				item={connection}
				reason={reason}
			/>
			{!flag(connection, "organization-scoped") && (
				<RelationList
					item={connection}
					linked={projectsOf(view.path, "projects", "Projects that may use it")}
					change={byPath(`${clientPath(connection.id)}/relationships/projects`, "projects")}
					empty="None: no workspace may use it."
					reason={reason}
					onDone={onDone}
				/>
			)}
			<h3>Workers</h3>
			<ConnectionPools view={view} connection={connection} reason={reason} />
			{(provider === undefined || provider.sshKey || token) && <Keys token={token} reason={reason} />}
			<Repositories view={view} connection={connection} />
			<Removal path={view.path} connection={connection} reason={reason} />
		</>
	);
}

function ConnectionFacts({ connection }: { readonly connection: Resource }) {
	const web = text(connection, "http-url");
	const api = text(connection, "api-url");
	return (
		<dl class="facts">
			<Fact word="Provider">{text(connection, "service-provider-display-name")}</Fact>
			<Fact word="Address">
				<SafeLink href={web}>{web}</SafeLink>
				{!/^https?:/i.test(web) && <bdi>{web}</bdi>}
			</Fact>
			{api && api !== web && (
				<Fact word="API">
					<bdi>{api}</bdi>
				</Fact>
			)}
			<Fact word="Created">
				<TimeAgo time={connection.attributes["created-at"]} />
			</Fact>
		</dl>
	);
}

// isOwnPath: an address of this site, which the server answers.
function isOwnPath(path: string): boolean {
	return /^\/[^/\\]/.test(path);
}

type ConnectProps = { readonly connection: Resource; readonly connected: boolean; readonly reason: string | undefined };

// OAuth in the browser. The provider returns to the callback's address, which its application must name.
function Connect({ connection, connected, reason }: ConnectProps) {
	const path = text(connection, "connect-path");
	return (
		<>
			<p>The OAuth application at the provider needs this callback address:</p>
			<p>
				<CopyId id={text(connection, "callback-url")} />
			</p>
			{isOwnPath(path) && !reason ? (
				<p>
					<a class="button" href={path}>
						{connected ? "Connect again" : "Connect"}
					</a>
				</p>
			) : (
				<Button reason={reason ?? "the server gave no address for it"} onPress={() => undefined}>
					Connect
				</Button>
			)}
		</>
	);
}

type RemovalProps = { readonly path: string; readonly connection: Resource; readonly reason: string | undefined };

function Removal({ path, connection, reason }: RemovalProps) {
	const back = location.pathname;
	const remove = async () => {
		await change("DELETE", address(clientPath(connection.id)));
		announce("The connection is deleted");
		navigate(back);
	};
	const dialog = (close: () => void) => (
		<Dialog title={`Delete connection ${connectionName(connection)}`} confirm="Delete" danger onConfirm={remove} onClose={close}>
			<RemovalText path={path} connection={connection} />
		</Dialog>
	);
	return (
		<>
			<h3>Delete</h3>
			<p>Workspaces and policy sets that use it are disconnected. Their states, runs and settings stay, and no commit starts a run.</p>
			<DialogButton kind="danger" reason={reason} dialog={dialog}>
				Delete connection
			</DialogButton>
		</>
	);
}
