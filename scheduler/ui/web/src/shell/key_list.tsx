// SPDX-License-Identifier: MPL-2.0
import { keys } from "./keys.ts";

// The keys and what they do.
export function KeyList() {
	return (
		<dl class="keys">
			{keys.map((key) => (
				<div key={key.keys}>
					<dt>
						<kbd>{key.keys}</kbd>
					</dt>
					<dd>{key.word}</dd>
				</div>
			))}
		</dl>
	);
}
