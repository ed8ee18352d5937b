// SPDX-License-Identifier: MPL-2.0
import { Button } from "../../components/button.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useAttempt } from "../../core/hooks.ts";
import { flag, type Resource } from "../../core/resource.ts";
import type { FieldRow } from "../../objects/fields.ts";
import { SettingsForm } from "../../objects/settings_form.tsx";

const tokenPath = (id: string) => `/oauth-tokens/${segment(id)}`;

function fieldsOf(hasKey: boolean): readonly FieldRow[] {
	return [
		{
			name: "ssh-key",
			label: hasKey ? "New private key" : "Private key",
			kind: "long",
			hint: "In PEM, without a passphrase. It is never shown again. Clones over ssh and submodules use it.",
		},
		{
			name: "host-keys",
			label: "Host keys",
			kind: "long",
			nullable: true,
			hint: "Lines of a known_hosts file. Empty: the first connection stores the keys that it sees. Compare them with those that the provider publishes; a server with another key is refused.",
		},
	];
}

type Props = { readonly token: Resource | undefined; readonly reason: string | undefined };

// The key for clones over ssh, and the keys by which servers are known.
export function Keys({ token, reason }: Props) {
	const { error, attempt } = useAttempt();
	if (!token) {
		return (
			<>
				<h3>SSH</h3>
				<p class="muted">A connection without a token has no SSH key.</p>
			</>
		);
	}
	const hasKey = flag(token, "has-ssh-key");
	const remove = () =>
		attempt(async () => {
			await change("PATCH", address(tokenPath(token.id)), { data: { type: "oauth-tokens", attributes: { "ssh-key": null } } });
			announce("The SSH key is removed");
		});
	return (
		<>
			<h3>SSH</h3>
			<p>
				{hasKey ? "It has an SSH key. " : "It has no SSH key. "}
				{hasKey && !reason && <Button onPress={remove}>Remove SSH key</Button>}
			</p>
			<Problems of={error} />
			<SettingsForm kind={{ type: "oauth-tokens", fields: fieldsOf(hasKey), item: tokenPath }} item={token} reason={reason} />
		</>
	);
}
