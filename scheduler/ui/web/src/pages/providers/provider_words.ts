// SPDX-License-Identifier: MPL-2.0
// What the registry says of a provider and its versions.

import { flag, type Resource, text, texts } from "../../core/resource.ts";
import type { Tone } from "../../core/status.ts";

export const manageReason = "you need the permission to manage providers";

// Engines find a version once its signature is verified and an archive has the signed checksum.
export function stateOf(version: Resource): readonly [Tone, string] {
	if (!flag(version, "signature-verified")) {
		return ["muted", flag(version, "shasums-uploaded") ? "Not signed" : "Not uploaded"];
	}
	return texts(version, "usable-platforms").length > 0 ? ["success", "Usable"] : ["wait", "No archive"];
}

// The block by which a configuration requires the provider. A provider of the public registry has no host in its address.
export function usageOf(provider: Resource, host: string): string {
	const name = text(provider, "name");
	const place = text(provider, "registry-name") === "public" ? "" : `${host}/`;
	const version = text(provider, "latest-version");
	const line = version ? `\n      version = "${version}"` : "";
	return `terraform {\n  required_providers {\n    ${name} = {\n      source  = "${place}${text(provider, "namespace")}/${name}"${line}\n    }\n  }\n}`;
}
