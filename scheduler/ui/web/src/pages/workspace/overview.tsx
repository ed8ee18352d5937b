// SPDX-License-Identifier: MPL-2.0
import { StatusMark } from "../../components/status_mark.tsx";
import { text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { Frame } from "./frame.tsx";

export default function Overview({ params }: PageProps) {
	return (
		<Frame params={params} page="overview">
			{({ workspace, run }) => (
				<>
					<p>{text(workspace, "description")}</p>
					{run && <StatusMark run={run} />}
				</>
			)}
		</Frame>
	);
}
