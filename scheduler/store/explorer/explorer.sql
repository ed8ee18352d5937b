-- SPDX-License-Identifier: MPL-2.0

-- shape: explorer_row
-- total bigint null, id text null, attributes jsonb null

-- statement: explorer_planner
-- Other statements read a few rows. Those of the explorer join all of an organization's workspaces with what they
-- have, which takes seconds without hash joins.
set local enable_hashjoin = on;

-- fragment: explorer_passes(row, fields, operators, operands)
-- The condition that a row, as JSON, passes all filters. explorer_query.h names the operators.
(cardinality(:fields::text[]) = 0
        or not exists (
            select 1
            from unnest(:fields::text[], :operators::text[], :operands::text[]) q(field, operator, operand)
            cross join lateral (select :row ->> q.field as value) v
            where not coalesce(case q.operator
                        when 'is' then v.value = q.operand
                        when 'is_not' then v.value is distinct from q.operand
                        when 'contains' then strpos(v.value, q.operand) > 0
                        when 'does_not_contain' then coalesce(strpos(v.value, q.operand), 0) = 0
                        when 'is_empty' then coalesce(v.value, '') = ''
                        when 'is_not_empty' then coalesce(v.value, '') <> ''
                        when 'is_before' then :explorer_time(v.value) < q.operand::timestamptz
                        when 'is_after' then :explorer_time(v.value) > q.operand::timestamptz
                        when 'number_is' then v.value::numeric = q.operand::numeric
                        when 'number_is_not' then v.value::numeric is distinct from q.operand::numeric
                        when 'number_gt' then v.value::numeric > q.operand::numeric
                        when 'number_lt' then v.value::numeric < q.operand::numeric
                        when 'number_gteq' then v.value::numeric >= q.operand::numeric
                        when 'number_lteq' then v.value::numeric <= q.operand::numeric
                        when 'version_gt' then :explorer_version(v.value) > :explorer_version(q.operand)
                        when 'version_lt' then :explorer_version(v.value) < :explorer_version(q.operand)
                        when 'version_gteq' then :explorer_version(v.value) >= :explorer_version(q.operand)
                        when 'version_lteq' then :explorer_version(v.value) <= :explorer_version(q.operand)
                    end, false)
        ));

-- fragment: explorer_time(text)
-- Answers show milliseconds.
date_trunc('milliseconds', :text::timestamptz);

-- fragment: explorer_version(text)
explorer_version_key(:text) collate "C";

-- fragment: explorer_order(row)
-- The order of rows, as JSON: by the field, which may be a version. Rows without a value come last.
case when not :down::boolean and :by_version::boolean then :explorer_version({:row ->> :sort}) end nulls last,
    case when :down and :by_version then :explorer_version({:row ->> :sort}) end desc nulls last,
    case when not :down then nullif(:row -> :sort, 'null') end nulls last,
    case when :down then nullif(:row -> :sort, 'null') end desc nulls last;

-- fragment: explorer_found(rows)
-- One page of the rows of a view that pass the filters, with their number; one row with a null id if the page is
-- empty. An organization has some 10,000 such rows, which are all made.
with f as materialized (
    select x.id, x.attributes
    from (select v.id, to_jsonb(v) as attributes from (:rows) v) x
    where :explorer_passes(x.attributes, :fields, :operators, :operands)
)
select t.total, p.id, p.attributes
from (select count(*) as total from f) t
left join (
    select id, attributes, row_number() over () as place
    from (
        select id, attributes
        from f
        order by :explorer_order(f.attributes), id
        limit :limit
        offset :offset
    ) cut
) p on true
order by p.place;

-- fragment: explorer_seen(mask)
-- The condition that the requester sees what the mask's right shows of a workspace `w` of the organization.
w.organization_id = :organization_id and :in_scope(:everywhere, :user, w.id, :mask);

-- fragment: explorer_health()
-- Results of the last assessment of a workspace. Nothing is assessed yet, so there are none.
cross join (
    select null::boolean as all_checks_succeeded, null::bigint as checks_errored, null::bigint as checks_failed,
        null::bigint as checks_passed, null::bigint as checks_unknown, null::boolean as drifted,
        null::bigint as resources_drifted, null::bigint as resources_undrifted
) h;

-- fragment: explorer_configured_version()
-- The version of a workspace `w` that its settings ask for, as the API shows it.
coalesce(nullif(w.terraform_version, ''), 'latest');

-- fragment: explorer_idle_days()
-- Whole days since the newest run `c` of a workspace `w`, or since its creation.
floor(extract(epoch from now() - coalesce(c.created_at, w.created_at)) / 86400)::bigint;

-- fragment: explorer_run()
-- The current run `c` of a workspace `w`, and its estimate of costs.
left join runs c on c.id = coalesce(w.current_run_id, w.latest_run_id)
left join cost_estimates e on e.run_id = c.id;

-- fragment: explorer_tags()
-- The tags of the organization's workspaces.
select e.workspace_id, t.name as key, e.value
from tags t
cross join :tags_of_tag()
where t.organization_id = :organization_id;

-- statement: explorer_workspaces
-- Workspaces.
-- takes: organization_id text, user text, everywhere boolean, fields text[], operators text[], operands text[],
-- sort text, by_version boolean, down boolean, limit bigint, offset bigint
-- gives: explorer_row
:explorer_found({
        select w.id, h.*, coalesce(x.rum, 0) as current_rum_count,
            (c.status_timestamps ->> 'applied-at')::timestamptz as current_run_applied_at,
            c.id as current_run_external_id, c.status as current_run_status, w.id as external_id,
            coalesce(x.module_count, 0) as module_count, x.modules, o.name as organization_name,
            w.project_id as project_external_id, p.name as project_name,
            coalesce(x.provider_count, 0) as provider_count, x.providers, w.resource_count,
            null::text as source_module_id, s.terraform_version as state_version_terraform_version, g.tags,
            r.identifier as vcs_repo_identifier, w.created_at as workspace_created_at, w.name as workspace_name,
            :explorer_configured_version() as workspace_terraform_version, w.updated_at as workspace_updated_at,
            w.execution_mode, w.locked_by is not null as locked, s.size as state_size,
            :explorer_idle_days() as days_without_run, e.proposed_monthly_cost as monthly_cost
        from workspaces w
        join organizations o on o.id = w.organization_id
        join projects p on p.id = w.project_id
        left join explorer_workspaces x on x.workspace_id = w.id
        left join state_versions s on s.id = w.current_state_id
        left join (
            select u.workspace_id, v.identifier
            from workspace_repositories u
            join vcs_repositories v on v.id = u.repository_id
        ) r on r.workspace_id = w.id
        left join (
            select workspace_id,
                string_agg(key || case when value = '' then '' else ':' || value end, ', ' order by key) as tags
            from (:explorer_tags()) k
            group by workspace_id
        ) g on g.workspace_id = w.id :explorer_run() :explorer_health()
        where :explorer_seen(1)
    });

-- statement: explorer_tf_versions
-- Versions of terraform that workspaces are set to.
-- takes: like explorer_workspaces
-- gives: explorer_row
:explorer_found({
        select version as id, version as unique_identifier, version, count(*) as workspace_count,
            string_agg(name, ', ' order by lower(name)) as workspaces
        from (
            select :explorer_configured_version() as version, w.name from workspaces w where :explorer_seen(1)
        ) w
        group by version
    });

-- fragment: explorer_packages(kind)
-- Versions of modules or providers, with the workspaces that use them.
select md5(concat_ws(' ', :kind, k.source, k.version)) as id, min(k.name) as name, k.source,
    nullif(k.version, '') as version, min(k.registry_type) as registry_type, false as curated,
    count(*) as workspace_count, string_agg(w.name, ', ' order by lower(w.name)) as workspaces
from workspaces w
join explorer_packages k on k.workspace_id = w.id and k.kind = :kind
where :explorer_seen(1)
group by k.source, k.version;

-- statement: explorer_modules
-- Versions of modules.
-- takes: like explorer_workspaces
-- gives: explorer_row
:explorer_found({:explorer_packages('module')});

-- statement: explorer_providers
-- Versions of providers.
-- takes: like explorer_workspaces
-- gives: explorer_row
:explorer_found({:explorer_packages('provider')});

-- statement: explorer_outputs
-- Outputs of current states, without their values. `sensitive` ones only say that they exist.
-- takes: like explorer_workspaces
-- gives: explorer_row
:explorer_found({
        select v.id, v.name, v.type, v.sensitive, w.name as workspace_name, w.id as workspace_external_id,
            p.name as project_name, p.id as project_external_id
        from workspaces w
        join projects p on p.id = w.project_id
        join state_version_outputs v on v.state_version_id = w.current_state_id
        where :explorer_seen(64)
    });

-- statement: explorer_tags
-- Tags, with the workspaces that have them, also by their project.
-- takes: like explorer_workspaces
-- gives: explorer_row
:explorer_found({
        select md5(k.key || ' ' || k.value) as id, k.key, nullif(k.value, '') as value,
            count(*) as workspace_count, string_agg(w.name, ', ' order by lower(w.name)) as workspaces
        from (:explorer_tags()) k
        join workspaces w on w.id = k.workspace_id
        where :explorer_seen(1)
        group by k.key, k.value
    });

-- statement: explorer_projects
-- Projects with what their workspaces have and cost. Only the workspaces that the requester sees count.
-- takes: like explorer_workspaces
-- gives: explorer_row
:explorer_found({
        select p.id, p.name, p.id as external_id, count(*) as workspace_count,
            sum(w.resource_count)::bigint as resource_count, sum(s.size)::bigint as state_size,
            sum(e.proposed_monthly_cost) as monthly_cost
        from workspaces w
        join projects p on p.id = w.project_id
        left join state_versions s on s.id = w.current_state_id :explorer_run()
        where :explorer_seen(1)
        group by p.id, p.name
    });

-- ---- resources: millions, so a page does not read them all ----

-- fragment: explorer_places()
-- The workspaces whose resources may be shown, with the fields that are the same for all of their resources.
select w.id, w.name as workspace_name, to_jsonb(d) as attributes
from workspaces w
cross join lateral (
    select s.terraform_version, case when s.run_id is null then 'local' else 'run' end as source_type,
        s.run_id as source_id, s.created_at as source_updated_at, w.name as workspace_name,
        w.id as workspace_external_id, p.name as project_name, p.id as project_external_id,
        w.organization_id as organization_external_id
    from projects p
    left join state_versions s on s.id = w.current_state_id
    where p.id = w.project_id
) d
where :explorer_seen(2) and :explorer_passes(to_jsonb(d), :place_fields, :place_operators, :place_operands);

-- fragment: explorer_resource(r)
-- A resource as JSON.
jsonb_build_object('name', :r.name, 'address', :r.address, 'provider_type', :r.type, 'provider_name', :r.provider,
    'module_name', :r.module, 'billable_rum', :r.is_billable);

-- fragment: explorer_fits(r)
-- The condition that a resource passes the filters, in one of the workspaces `w`.
(:all_places::boolean or :r.workspace_id in (select id from w))
    and (cardinality(:fields::text[]) = 0
            or :explorer_passes({:explorer_resource(:r)}, :fields, :operators, :operands));

-- fragment: explorer_candidates()
-- Resources by the filter that an index finds, :by: only one part of the union is active. `offset 0` makes it be
-- planned by itself.
select r.*
from explorer_resources r
where :by::text = 'address' and r.address like :pattern and r.organization_id = :organization_id
union all
select r.* from explorer_resources r where :by = 'name' and r.organization_id = :organization_id and r.name = :value
union all
select r.* from explorer_resources r where :by = 'type' and r.organization_id = :organization_id and r.type = :value
union all
select r.*
from explorer_resources r
where :by = 'module' and r.organization_id = :organization_id and r.module = :value
union all
select r.*
from explorer_resources r
where :by = 'provider' and r.organization_id = :organization_id and r.provider = :value
union all
select r.*
from w
cross join lateral (select * from explorer_resources where workspace_id = w.id offset 0) r
where :by = 'place';

-- fragment: explorer_resources_page(pages)
-- One page of resources. Up to :most of those that an index finds are sorted and counted (c). If there are more, or
-- no filter has an index, the page is read in the order of an index instead (:pages), and resources are counted only
-- if there is no filter: then total is null.
with w as materialized (:explorer_places()),
c as materialized (
    select r.*
    from (:explorer_candidates()) r
    where :by <> '' and :explorer_fits(r)
    limit :most::bigint + 1
),
n as materialized (select count(*) as found, :by <> '' and count(*) <= :most as is_all from c),
p as (
    (
        select r.*, row_number() over (order by :explorer_order({(w.attributes || :explorer_resource(r))}),
            r.address, r.workspace_id) as place
        from c r
        join w on w.id = r.workspace_id
        where (select is_all from n)
        order by place
        limit :limit
        offset :offset
    )
    union all
    (:pages)
)
select case when n.is_all then n.found when :uncounted::boolean then null else (
        select sum(x.resources)::bigint from w join explorer_workspaces x on x.workspace_id = w.id
    ) end as total, s.id, s.attributes
from n
left join (
    select 'wsr-' ||
        substr(encode(sha256(convert_to(p.workspace_id || E'\n' || p.address, 'UTF8')), 'hex'), 1, 16) as id,
        w.attributes || :explorer_resource(p) as attributes, p.place
    from p
    join w on w.id = p.workspace_id
) s on true
order by s.place;

-- fragment: explorer_resources_ordered(order)
-- A page in the order of an index.
select r.*, row_number() over () as place
from (
    select r.*
    from explorer_resources r
    where not (select is_all from n) and r.organization_id = :organization_id and :explorer_fits(r)
    order by :order
    limit :limit
    offset :offset
) r;

-- rows: explorer_resource_orders(field, order)
(address, {r.address, r.workspace_id})
(address_down, {r.address desc, r.workspace_id desc})
(type, {r.type, r.workspace_id})
(type_down, {r.type desc, r.workspace_id desc})
(name, {r.name, r.workspace_id})
(name_down, {r.name desc, r.workspace_id desc})
(module, {r.module, r.workspace_id})
(module_down, {r.module desc, r.workspace_id desc})
(provider, {r.provider, r.workspace_id})
(provider_down, {r.provider desc, r.workspace_id desc})
(billable, {r.is_billable, r.workspace_id})
(billable_down, {r.is_billable desc, r.workspace_id desc});

-- statement: explorer_resources of explorer_resource_orders
-- Resources by one of their fields.
-- takes: organization_id text, user text, everywhere boolean, fields text[], operators text[], operands text[],
-- place_fields text[], place_operators text[], place_operands text[], all_places boolean, uncounted boolean, by text,
-- pattern text, value text, most bigint, sort text, by_version boolean, down boolean, limit bigint, offset bigint
-- gives: explorer_row
:explorer_resources_page({:explorer_resources_ordered({:order})});

-- statement: explorer_resources_by_place
-- Resources by a field of their workspace.
-- takes: like explorer_resources_address
-- gives: explorer_row
:explorer_resources_page({
        select r.*, row_number() over () as place
        from (
            select r.*
            from (select id, row_number() over (order by :explorer_order(attributes), id) as place from w) o
            cross join lateral (
                select *
                from explorer_resources r
                where not (select is_all from n) and r.workspace_id = o.id and :explorer_fits(r)
                order by r.address
                offset 0
            ) r
            order by o.place, r.address
            limit :limit
            offset :offset
        ) r
    });
