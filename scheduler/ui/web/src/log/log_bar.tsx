// SPDX-License-Identifier: MPL-2.0
import { Button } from "../components/button.tsx";
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

function Toggle({ on, word, onToggle }: { readonly on: boolean; readonly word: string; readonly onToggle: () => void }) {
	return (
		<button type="button" class="toggle" aria-pressed={on} onClick={onToggle}>
			{word}
		</button>
	);
}

export function LogBar({ state, onState, hasSelection, onCopyLink, onCopyText, download }: Props) {
	return (
		<div class="log-bar">
			<Toggle on={state.finds} word="Find" onToggle={() => onState({ finds: !state.finds })} />
			<Toggle on={state.errorsOnly} word="Errors only" onToggle={() => onState({ errorsOnly: !state.errorsOnly })} />
			<Toggle on={state.wrap} word="Wrap" onToggle={() => onState({ wrap: !state.wrap })} />
			<Toggle on={state.raw} word="Raw" onToggle={() => onState({ raw: !state.raw })} />
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
