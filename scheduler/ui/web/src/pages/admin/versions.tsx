// SPDX-License-Identifier: MPL-2.0
import { useMemo } from "preact/hooks";
import { FilterChips } from "../../components/filters.tsx";
import { SearchField } from "../../components/search_field.tsx";
import { address } from "../../core/api.ts";
import { useQuery } from "../../core/hooks.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { AdminFrame } from "./admin_frame.tsx";
import { toolOf, tools, versionKind } from "./version_kind.tsx";

export default function AdminVersions() {
	const query = useQuery();
	const q = query.get("q") ?? "";
	const tool = toolOf(query.get("tool"));
	const kind = useMemo(() => versionKind(tool), [tool]);
	const path = `/admin/${tool.type}`;
	const url = address(path, { "search[version]": q, "page[number]": query.get("page") ?? undefined });
	return (
		<AdminFrame section="versions" intro="Workers get the programs by their own options, such as --engine. This list does not install any.">
			<div class="filters">
				<FilterChips label="Program" name="tool" chips={tools} />
				<SearchField label={`Search versions of ${tool.word}`} hint="Part of a version" name="q" value={q} />
			</div>
			<p class="muted">{tool.rule}</p>
			<ObjectList key={tool.type} kind={kind} url={url} createPath={path} />
		</AdminFrame>
	);
}
