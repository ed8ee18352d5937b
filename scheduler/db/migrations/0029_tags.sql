-- SPDX-License-Identifier: MPL-2.0
-- As before; but what is bound to a workspace is passed over before any project's workspaces are looked at.

create or replace view effective_tags as
	select b.workspace_id, b.id, b.tag_id, b.position, t.name as key, b.value, null::text as inherited_from
	from tag_bindings b join tags t on t.id = b.tag_id where b.workspace_id is not null
	union all
	select w.id, b.id, b.tag_id, b.position, t.name, b.value, b.project_id
	from workspaces w join tag_bindings b on b.project_id = w.project_id join tags t on t.id = b.tag_id
	where b.project_id is not null
	and not exists (select 1 from tag_bindings o where o.workspace_id = w.id and o.tag_id = b.tag_id);
