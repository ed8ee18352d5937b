// SPDX-License-Identifier: MPL-2.0
import { useEffect } from "preact/hooks";
import { Mark } from "../components/status_mark.tsx";
import { absolute } from "../core/format.ts";
import { useConnection, useNow, useRender } from "../core/hooks.ts";
import { hasNewBuild, onNewBuild } from "../core/session.ts";

function Reconnecting({ at }: { readonly at: number }) {
	const seconds = Math.max(0, Math.ceil((at - useNow()) / 1000));
	return <Mark tone="wait">Reconnecting ({seconds} s)</Mark>;
}

export function ConnectionMark() {
	const connection = useConnection();
	if (connection.state === "live") {
		return <Mark tone="success">Live</Mark>;
	}
	if (connection.state === "connecting") {
		return <Mark tone="muted">Connecting</Mark>;
	}
	if (connection.state === "polling") {
		return <Mark tone="wait">Polling every 3 s</Mark>;
	}
	if (connection.state === "reconnecting") {
		return <Reconnecting at={connection.at} />;
	}
	return <Mark tone="failure">Offline (data as of {absolute(connection.since, false).slice(11, 19)})</Mark>;
}

export function NewBuildNote() {
	const render = useRender();
	useEffect(() => onNewBuild(render), []);
	return hasNewBuild() ? (
		<p class="note wait" role="status">
			The server has other pages than these.{" "}
			<button type="button" class="button plain" onClick={() => location.reload()}>
				New version, reload
			</button>
		</p>
	) : null;
}
