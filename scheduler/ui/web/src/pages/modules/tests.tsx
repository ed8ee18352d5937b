// SPDX-License-Identifier: MPL-2.0
// The tests of a module: its test runs, one of them with its log, and the variables of the tests.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { Fact } from "../../components/fact.tsx";
import { announce } from "../../components/live_region.tsx";
import { Pagination } from "../../components/pagination.tsx";
import { Content, EmptyState } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, bytes, change, pathOnPage, segment } from "../../core/api.ts";
import { useAttempt, useDocument, useInterval, useQuery } from "../../core/hooks.ts";
import { can, isObject, type Resource, text, textIn } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { variableKind } from "../org_settings/variable_kind.tsx";
import { messagesOf, resultsOf, testHasEnded, testLook } from "./test_words.ts";

const pollMs = 2000;
const maxLog = 1 << 20; // bytes that are shown

// address: of the module in paths; path: of its tests.
type Place = { readonly org: string; readonly module: Resource; readonly address: string; readonly path: string };

const columnsOf = ({ org, module }: Place): readonly Column[] => [
	{
		key: "status",
		head: "Status",
		cell: (run) => (
			<a
				class="row-link"
				href={`${pathTo("/app/:org/modules/:module/tests", { org, module: module.id })}?run=${encodeURIComponent(run.id)}`}
				aria-label={`${testLook(run)[1]}: ${run.id}`}
			>
				<Mark tone={testLook(run)[0]}>{testLook(run)[1]}</Mark>
			</a>
		),
	},
	{ key: "results", head: "Results", cell: resultsOf },
	{ key: "created", head: "Created", cell: (run) => <TimeAgo time={run.attributes["created-at"]} /> },
	{ key: "message", head: "Message", class: "wide", cell: (run) => <bdi>{text(run, "message")}</bdi> },
];

function Runs({ place }: { readonly place: Place }) {
	const query = useQuery();
	const runs = useDocument(address(`${place.path}/test-runs`, { "page[number]": query.get("page") ?? undefined, "page[size]": 20 }));
	useInterval(pollMs, () => !runs.items.every(testHasEnded) && runs.reload());
	return (
		<section aria-labelledby="runs">
			<h2 id="runs">Test runs</h2>
			<Content of={runs}>
				{() => (
					<>
						{runs.items.length > 0 ? (
							<Table caption="Test runs" columns={columnsOf(place)} rows={runs.items} stacked />
						) : (
							<EmptyState title="No test run yet">
								<p>Run terraform test with -cloud-run and the address of this module.</p>
							</EmptyState>
						)}
						<Pagination pages={runs.pages} />
					</>
				)}
			</Content>
		</section>
	);
}

function Log({ run }: { readonly run: Resource }) {
	const [log, setLog] = useState("");
	const url = text(run, "log-read-url");
	const status = text(run, "status");
	const read = async () => {
		try {
			setLog(new TextDecoder().decode(await bytes(`${pathOnPage(url)}?offset=0&limit=${maxLog}`)));
		} catch {
			// The next read is another try.
		}
	};
	useEffect(() => void read(), [url, status]);
	useInterval(pollMs, () => !testHasEnded(run) && read());
	return (
		<section aria-labelledby="log">
			<h2 id="log">Log</h2>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that may scroll needs the focus */}
			<pre tabIndex={0}>{messagesOf(log) || "Nothing yet."}</pre>
		</section>
	);
}

function OneRun({ place, id }: { readonly place: Place; readonly id: string }) {
	const path = `${place.path}/test-runs/${segment(id)}`;
	const found = useDocument(address(path));
	const run = found.item;
	const { error, attempt } = useAttempt();
	useInterval(pollMs, () => run && !testHasEnded(run) && found.reload());
	const stop = (action: string) =>
		attempt(async () => {
			await change("POST", address(`${path}/${action}`));
			announce("The test run is asked to stop");
			await found.reload();
		});
	return (
		<Content of={found}>
			{() =>
				run && (
					<section aria-labelledby="run">
						<h2 id="run">Test run</h2>
						<dl class="facts">
							<Fact word="Status">
								<span role="status">
									<Mark tone={testLook(run)[0]}>{testLook(run)[1]}</Mark>
								</span>
							</Fact>
							<Fact word="Results">{resultsOf(run)}</Fact>
							<Fact word="Created">
								<TimeAgo time={run.attributes["created-at"]} />
							</Fact>
							<Fact word="ID">
								<code>{run.id}</code>
							</Fact>
						</dl>
						{text(run, "error") && <p class="note problem failure as-written">{text(run, "error")}</p>}
						<Problems of={error} />
						<p class="actions">
							{can(run, "is-cancelable") && <Button onPress={() => stop("cancel")}>Cancel</Button>}
							{can(run, "is-force-cancelable") && <Button onPress={() => stop("force-cancel")}>Force Cancel</Button>}
						</p>
						<Log run={run} />
					</section>
				)
			}
		</Content>
	);
}

type SwitchProps = {
	readonly place: Place;
	readonly reload: () => Promise<void>;
	readonly name: "tests-enabled" | "tests-required"; // of the module's test-config
	readonly heading: string;
	readonly say: (on: boolean) => ComponentChildren;
	readonly done: (on: boolean) => string;
	readonly button: (on: boolean) => string; // what it does, by the state now
};

// A section that switches one part of the module's test-config.
function Switch({ place, reload, name, heading, say, done, button }: SwitchProps) {
	const { error, attempt } = useAttempt();
	const config = place.module.attributes["test-config"];
	const on = isObject(config) && config[name] === true;
	const set = () =>
		attempt(async () => {
			const path = `/organizations/${segment(place.org)}/registry-modules/${place.address}`;
			await change("PATCH", address(path), { data: { type: "registry-modules", attributes: { "test-config": { [name]: !on } } } });
			announce(done(!on));
			await reload();
		});
	return (
		<section aria-labelledby={name}>
			<h2 id={name}>{heading}</h2>
			<p>{say(on)}</p>
			<Problems of={error} />
			<Button onPress={set}>{button(on)}</Button>
		</section>
	);
}

// Whether each commit of the module's branch starts a test run.
function Commits({ place, reload }: { readonly place: Place; readonly reload: () => Promise<void> }) {
	const repository = place.module.attributes["vcs-repo"];
	const branch = isObject(repository) ? textIn(repository, "branch") : "";
	return (
		branch && (
			<Switch
				place={place}
				reload={reload}
				name="tests-enabled"
				heading="Commits"
				say={(on) => (
					<>
						{on ? "Each commit of the branch " : "No commit of the branch "}
						<code>{branch}</code>
						{on ? ", and each of its pull requests, starts a test run. The repository shows its result." : " is tested."}
					</>
				)}
				done={(on) => (on ? "Each commit is tested from now on" : "Commits are no longer tested")}
				button={(on) => (on ? "Stop Testing Commits" : "Test Each Commit")}
			/>
		)
	);
}

// Whether versions are published only after their tests have passed.
function Publishing({ place, reload }: { readonly place: Place; readonly reload: () => Promise<void> }) {
	return (
		<Switch
			place={place}
			reload={reload}
			name="tests-required"
			heading="Publishing"
			say={(on) => (on ? "A new version is published when its tests have passed." : "New versions are published without tests.")}
			done={(on) => (on ? "New versions must pass their tests" : "New versions are published without tests")}
			button={(on) => (on ? "Publish Without Tests" : "Require Tests")}
		/>
	);
}

function Variables({ place }: { readonly place: Place }) {
	const path = `${place.path}/vars`;
	const kind = variableKind(path, { one: "variable", many: "Variables", empty: "No variables." });
	return (
		<ObjectList
			kind={kind}
			url={address(path, { "page[size]": 100 })}
			createPath={path}
			intro="Only the tests of this module have them. No variable set applies to tests."
			heading
		/>
	);
}

export default function Tests({ params }: PageProps) {
	const { org = "", module: id = "" } = params;
	const found = useDocument(address(`/registry-modules/${segment(id)}`));
	const run = useQuery().get("run");
	const module = found.item;
	const name = text(module, "name");
	useTitle(["Tests", name || "Module", org]);
	const ofModule = ["registry-name", "namespace", "name", "provider"].map((part) => segment(text(module, part))).join("/");
	const place = module && { org, module, address: ofModule, path: `/organizations/${segment(org)}/tests/registry-modules/${ofModule}` };
	const home = pathTo("/app/:org/modules/:module/tests", { org, module: id });
	return (
		<>
			<Breadcrumb
				crumbs={[
					{ word: org, href: pathTo("/app/:org/workspaces", { org }) },
					{ word: "Modules", href: pathTo("/app/:org/modules", { org }) },
					{ word: name || "Module", href: pathTo("/app/:org/modules/:module", { org, module: id }) },
					run ? { word: "Tests", href: home } : { word: "Tests" },
					...(run ? [{ word: run }] : []),
				]}
			/>
			<h1 tabIndex={-1}>Tests</h1>
			<Content of={found}>
				{() =>
					place &&
					(text(module, "registry-name") === "private" ? (
						run ? (
							<OneRun key={run} place={place} id={run} />
						) : (
							<>
								<Runs place={place} />
								<Commits place={place} reload={found.reload} />
								<Publishing place={place} reload={found.reload} />
								<Variables place={place} />
							</>
						)
					) : (
						<p>Modules of the public registry have no tests here.</p>
					))
				}
			</Content>
		</>
	);
}
