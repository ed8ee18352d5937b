// SPDX-License-Identifier: MPL-2.0
import type { ApiError } from "../core/errors.ts";
import { CheckField, FieldError } from "./field.tsx";

type Props = {
	readonly legend: string;
	readonly options: readonly (readonly [value: string, word: string])[];
	readonly chosen: readonly string[];
	readonly error?: ApiError | undefined;
	readonly pointer?: string;
	readonly onChosen: (chosen: readonly string[]) => void;
};

// Several of the options, in the order of the options.
export function CheckList({ legend, options, chosen, error, pointer = "", onChosen }: Props) {
	const toggle = (value: string, on: boolean) =>
		onChosen(options.map(([option]) => option).filter((option) => (option === value ? on : chosen.includes(option))));
	return (
		<fieldset class="choices">
			<legend>{legend}</legend>
			{options.map(([value, word]) => (
				<CheckField key={value} label={word} checked={chosen.includes(value)} onChecked={(on) => toggle(value, on)} />
			))}
			<FieldError>{pointer ? error?.at(pointer) : undefined}</FieldError>
		</fieldset>
	);
}
