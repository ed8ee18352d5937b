// SPDX-License-Identifier: MPL-2.0
// The pages of site admins, in the order of the side list.

export const sections = [
	{ key: "organizations", word: "Organizations" },
	{ key: "users", word: "Users" },
	{ key: "versions", word: "Engine versions" },
	{ key: "general", word: "General" },
	{ key: "maintenance", word: "Maintenance" },
	{ key: "audit-trail", word: "Audit trail" },
	{ key: "queue", word: "Queue and workers" },
] as const;

export type SectionKey = (typeof sections)[number]["key"];

export function wordOf(section: SectionKey): string {
	return sections.find(({ key }) => key === section)?.word ?? section;
}
