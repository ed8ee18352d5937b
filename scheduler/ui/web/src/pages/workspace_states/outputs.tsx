// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { flag, linksOf, type Resource, text } from "../../core/resource.ts";

// The outputs of a state. Sensitive values stay on the server.
export function Outputs({ state }: { readonly state: Resource }) {
	const hasOutputs = linksOf(state, "outputs").length > 0;
	const path = `/state-versions/${segment(state.id)}/outputs`;
	const outputs = useDocument(hasOutputs ? address(path, { masked: "true", "page[size]": 100 }) : undefined);
	return (
		<section class="page-part">
			<h2>Outputs</h2>
			{!hasOutputs && <p class="muted">This state has no outputs.</p>}
			{outputs.items.length > 0 && (
				<table class="stack">
					<caption class="sr-only">Outputs</caption>
					<thead>
						<tr>
							<th scope="col">Name</th>
							<th scope="col">Value</th>
						</tr>
					</thead>
					<tbody>
						{outputs.items.map((output) => (
							<tr key={output.id}>
								<td>
									<code>{text(output, "name")}</code>
								</td>
								<td>
									{flag(output, "sensitive") ? (
										<span class="muted">(sensitive)</span>
									) : (
										<span class="value">{JSON.stringify(output.attributes.value, null, 2)}</span>
									)}
								</td>
							</tr>
						))}
					</tbody>
				</table>
			)}
		</section>
	);
}
