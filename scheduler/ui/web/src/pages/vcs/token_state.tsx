// SPDX-License-Identifier: MPL-2.0
import { SaidNote } from "../../components/error_panel.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { type Resource, text } from "../../core/resource.ts";
import type { Tone } from "../../core/status.ts";
import { store } from "../../core/store.ts";

// tokenOf: a connection has one token at most.
export function tokenOf(connection: Resource | undefined): Resource | undefined {
	return store.many(connection, "oauth-tokens")[0];
}

export function connectionName(connection: Resource | undefined): string {
	return text(connection, "name") || text(connection, "service-provider-display-name") || (connection?.id ?? "");
}

const words: Readonly<Record<string, readonly [Tone, string]>> = {
	verified: ["success", "Verified"],
	unverified: ["wait", "Unverified"],
	refused: ["failure", "Refused"],
};

// Whether the provider has accepted the connection's token.
export function TokenState({ token }: { readonly token: Resource | undefined }) {
	const [tone, word] = token ? (words[text(token, "state")] ?? ["muted", text(token, "state")]) : (["wait", "Not connected"] as const);
	return <Mark tone={tone}>{word}</Mark>;
}

// The same in words: what the provider said, and what happens next.
export function TokenStateText({ token }: { readonly token: Resource | undefined }) {
	const user = text(token, "service-provider-user");
	const state = text(token, "state");
	return (
		<>
			<p>
				<TokenState token={token} />
				{user && (
					<>
						{" "}
						as <bdi>{user}</bdi>
					</>
				)}
				{state === "unverified" && ". The provider has not answered yet. It is asked again by itself."}
				{!token && ". It has no token yet."}
			</p>
			<SaidNote tone={state === "refused" ? "failure" : "wait"}>{text(token, "error")}</SaidNote>
		</>
	);
}
