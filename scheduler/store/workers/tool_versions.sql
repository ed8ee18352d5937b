-- SPDX-License-Identifier: MPL-2.0

-- fragment: tool_versions_columns()
-- Columns of a version `v`, and how many workspaces or policy sets use it.
v.id, v.tool, v.version, v.archs, v.official, v.enabled, v.beta, v.deprecated, v.deprecated_reason,
    v.created_at,
    case v.tool when 'terraform' then (
            select count(*)
            from workspaces w
            where w.terraform_version = v.version and w.terraform_version <> ''
        )
        else (select count(*) from policy_sets s where s.kind = v.tool and s.policy_tool_version = v.version)
        end as usage;

-- fragment: tool_versions_fields()
-- The columns of tool_versions_written from an object `f` with the API's names.
f ->> 'version', f -> 'archs', (f ->> 'official')::boolean, (f ->> 'enabled')::boolean,
    (f ->> 'beta')::boolean, (f ->> 'deprecated')::boolean, f ->> 'deprecated-reason';

-- fragment: tool_versions_written()
-- The columns that clients set.
version, archs, official, enabled, beta, deprecated, deprecated_reason;

-- shape: tool_version
-- total bigint optional, n bigint optional, id text, tool text, version text, archs jsonb, official boolean,
-- enabled boolean, beta boolean, deprecated boolean, deprecated_reason text null, created_at timestamptz,
-- usage bigint

-- statement: tool_versions_list
-- One page of the tool's versions, the newest first.
-- index: tool_versions_version, workspaces_terraform_version
-- reads: policy_sets
-- takes: tool text, exact text, search text, limit bigint, offset bigint
-- gives: tool_version
with found as (
    select id, row_number() over
        (order by string_to_array(substring(version from '^[0-9.]+'), '.')::numeric[] desc, version desc) as n
    from tool_versions
    where tool = :tool and (:exact::text is null or version = :exact)
        and (:search::text is null or strpos(version, :search) > 0)
)
select c.total, f.*
from (select count(*) as total from found) c
left join (
    select x.n, :tool_versions_columns()
    from (select * from found order by n limit :limit offset :offset) x
    join tool_versions v on v.id = x.id
) f on true
order by f.n;

-- statement: tool_version_read
-- The tool's version of that id.
-- index: tool_versions_version, workspaces_terraform_version
-- reads: policy_sets
-- takes: id text, tool text
-- gives: tool_version
select :tool_versions_columns() from tool_versions v where id = :id and tool = :tool;

-- statement: tool_version_create
-- Adds a version.
-- takes: id text, tool text, fields jsonb
insert into tool_versions (id, tool, :tool_versions_written())
select :id, :tool, :tool_versions_fields()
from (select :fields::jsonb as f) x;

-- statement: tool_version_update
-- Replaces all fields of the version.
-- index: tool_versions_pkey
-- takes: id text, fields jsonb
update tool_versions
set (:tool_versions_written()) = (select :tool_versions_fields() from (select :fields::jsonb as f) x)
where id = :id;

-- statement: tool_version_delete
-- Deletes the version.
-- index: tool_versions_pkey
-- takes: id text
delete from tool_versions where id = :id;

-- statement: tool_version_check
-- A row if that version of terraform is disabled.
-- index: tool_versions_version
-- takes: version text
select 1 from tool_versions where tool = 'terraform' and version = :version and not enabled;
