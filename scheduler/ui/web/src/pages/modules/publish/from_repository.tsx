// SPDX-License-Identifier: MPL-2.0
import { announce } from "../../../components/live_region.tsx";
import { address, change, segment } from "../../../core/api.ts";
import { useAttempt } from "../../../core/hooks.ts";
import type { Resource } from "../../../core/resource.ts";
import { navigate, pathTo } from "../../../core/router.ts";
import { valuesOf } from "../../../objects/fields.ts";
import { useTyped } from "../../../objects/use_typed.ts";
import { useSourceFields } from "../../vcs/repository_fields.tsx";
import { PublishForm } from "./publish_fields.tsx";
import { missingOf, partFields, partsOf, repositoryBody, word } from "./publish_form.ts";

type Props = { readonly org: string; readonly reason: string | undefined };

export function FromRepository({ org, reason }: Props) {
	const [typed, onValue] = useTyped();
	const { error, attempt } = useAttempt();
	const chosen = { connection: word(typed, "connection"), identifier: word(typed, "identifier") };
	const source = useSourceFields(org, undefined, chosen, "").filter(({ name }) => name !== "branch");
	const fields = [...source, ...partFields];
	const values = { ...valuesOf(fields, undefined), ...partsOf(chosen.identifier), ...typed };
	const publish = () =>
		attempt(async () => {
			const url = address(`/organizations/${segment(org)}/registry-modules/vcs`);
			const made = (await change("POST", url, repositoryBody(values))).data as Resource;
			announce("Module published");
			navigate(pathTo("/app/:org/modules/:module", { org, module: made.id }));
		});
	return (
		<>
			<p>The commits of a repository become versions. A worker fetches their files.</p>
			<PublishForm
				fields={fields}
				values={values}
				error={error}
				reason={reason ?? missingOf(fields, values)}
				onValue={onValue}
				onSend={publish}
			/>
		</>
	);
}
