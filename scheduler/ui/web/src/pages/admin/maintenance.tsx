// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { Content } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change } from "../../core/api.ts";
import { useDocument, useLive } from "../../core/hooks.ts";
import { flag, type Resource, text } from "../../core/resource.ts";
import { AdminFrame } from "./admin_frame.tsx";

const url = address("/admin/maintenance");
const longestReason = 200;

async function send(attributes: object, said: string): Promise<void> {
	await change("PATCH", url, { data: { type: "maintenance", attributes } });
	announce(said);
}

function StartDialog({ onClose }: { readonly onClose: () => void }) {
	const [reason, setReason] = useState("");
	return (
		<Dialog
			title="Start maintenance"
			confirm="Start maintenance"
			reason={reason.trim() ? undefined : "a reason is needed"}
			fields={["/data/attributes/reason"]}
			onConfirm={() => send({ enabled: true, reason }, "Maintenance has started")}
			onClose={onClose}
		>
			{(error) => (
				<>
					<p>No run leaves the queue, in all organizations. Runs that have started go on to their end.</p>
					<TextField
						label="Reason"
						hint="Everybody whose run waits reads it."
						maxLength={longestReason}
						value={reason}
						onValue={setReason}
						error={error}
						pointer="/data/attributes/reason"
					/>
				</>
			)}
		</Dialog>
	);
}

function EndDialog({ onClose }: { readonly onClose: () => void }) {
	return (
		<Dialog
			title="End maintenance"
			confirm="End maintenance"
			onConfirm={() => send({ enabled: false }, "Maintenance has ended")}
			onClose={onClose}
		>
			<p>Pending runs start in their order.</p>
		</Dialog>
	);
}

function Running({ maintenance }: { readonly maintenance: Resource }) {
	return (
		<div class="note wait">
			<p>
				<Mark tone="wait">Maintenance</Mark> since <TimeAgo time={maintenance.attributes.since} />
			</p>
			<p>{text(maintenance, "reason")}</p>
		</div>
	);
}

function Maintenance() {
	const maintenance = useDocument(url);
	const [asking, setAsking] = useState(false);
	const on = flag(maintenance.item, "enabled");
	const close = () => setAsking(false);
	useLive(["site"], () => void maintenance.reload());
	return (
		<>
			<Content of={maintenance}>
				{() =>
					maintenance.item && (
						<>
							{on ? (
								<Running maintenance={maintenance.item} />
							) : (
								<p>
									<Mark tone="success">Runs start</Mark>
								</p>
							)}
							<Button kind={on ? "primary" : "plain"} onPress={() => setAsking(true)}>
								{on ? "End maintenance" : "Start maintenance"}
							</Button>
						</>
					)
				}
			</Content>
			{asking && (on ? <EndDialog onClose={close} /> : <StartDialog onClose={close} />)}
		</>
	);
}

export default function AdminMaintenance() {
	return (
		<AdminFrame section="maintenance" intro="During maintenance no run starts. Pages and the API work as always.">
			<Maintenance />
		</AdminFrame>
	);
}
