// SPDX-License-Identifier: MPL-2.0
import { Button, Toggle } from "../components/button.tsx";
import { type TimeMode, timeModes } from "./times.ts";

export type BarState = {
	readonly wrap: boolean;
	readonly times: TimeMode;
	readonly raw: boolean;
	readonly errorsOnly: boolean;
	readonly finds: boolean;
};

type Props = {
	readonly state: BarState;
	readonly onState: (change: Partial<BarState>) => void;
	readonly hasSelection: boolean;
	readonly onCopyLink: () => unknown;
	readonly onCopyText: () => unknown;
	readonly download: string; // the address of the whole log
};

export function LogBar({ state, onState, hasSelection, onCopyLink, onCopyText, download }: Props) {
	return (
		<div class="log-bar">
			<Toggle on={state.finds} onToggle={() => onState({ finds: !state.finds })}>
				Find
			</Toggle>
			<Toggle on={state.errorsOnly} onToggle={() => onState({ errorsOnly: !state.errorsOnly })}>
				Errors only
			</Toggle>
			<Toggle on={state.wrap} onToggle={() => onState({ wrap: !state.wrap })}>
				Wrap
			</Toggle>
			<Toggle on={state.raw} onToggle={() => onState({ raw: !state.raw })}>
				Raw
			</Toggle>
			<select
				aria-label="Times of lines"
				value={state.times}
				onChange={(event) => onState({ times: event.currentTarget.value as TimeMode })}
			>
				{timeModes.map(([mode, word]) => (
					<option key={mode} value={mode}>
						{word}
					</option>
				))}
			</select>
			<a class="button" href={`${download}?format=text`} download>
				Download .log
			</a>
			<a class="button" href={`${download}?format=json`} download>
				.json
			</a>
			{hasSelection && (
				<>
					<Button onPress={onCopyLink}>Copy link</Button>
					<Button onPress={onCopyText}>Copy text</Button>
				</>
			)}
		</div>
	);
}
