// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import { flag, type Resource, text } from "../../core/resource.ts";
import { session } from "../../core/session.ts";

type UserAction = { readonly key: string; readonly word: string; readonly follows: string; readonly danger?: boolean };

const actions = {
	suspend: {
		key: "suspend",
		word: "Suspend",
		follows:
			"They can't sign in. Their sessions, their tokens and the agent tokens that they made end at once, for good. Runs that they started go on, and wait for a confirmation before they are applied.",
		danger: true,
	},
	resume: { key: "unsuspend", word: "Resume", follows: "They can sign in again. They need new tokens." },
	grant: {
		key: "grant_admin",
		word: "Make site admin",
		follows: "A site admin may read and change everything of all organizations, and make others site admins.",
		danger: true,
	},
	revoke: { key: "revoke_admin", word: "Revoke site admin", follows: "They keep what their teams allow.", danger: true },
} as const satisfies Record<string, UserAction>;

function actionsOf(user: Resource): readonly UserAction[] {
	return [flag(user, "is-suspended") ? actions.resume : actions.suspend, flag(user, "is-site-admin") ? actions.revoke : actions.grant];
}

// reasonFor: why the user can't be changed. The API has the same rule: a site must keep a site admin.
export function reasonFor(user: Resource): string | undefined {
	return user.id === session().userId ? "another site admin has to change your account" : undefined;
}

export function UserActions({ user, reload }: { readonly user: Resource; readonly reload: () => Promise<void> }) {
	const [asked, setAsked] = useState<UserAction | undefined>();
	const name = text(user, "username");
	const act = async (action: UserAction) => {
		await change("POST", address(`/admin/users/${segment(user.id)}/actions/${action.key}`));
		announce(`${action.word} ${name}: done`);
		await reload();
	};
	return (
		<>
			{actionsOf(user).map((action) => (
				<Button key={action.key} label={`${action.word} ${name}`} reason={reasonFor(user)} onPress={() => setAsked(action)}>
					{action.word}
				</Button>
			))}
			{asked && (
				<Dialog
					title={`${asked.word}: ${name}`}
					confirm={asked.word}
					danger={asked.danger ?? false}
					onConfirm={() => act(asked)}
					onClose={() => setAsked(undefined)}
				>
					<p>{asked.follows}</p>
				</Dialog>
			)}
		</>
	);
}
