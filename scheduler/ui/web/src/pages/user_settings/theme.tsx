// SPDX-License-Identifier: MPL-2.0
import { SelectField } from "../../components/field.tsx";
import { useRender } from "../../core/hooks.ts";
import { preferenceSet, type Theme, themeOf, themeSet, timesInUtc } from "../../core/preferences.ts";
import { useTitle } from "../../core/title.ts";
import { UserFrame } from "./user_frame.tsx";

const themes = [
	["system", "As the system says"],
	["light", "Light"],
	["dark", "Dark"],
] as const;

const zones = [
	["local", "Time zone of this browser"],
	["utc", "UTC"],
] as const;

export default function ThemePage() {
	const render = useRender();
	useTitle(["Theme"]);
	return (
		<UserFrame section="theme" title="Theme and times">
			<p>This browser keeps the choices.</p>
			<SelectField
				label="Theme"
				options={themes}
				value={themeOf(document.cookie)}
				onValue={(theme) => {
					themeSet(theme as Theme);
					render();
				}}
			/>
			<SelectField
				label="Times"
				options={zones}
				value={timesInUtc() ? "utc" : "local"}
				onValue={(zone) => {
					preferenceSet("times", zone);
					render();
				}}
			/>
		</UserFrame>
	);
}
