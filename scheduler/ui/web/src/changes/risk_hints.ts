// SPDX-License-Identifier: MPL-2.0
// Risk hints in words: "2 databases (aws_db_instance) will be replaced".

import { counted } from "../core/format.ts";

export type RiskHint = { readonly type: string; readonly action: string; readonly count: number };

// What resources of common types are called. Others are resources.
const nouns: readonly (readonly [part: RegExp, one: string, many?: string])[] = [
	[/(^|_)(db|rds|sql|database|dynamodb|spanner|bigtable|redshift|cosmosdb)(_|$)/, "database"],
	[/(^|_)(bucket|storage_account)(_|$)/, "bucket"],
	[/(^|_)(volume|disk|file_system)(_|$)/, "disk"],
	[/(^|_)(cluster)(_|$)/, "cluster"],
	[/(^|_)(kms|key)(_|$)/, "key"],
	[/(^|_)(instance|machine|server)(_|$)/, "server"],
];

export function riskText({ type, action, count }: RiskHint): string {
	const [, one, many] = nouns.find(([part]) => part.test(type)) ?? [undefined, "resource"];
	return `${counted(count, one ?? "resource", many)} (${type}) will be ${action === "replace" ? "replaced" : "destroyed"}`;
}
