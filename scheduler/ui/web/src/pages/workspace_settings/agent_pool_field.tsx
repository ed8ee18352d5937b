// SPDX-License-Identifier: MPL-2.0
import { SelectField } from "../../components/field.tsx";
import { address, segment } from "../../core/api.ts";
import type { ApiError } from "../../core/errors.ts";
import { useDocument } from "../../core/hooks.ts";
import { linkOf, text } from "../../core/resource.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import type { Draft } from "./draft.ts";

type Props = { readonly view: WorkspaceView; readonly draft: Draft; readonly error: ApiError | undefined };

// The pool of the execution mode agent.
export function AgentPoolField({ view, draft, error }: Props) {
	const pools = useDocument(address(`/organizations/${segment(view.org)}/agent-pools`, { "page[size]": 100 }));
	const chosen = draft.text("agent-pool-id") || linkOf(view.workspace, "agent-pool")?.id || "";
	const options = pools.items.map((pool) => [pool.id, text(pool, "name")] as const);
	return (
		<SelectField
			label="Agent pool"
			hint={pools.asOf > 0 && options.length === 0 ? "The organization has no agent pool yet." : undefined}
			options={[["", "Choose a pool"], ...options]}
			error={error}
			pointer="/data/attributes/agent-pool-id"
			value={chosen}
			onValue={(id) => draft.set("agent-pool-id", id)}
		/>
	);
}
