// SPDX-License-Identifier: MPL-2.0
import { CheckField } from "../../components/field.tsx";
import { useRender } from "../../core/hooks.ts";
import { keyboardOn, preferenceSet } from "../../core/preferences.ts";
import { useTitle } from "../../core/title.ts";
import { KeyList } from "../../shell/key_list.tsx";
import { UserFrame } from "./user_frame.tsx";

export default function Keyboard() {
	const render = useRender();
	useTitle(["Keyboard"]);
	return (
		<UserFrame section="keyboard" title="Keyboard">
			<p>Keys move and open, and do nothing else. They rest while you type. This browser keeps the choice.</p>
			<CheckField
				label="Use keys"
				checked={keyboardOn()}
				onChecked={(on) => {
					preferenceSet("keyboard", on ? "on" : "off");
					render();
				}}
			/>
			<KeyList />
		</UserFrame>
	);
}
