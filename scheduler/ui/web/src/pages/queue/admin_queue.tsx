// SPDX-License-Identifier: MPL-2.0
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { QueueView } from "./queue_view.tsx";

export default function AdminQueue() {
	useTitle(["Queue of the site"]);
	return (
		<>
			<Breadcrumb crumbs={[{ word: "Site" }, { word: "Queue" }]} />
			<h1 tabIndex={-1}>Queue and workers of the site</h1>
			<QueueView queueUrl="/admin/queue" workersUrl="/admin/agents" topic="site" site />
		</>
	);
}
