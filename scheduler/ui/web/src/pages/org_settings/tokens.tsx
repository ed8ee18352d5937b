// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { DialogButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorPanel } from "../../components/error_panel.tsx";
import { Skeleton } from "../../components/states.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change } from "../../core/api.ts";
import { useDelayed, useDocument } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { SecretNote } from "../../objects/object_list.tsx";
import { type OrganizationView, SettingsFrame, without } from "./settings_frame.tsx";
import { tokenKind } from "./token_kind.tsx";
import { TokenLimits } from "./token_limits.tsx";
import { UnusedTokens } from "./unused_tokens.tsx";

const uses = [
	{ key: "", title: "Organization token", about: "It manages the organization, but can't queue runs.", parameters: {} },
	{
		key: "audit-trails",
		title: "Audit trail token",
		about: "It only reads the audit trail.",
		parameters: { token: "audit-trails" },
	},
] as const;

export default function Tokens({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="tokens">
			{(view) => (
				<>
					{uses.map((use) => (
						<OrganizationToken key={use.key} view={view} use={use} />
					))}
					{view.may("can-update-api-token") && (
						<>
							<TokenLimits view={view} />
							<UnusedTokens view={view} />
						</>
					)}
					<h2>Other tokens</h2>
					<ul>
						<li>
							<a href={`${pathTo("/app/:org/settings", { org: view.org })}/teams`}>Teams</a> have tokens of their own.
						</li>
						<li>
							<a href={`${pathTo("/app/:org/settings", { org: view.org })}/agent-pools`}>Agent pools</a> have the tokens of their workers.
						</li>
						<li>
							<a href="/app/settings/tokens">Your tokens</a> act as you.
						</li>
					</ul>
				</>
			)}
		</SettingsFrame>
	);
}

// One token, which a new one replaces.
function OrganizationToken({ view, use }: { readonly view: OrganizationView; readonly use: (typeof uses)[number] }) {
	const reason = without(view, "can-update-api-token", "manage the organization");
	const url = address(`${view.path}/authentication-token`, use.parameters);
	const of = useDocument(reason ? undefined : address(`${view.path}/authentication-tokens`, use.parameters));
	const token = of.items[0];
	const late = useDelayed(of.loading);
	const [secret, setSecret] = useState("");
	const create = async () => {
		const answer = await change("POST", url, { data: { type: tokenKind.type, attributes: {} } });
		setSecret(text((answer.data ?? undefined) as Resource | undefined, "token"));
		await of.reload();
	};
	const revoke = async () => {
		await change("DELETE", url);
		await of.reload();
	};
	const dialog = (word: string, confirm: string, text: string, action: () => Promise<void>) => (close: () => void) => (
		<Dialog
			title={`${word} the ${use.title.toLowerCase()}`}
			confirm={confirm}
			danger={action === revoke}
			onConfirm={action}
			onClose={close}
		>
			<p>{text}</p>
		</Dialog>
	);
	return (
		<section aria-label={use.title}>
			<h2>{use.title}</h2>
			<p>{use.about}</p>
			{secret && <SecretNote kind={tokenKind} secret={secret} onDone={() => setSecret("")} />}
			{late && <Skeleton lines={1} />}
			{of.error && <ErrorPanel error={of.error} onRetry={of.reload} />}
			{token && (
				<p>
					Created <TimeAgo time={token.attributes["created-at"]} />,{" "}
					{token.attributes["last-used-at"] ? (
						<>
							last used <TimeAgo time={token.attributes["last-used-at"]} />
						</>
					) : (
						"never used"
					)}
					.
				</p>
			)}
			<div class="actions">
				<DialogButton reason={reason} dialog={dialog("Create", "Create token", "A token that exists stops working.", create)}>
					{token ? "Replace token" : "Create token"}
				</DialogButton>
				{token && <DialogButton dialog={dialog("Revoke", "Revoke", tokenKind.removes, revoke)}>Revoke token</DialogButton>}
			</div>
		</section>
	);
}
