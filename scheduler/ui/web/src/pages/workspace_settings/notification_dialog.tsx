// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { CheckList } from "../../components/check_list.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { CheckField, SelectField, TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import type { ApiError } from "../../core/errors.ts";
import { text } from "../../core/resource.ts";
import { destinations, triggers } from "../notification_words.ts";
import type { EditProps } from "./list_section.tsx";
import { emptyNotification, type NotificationForm, notificationBody, notificationOf } from "./notification_form.ts";

type Props = EditProps & { readonly path: string }; // of the list

const pointers = ["name", "url", "token", "triggers", "email-addresses", "destination-type"].map((name) => `/data/attributes/${name}`);

export function NotificationDialog({ path, item, onDone, onClose }: Props) {
	const [form, setForm] = useState(item ? notificationOf(item) : emptyNotification);
	const set = (changes: Partial<NotificationForm>) => setForm((before) => ({ ...before, ...changes }));
	const save = async () => {
		const url = item ? address(`/notification-configurations/${segment(item.id)}`) : path;
		await change(item ? "PATCH" : "POST", url, notificationBody(form, item));
		announce("The notification is saved");
		await onDone();
	};
	return (
		<Dialog
			title={item ? `Edit ${text(item, "name")}` : "Add notification"}
			confirm="Save notification"
			fields={pointers}
			onConfirm={save}
			onClose={onClose}
		>
			{(error: ApiError | undefined) => (
				<>
					<TextField label="Name" error={error} pointer="/data/attributes/name" value={form.name} onValue={(name) => set({ name })} />
					{!item && (
						<SelectField
							label="Destination"
							options={destinations}
							error={error}
							pointer="/data/attributes/destination-type"
							value={form.destination}
							onValue={(destination) => set({ destination })}
						/>
					)}
					<DestinationFields form={form} error={error} set={set} />
					<CheckList
						legend="Events"
						options={triggers}
						chosen={form.triggers}
						error={error}
						pointer="/data/attributes/triggers"
						onChosen={(chosen) => set({ triggers: chosen })}
					/>
					<CheckField
						label="Enabled"
						hint="Saving an enabled notification sends a test message."
						checked={form.enabled}
						onChecked={(enabled) => set({ enabled })}
					/>
				</>
			)}
		</Dialog>
	);
}

type FieldsProps = {
	readonly form: NotificationForm;
	readonly error: ApiError | undefined;
	readonly set: (changes: Partial<NotificationForm>) => void;
};

function DestinationFields({ form, error, set }: FieldsProps) {
	if (form.destination === "email") {
		return (
			<TextField
				label="E-mail addresses"
				hint="One on each line."
				lines={3}
				error={error}
				pointer="/data/attributes/email-addresses"
				value={form.emails}
				onValue={(emails) => set({ emails })}
			/>
		);
	}
	return (
		<>
			<TextField label="URL" type="url" error={error} pointer="/data/attributes/url" value={form.url} onValue={(url) => set({ url })} />
			{form.destination === "generic" && (
				<TextField
					label="Token"
					hint="Messages are signed with it. It is never shown again; empty: the stored one stays."
					error={error}
					pointer="/data/attributes/token"
					value={form.token}
					onValue={(token) => set({ token })}
				/>
			)}
		</>
	);
}
