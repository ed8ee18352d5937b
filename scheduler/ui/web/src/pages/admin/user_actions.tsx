// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
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
	factor: {
		key: "disable_two_factor",
		word: "Remove second factors",
		follows: "For people who have lost their factors and their recovery codes. Make sure first that it is they who ask.",
		danger: true,
	},
	emergency: {
		key: "grant_break_glass",
		word: "Make emergency account",
		follows: "The account keeps its password where sign-in by a provider is enforced. All site admins get a mail for each of its sessions.",
		danger: true,
	},
	ordinary: { key: "revoke_break_glass", word: "Make ordinary account", follows: "The rules of its organizations apply to the account." },
	revoke: { key: "revoke_admin", word: "Revoke site admin", follows: "They keep what their teams allow.", danger: true },
} as const satisfies Record<string, UserAction>;

function actionsOf(user: Resource): readonly UserAction[] {
	return [
		flag(user, "is-suspended") ? actions.resume : actions.suspend,
		flag(user, "is-site-admin") ? actions.revoke : actions.grant,
		...(hasFactor(user) ? [actions.factor] : []),
		flag(user, "is-break-glass") ? actions.ordinary : actions.emergency,
	];
}

export function hasFactor(user: Resource): boolean {
	return (user.attributes["two-factor"] as { enabled?: boolean } | undefined)?.enabled === true;
}

// reasonFor: why the user can't be changed. The API has the same rule: a site must keep a site admin.
export function reasonFor(user: Resource): string | undefined {
	return user.id === session().userId ? "another site admin has to change your account" : undefined;
}

// The server answers with the cookie of the session in which the site admin acts as the user.
function Impersonation({ user, onClose }: { readonly user: Resource; readonly onClose: () => void }) {
	const [reason, setReason] = useState("");
	const name = text(user, "username");
	const begin = async () => {
		await change("POST", address(`/admin/users/${segment(user.id)}/actions/impersonate`), { reason });
		// The other pages of the browser are the user's, too. They are told when this page is left: told now, this page would reload, too.
		addEventListener("pagehide", () => new BroadcastChannel("runyard").postMessage("sign-in"));
		location.assign("/app");
	};
	return (
		<Dialog
			title={`Act as ${name}`}
			confirm="Act as this user"
			danger
			reason={reason.trim() ? undefined : "a reason is needed"}
			onConfirm={begin}
			onClose={onClose}
		>
			<p>For an hour at most, this browser is signed in as {name}. The audit trail names both of you. Secrets can't be read.</p>
			<TextField label="Reason" value={reason} onValue={setReason} required maxLength={512} />
		</Dialog>
	);
}

function reasonNotToActAs(user: Resource): string | undefined {
	if (user.id === session().userId) {
		return "it is your own account";
	}
	return flag(user, "is-suspended") || !text(user, "username") ? "the account can't sign in" : undefined;
}

export function UserActions({ user, reload }: { readonly user: Resource; readonly reload: () => Promise<void> }) {
	const [asked, setAsked] = useState<UserAction | undefined>();
	const [acting, setActing] = useState(false);
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
			<Button label={`Act as ${name}`} reason={reasonNotToActAs(user)} onPress={() => setActing(true)}>
				Act as
			</Button>
			{acting && <Impersonation user={user} onClose={() => setActing(false)} />}
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
