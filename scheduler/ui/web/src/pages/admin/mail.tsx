// SPDX-License-Identifier: MPL-2.0
import type { FieldRow, Values } from "../../objects/fields.ts";
import { SettingsPage } from "./settings_page.tsx";

const withLogin = (values: Values) => values.auth !== "none";

const fields: readonly FieldRow[] = [
	{ name: "enabled", label: "Send mails through this server", kind: "flag" },
	{ name: "host", label: "Host", kind: "text" },
	{ name: "port", label: "Port", kind: "number", hint: "465 is TLS from the beginning; others begin with STARTTLS if the server has it." },
	{ name: "sender", label: "Sender", kind: "email" },
	{
		name: "auth",
		label: "Login",
		kind: "choice",
		options: [
			["none", "None"],
			["plain", "Plain"],
			["login", "Login"],
		],
	},
	{ name: "username", label: "Username", kind: "text", shown: withLogin },
	{ name: "password", label: "Password", kind: "secret", hint: "Empty: as it is, if the host is the same.", shown: withLogin },
	{ name: "test-email-address", label: "Send a test mail to", kind: "email", hint: "Nothing is saved if the server refuses it." },
];

export default function AdminMail() {
	return (
		<SettingsPage
			section="mail"
			intro="Invitations and notifications by e-mail. While it is off, the notifiers use the server of their options."
			type="smtp-settings"
			fields={fields}
		/>
	);
}
