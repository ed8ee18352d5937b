// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { CopyId } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { Fact } from "../../components/fact.tsx";
import { announce } from "../../components/live_region.tsx";
import { SearchField } from "../../components/search_field.tsx";
import { Content } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { address, change, segment } from "../../core/api.ts";
import { type Loaded, useAttempt, useDocument, useQuery } from "../../core/hooks.ts";
import { flag, type Resource, text } from "../../core/resource.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { tokenKind } from "../org_settings/token_kind.tsx";
import { AdminFrame } from "./admin_frame.tsx";
import { groupKind } from "./scim_groups.tsx";

const settingsUrl = address("/admin/scim-settings");

const scimTokens = {
	...tokenKind,
	item: (id: string) => `/admin/scim-tokens/${segment(id)}`,
	empty: "No tokens. The identity provider needs one.",
	removes: "The identity provider that uses the token is refused from then on.",
	fields: [
		{ name: "description", label: "Description", kind: "text", only: "create", hint: "Which identity provider uses the token." },
		{ name: "expired-at", label: "Expires", kind: "time", only: "create", hint: "In 29 to 365 days. Empty: in 365 days." },
	],
} as const;

function DisableDialog({ onDone, onClose }: { readonly onDone: () => Promise<void>; readonly onClose: () => void }) {
	return (
		<Dialog
			title="Disable provisioning"
			confirm="Disable provisioning"
			danger
			onConfirm={async () => {
				await change("DELETE", settingsUrl);
				announce("Provisioning is disabled");
				await onDone();
			}}
			onClose={onClose}
		>
			<p>
				Groups, mappings of teams and tokens are deleted. Accounts and the members of teams stay, and people manage them from then on. This
				can't be undone.
			</p>
		</Dialog>
	);
}

function stateOf(settings: Resource) {
	if (!flag(settings, "enabled")) {
		return <Mark tone="wait">Disabled</Mark>;
	}
	return flag(settings, "paused") ? <Mark tone="wait">Paused</Mark> : <Mark tone="success">Enabled</Mark>;
}

function Switches({ settings, reload }: { readonly settings: Resource; readonly reload: () => Promise<void> }) {
	const [asking, setAsking] = useState(false);
	const { error, attempt } = useAttempt();
	const enabled = flag(settings, "enabled");
	const paused = flag(settings, "paused");
	const send = async (attributes: object, said: string) => {
		await attempt(async () => {
			await change("PATCH", settingsUrl, { data: { type: "scim-settings", attributes } });
			announce(said);
		});
		await reload();
	};
	return (
		<>
			<Problems of={error} />
			{enabled ? (
				<>
					<Button onPress={() => send({ paused: !paused }, paused ? "Provisioning is resumed" : "Provisioning is paused")}>
						{paused ? "Resume" : "Pause"}
					</Button>
					<Button onPress={() => setAsking(true)}>Disable</Button>
				</>
			) : (
				<Button kind="primary" onPress={() => send({ enabled: true }, "Provisioning is enabled")}>
					Enable
				</Button>
			)}
			{asking && <DisableDialog onDone={reload} onClose={() => setAsking(false)} />}
		</>
	);
}

function Settings({ of: loaded }: { readonly of: Loaded }) {
	return (
		<Content of={loaded}>
			{() =>
				loaded.item && (
					<>
						<dl class="facts">
							<Fact word="State">{stateOf(loaded.item)}</Fact>
							<Fact word="Base URL">
								<CopyId id={`${location.origin}/scim/v2`} />
							</Fact>
							<Fact word="Group of site admins">
								{text(loaded.item, "site-admin-group-display-name") || <span class="muted">None</span>}
							</Fact>
						</dl>
						<Switches settings={loaded.item} reload={loaded.reload} />
					</>
				)
			}
		</Content>
	);
}

function Provisioning() {
	const settings = useDocument(settingsUrl);
	const query = useQuery();
	const q = query.get("q") ?? "";
	const enabled = flag(settings.item, "enabled");
	const reason = enabled ? undefined : "enable provisioning first";
	return (
		<>
			<Settings of={settings} />
			<h2>Tokens</h2>
			<ObjectList kind={scimTokens} url={address("/admin/scim-tokens")} createPath="/admin/scim-tokens" reason={reason} />
			<h2>Groups</h2>
			<SearchField label="Search groups" hint="Part of a name" name="q" value={q} />
			<ObjectList
				kind={groupKind(text(settings.item, "site-admin-group-scim-id"), settings.reload)}
				url={address("/admin/scim-groups", { q, "page[number]": query.get("page") ?? undefined })}
				createPath=""
			/>
		</>
	);
}

export default function AdminScim() {
	return (
		<AdminFrame
			section="scim"
			intro="An identity provider makes accounts, suspends them and maintains groups (SCIM 2.0). Teams can follow groups."
		>
			<Provisioning />
		</AdminFrame>
	);
}
