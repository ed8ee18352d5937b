// SPDX-License-Identifier: MPL-2.0
import { SelectField, TextField } from "../../components/field.tsx";
import type { ApiError } from "../../core/errors.ts";
import type { Input } from "./description.ts";
import { type Choice, type Given, kindOf, optionsOf, varPointer } from "./no_code.ts";

const longestValue = 262_144; // of a variable

// The description, type and default of an input, by the module's author.
function Hint({ input, chosen }: { readonly input: Input; readonly chosen: boolean }) {
	return (
		<>
			{input.description && (
				<>
					<bdi class="as-written">{input.description}</bdi>
					<br />
				</>
			)}
			Type: <code class="as-written">{input.type}</code>.
			{!input.required && input.default && (
				<>
					{" "}
					Default: <code class="as-written">{input.default}</code>.
				</>
			)}
			{!chosen && kindOf(input.type) === "expression" && ' Write an expression, such as "a" or ["a", "b"].'}
			{input.sensitive && " Sensitive: nobody can read the value again."}
		</>
	);
}

type Props = {
	readonly inputs: readonly Input[];
	readonly choices: readonly Choice[];
	readonly given: Given;
	readonly sent: readonly string[]; // the names of the variables of the last request, to which the error's pointers refer
	readonly error: ApiError | undefined;
	readonly onGiven: (given: Given) => void;
	readonly strict?: boolean; // required inputs must have a value here
};

// The controls of a module's inputs. Each shows the API's error for its variable.
export function InputFields({ inputs, choices, given, sent, error, onGiven, strict = false }: Props) {
	return (
		<>
			{inputs.map((input) => {
				const options = optionsOf(
					input,
					choices.find(({ name }) => name === input.name),
				);
				const at = sent.indexOf(input.name);
				const common = {
					label: input.name,
					hint: <Hint input={input} chosen={options !== undefined} />,
					error,
					pointer: at < 0 ? "" : varPointer(at),
					value: given.get(input.name) ?? "",
					onValue: (value: string) => onGiven(new Map(given).set(input.name, value)),
				};
				return options ? (
					<SelectField key={input.name} {...common} options={options} />
				) : (
					<TextField
						key={input.name}
						{...common}
						lines={kindOf(input.type) === "expression" ? 3 : 1}
						maxLength={longestValue}
						required={strict && input.required}
					/>
				);
			})}
		</>
	);
}
