// SPDX-License-Identifier: MPL-2.0
import { CheckField, SelectField, TextField } from "../../components/field.tsx";
import type { ApiError } from "../../core/errors.ts";
import { linkOf, text } from "../../core/resource.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { ConnectionField } from "./connection_field.tsx";
import { RepositoryField } from "./repository_field.tsx";
import { type RepositoryValues, type Trigger, triggers } from "./repository_form.ts";

const at = (name: string) => `/data/attributes/${name}`;
const pointers = {
	connection: at("vcs-repo/oauth-token-id"),
	identifier: at("vcs-repo/identifier"),
	branch: at("vcs-repo/branch"),
	tags: at("vcs-repo/tags-regex"),
	folders: at("trigger-prefixes"),
	patterns: at("trigger-patterns"),
};

// The pointers whose errors the fields show.
export const repositoryPointers: readonly string[] = Object.values(pointers);

type Props = {
	readonly view: WorkspaceView;
	readonly values: RepositoryValues;
	readonly error: ApiError | undefined;
	readonly onValues: (values: Partial<RepositoryValues>) => void;
};

export function RepositoryFields(props: Props) {
	const { view, values, error, onValues } = props;
	return (
		<>
			<ConnectionField
				org={view.org}
				project={linkOf(view.workspace, "project")?.id}
				value={values.connection}
				error={error}
				pointer={pointers.connection}
				onValue={(connection) => onValues({ connection })}
			/>
			<RepositoryField
				token={values.connection}
				value={values.identifier}
				error={error}
				pointer={pointers.identifier}
				onValue={(identifier) => onValues({ identifier })}
			/>
			<TextField
				label="Branch"
				hint="Empty: the default branch of the repository."
				error={error}
				pointer={pointers.branch}
				value={values.branch}
				onValue={(branch) => onValues({ branch })}
			/>
			<TriggerFields {...props} />
			<Choices {...props} />
		</>
	);
}

function TriggerFields({ view, values, error, onValues }: Props) {
	const folder = text(view.workspace, "working-directory");
	const toLines = (typed: string) => typed.split("\n");
	return (
		<>
			<SelectField
				label="Start runs for"
				options={triggers}
				value={values.trigger}
				onValue={(trigger) => onValues({ trigger: trigger as Trigger })}
			/>
			{values.trigger === "folders" && (
				<TextField
					label="Other folders"
					lines={3}
					hint={
						folder ? `One on each line, beside the working directory ${folder}.` : "One on each line. Without any, each push starts a run."
					}
					error={error}
					pointer={pointers.folders}
					value={values.folders.join("\n")}
					onValue={(typed) => onValues({ folders: toLines(typed) })}
				/>
			)}
			{values.trigger === "patterns" && (
				<TextField
					label="Patterns"
					lines={3}
					hint="One on each line, from the root of the repository: * within a folder, ** any folders, ? one character. Such as modules/**/*.tf."
					error={error}
					pointer={pointers.patterns}
					value={values.patterns.join("\n")}
					onValue={(typed) => onValues({ patterns: toLines(typed) })}
				/>
			)}
			{values.trigger === "tags" && (
				<TextField
					label="Tags"
					hint="A regular expression, such as ^v\d+\.\d+\.\d+$. Pushes to branches start no runs."
					error={error}
					pointer={pointers.tags}
					value={values.tags}
					onValue={(tags) => onValues({ tags })}
				/>
			)}
		</>
	);
}

const choices: readonly (readonly [keyof RepositoryValues, string, string])[] = [
	["firstRun", "Queue runs from the start", "Without it, commits start runs only after a user has queued the first one."],
	["submodules", "Fetch submodules", "Those at other hosts need the SSH key of the connection."],
	["newestOnly", "Newest commit only", "A push discards pending runs of older commits."],
	["speculative", "Automatic speculative plans", "Pull requests to the branch are planned, and never applied."],
	["skipDrafts", "Skip drafts", "Pull requests that are drafts start no plans."],
	[
		"forkPlans",
		"Plan pull requests of forks",
		"Each new head needs an approval. Such plans get no sensitive variables and no state access, and need an agent pool of their own.",
	],
];

function Choices({ values, onValues }: Props) {
	return (
		<>
			{choices
				.filter(([name]) => values.speculative || (name !== "skipDrafts" && name !== "forkPlans"))
				.map(([name, label, hint]) => (
					<CheckField key={name} label={label} hint={hint} checked={values[name] === true} onChecked={(on) => onValues({ [name]: on })} />
				))}
		</>
	);
}
