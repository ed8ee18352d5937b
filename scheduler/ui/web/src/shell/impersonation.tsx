// SPDX-License-Identifier: MPL-2.0
import { session } from "../core/session.ts";

// Shown to a site admin who acts as the user. Pages of the server have the same (page.c).
export function ImpersonationBanner() {
	const { impersonator, username, csrf } = session();
	if (!impersonator) {
		return null;
	}
	return (
		<form class="impersonation" method="post" action="/app/admin/impersonation/end">
			<input type="hidden" name="csrf" value={csrf} />
			<p>
				You act as <strong>{username}</strong>. The audit trail names you, {impersonator}, too.
			</p>
			<button type="submit" class="button">
				Stop
			</button>
		</form>
	);
}
