// SPDX-License-Identifier: MPL-2.0
import { Mark } from "../../components/status_mark.tsx";
import { type Column, PlainTable } from "../../components/table.tsx";
import { size } from "../../core/format.ts";
import { percent, type Sending } from "./provider_files.ts";

type Row = { readonly file: File; readonly problem: string | undefined };
type Props = { readonly rows: readonly Row[]; readonly sending: ReadonlyMap<string, Sending> };

function State({ row, sending }: { readonly row: Row; readonly sending: Sending | undefined }) {
	if (row.problem) {
		return <Mark tone="failure">{row.problem}</Mark>;
	}
	switch (sending?.state) {
		case "sent":
			return <Mark tone="success">Sent</Mark>;
		case "failed":
			return <Mark tone="failure">Failed</Mark>;
		case "sending":
			return <Mark tone="running">{percent(sending.bytes, row.file.size)} %</Mark>;
		default:
			return <Mark tone="muted">Not sent</Mark>;
	}
}

const columnsOf = (sending: Props["sending"]): readonly Column<Row>[] => [
	{ key: "file", head: "File", cell: ({ file }) => <bdi>{file.name}</bdi> },
	{ key: "size", head: "Size", class: "tight number", cell: ({ file }) => size(file.size) },
	{ key: "state", head: "State", cell: (row) => <State row={row} sending={sending.get(row.file.name)} /> },
];

// The chosen files, and how much of each is sent. Screen readers hear the number of files.
export function Files({ rows, sending }: Props) {
	const sent = [...sending.values()].filter(({ state }) => state === "sent").length;
	return (
		<>
			{rows.length > 0 && (
				<PlainTable caption="Files" columns={columnsOf(sending)} rows={rows} keyOf={(_, at) => String(at)} class="stack wrap" />
			)}
			<p role="status">{sending.size > 0 && `${sent} of ${rows.length} files sent`}</p>
		</>
	);
}
