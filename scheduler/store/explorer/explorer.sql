-- SPDX-License-Identifier: MPL-2.0

-- shape: explorer_row
-- total bigint null, id text null, attributes jsonb null

-- statement: explorer_planner
-- Other statements read a few rows. Those of the explorer join all of an organization's workspaces with what they
-- have, which takes seconds without hash joins.
set local enable_hashjoin = on;

-- fragment: explorer_passes(value, fields, operators, operands)
-- The condition that a row passes all filters. `value` is that of the field q.field, as a text; explorer_fields.def
-- names the operators. `offset 0` computes the value once, which takes longer than all comparisons with it.
(cardinality(:fields::text[]) = 0
        or not exists (
            select 1
            from unnest(:fields::text[], :operators::text[], :operands::text[]) q(field, operator, operand)
            cross join lateral (select :value as value offset 0) v
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
-- The key of a release stands here, since the function takes ten times as long (20 us), and filters need the keys of
-- thousands of rows.
(case
        when (:text) ~ '^v?[0-9]{1,12}(\.[0-9]{1,12}){0,2}$' then
            lpad(split_part(ltrim((:text), 'v'), '.', 1), 12, '0') || lpad(split_part((:text), '.', 2), 12, '0') ||
            lpad(split_part((:text), '.', 3), 12, '0') || '~'
        else explorer_version_key((:text)) end) collate "C";

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
    where :explorer_passes({x.attributes ->> q.field}, :fields, :operators, :operands)
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

-- fragment: explorer_found_by_value(rows, shown, sorted, filtered)
-- The same for views with so many rows that only those of the page are made as JSON (`shown`): `sorted` and
-- `filtered` are the fields :sort and q.field of a row `v` of `rows`, as JSON.
with f as materialized (
    select v.id, nullif(:sorted, 'null') as key,
        case when :by_version::boolean then :explorer_version({:sorted #>> '{}'}) end as version
    from (:rows) v
    where :explorer_passes({:filtered #>> '{}'}, :fields, :operators, :operands)
),
p as materialized (
    select id, row_number() over () as place
    from (
        select id
        from f
        order by case when not :down::boolean then version end nulls last,
            case when :down then version end desc nulls last, case when not :down then key end nulls last,
            case when :down then key end desc nulls last, id
        limit :limit
        offset :offset
    ) cut
)
select t.total, s.id, s.attributes
from (select count(*) as total from f) t
left join (
    select p.id, p.place, to_jsonb(v) as attributes
    from p
    cross join lateral (select * from (:shown) v where v.id = p.id offset 0) v
) s on true
order by s.place;

-- fragment: explorer_seen(mask)
-- The condition that the requester sees what the mask's right shows of a workspace `w` of the organization.
w.organization_id = :organization_id and w.module_id is null and :in_scope(:everywhere, :user, w.id, :mask);

-- fragment: explorer_health()
-- The result of the last assessment of a workspace `w`; null: none succeeded yet.
left join lateral (
    select r.checks_failed + r.checks_errored = 0 as all_checks_succeeded, r.checks_errored, r.checks_failed,
        r.checks_passed, r.checks_unknown, r.drifted, r.resources_drifted, r.resources_undrifted
    from assessment_results r
    where r.id = w.assessment_id and r.succeeded
) h on true;

-- fragment: explorer_configured_version()
-- The version of a workspace `w` that its settings ask for, as the API shows it.
coalesce(nullif(w.terraform_version, ''), 'latest');

-- fragment: explorer_idle_days()
-- Whole days since the newest run of a workspace `w`, or since its creation.
floor(extract(epoch from now() - coalesce(:explorer_of_run(created_at), w.created_at)) / 86400)::bigint;

-- fragment: explorer_tags()
-- The tags of the organization's workspaces.
select e.workspace_id, t.name as key, e.value
from tags t
cross join :tags_of_tag()
where t.organization_id = :organization_id;

-- fragment: explorer_tag_list()
string_agg(k.key || case when k.value = '' then '' else ':' || k.value end, ', ' order by k.key);

-- fragment: explorer_tags_of_all()
-- The tags `g` of all workspaces, if a filter or the order needs them.
left join (
    select k.workspace_id, :explorer_tag_list() as tags
    from (:explorer_tags()) k
    where :sort = 'tags' or 'tags' = any(:fields::text[])
    group by k.workspace_id
) g on g.workspace_id = w.id;

-- fragment: explorer_of_state(column)
(select x.:column from state_versions x where x.id = w.current_state_id);

-- fragment: explorer_of_run(column)
(select x.:column from runs x where x.id = coalesce(w.current_run_id, w.latest_run_id));

-- fragment: explorer_known(column)
(select x.:column from explorer_workspaces x where x.workspace_id = w.id);

-- fragment: explorer_cost()
-- The estimate of a workspace's current run.
(
    select x.proposed_monthly_cost
    from cost_estimates x
    where x.run_id = coalesce(w.current_run_id, w.latest_run_id)
);

-- fragment: explorer_workspace_rows(tags, join)
-- What is in other tables is read by index lookups, and only for the fields that a filter, the order or the page needs.
select w.id, h.*, coalesce(:explorer_known(rum), 0) as current_rum_count,
    (:explorer_of_run(status_timestamps) ->> 'applied-at')::timestamptz as current_run_applied_at,
    coalesce(w.current_run_id, w.latest_run_id) as current_run_external_id,
    :explorer_of_run(status) as current_run_status, w.id as external_id,
    coalesce(:explorer_known(module_count), 0) as module_count, :explorer_known(modules) as modules,
    o.name as organization_name, w.project_id as project_external_id, p.name as project_name,
    coalesce(:explorer_known(provider_count), 0) as provider_count, :explorer_known(providers) as providers,
    w.resource_count, null::text as source_module_id,
    :explorer_of_state(terraform_version) as state_version_terraform_version, :tags as tags,
    (
        select r.identifier
        from workspace_repositories u
        join vcs_repositories r on r.id = u.repository_id
        where u.workspace_id = w.id
    ) as vcs_repo_identifier,
    w.created_at as workspace_created_at, w.name as workspace_name,
    :explorer_configured_version() as workspace_terraform_version, w.updated_at as workspace_updated_at,
    w.execution_mode, w.locked_by is not null as locked, :explorer_of_state(size) as state_size,
    :explorer_idle_days() as days_without_run, :explorer_cost() as monthly_cost
from workspaces w
join organizations o on o.id = w.organization_id
join projects p on p.id = w.project_id :join :explorer_health()
where :explorer_seen(1);

-- fragment: explorer_workspace_value(field)
case :field
    when 'all_checks_succeeded' then to_jsonb(v.all_checks_succeeded)
    when 'checks_errored' then to_jsonb(v.checks_errored)
    when 'checks_failed' then to_jsonb(v.checks_failed)
    when 'checks_passed' then to_jsonb(v.checks_passed)
    when 'checks_unknown' then to_jsonb(v.checks_unknown)
    when 'current_rum_count' then to_jsonb(v.current_rum_count)
    when 'current_run_applied_at' then to_jsonb(v.current_run_applied_at)
    when 'current_run_external_id' then to_jsonb(v.current_run_external_id)
    when 'current_run_status' then to_jsonb(v.current_run_status)
    when 'drifted' then to_jsonb(v.drifted)
    when 'external_id' then to_jsonb(v.external_id)
    when 'module_count' then to_jsonb(v.module_count)
    when 'modules' then to_jsonb(v.modules)
    when 'organization_name' then to_jsonb(v.organization_name)
    when 'project_external_id' then to_jsonb(v.project_external_id)
    when 'project_name' then to_jsonb(v.project_name)
    when 'provider_count' then to_jsonb(v.provider_count)
    when 'providers' then to_jsonb(v.providers)
    when 'resource_count' then to_jsonb(v.resource_count)
    when 'resources_drifted' then to_jsonb(v.resources_drifted)
    when 'resources_undrifted' then to_jsonb(v.resources_undrifted)
    when 'source_module_id' then to_jsonb(v.source_module_id)
    when 'state_version_terraform_version' then to_jsonb(v.state_version_terraform_version)
    when 'tags' then to_jsonb(v.tags)
    when 'vcs_repo_identifier' then to_jsonb(v.vcs_repo_identifier)
    when 'workspace_created_at' then to_jsonb(v.workspace_created_at)
    when 'workspace_name' then to_jsonb(v.workspace_name)
    when 'workspace_terraform_version' then to_jsonb(v.workspace_terraform_version)
    when 'workspace_updated_at' then to_jsonb(v.workspace_updated_at)
    when 'execution_mode' then to_jsonb(v.execution_mode)
    when 'locked' then to_jsonb(v.locked)
    when 'state_size' then to_jsonb(v.state_size)
    when 'days_without_run' then to_jsonb(v.days_without_run)
    when 'monthly_cost' then to_jsonb(v.monthly_cost)
end;

-- statement: explorer_workspaces
-- Workspaces.
-- takes: organization_id text, user text, everywhere boolean, fields text[], operators text[], operands text[],
-- sort text, by_version boolean, down boolean, limit bigint, offset bigint
-- gives: explorer_row
:explorer_found_by_value({:explorer_workspace_rows(g.tags, {:explorer_tags_of_all()})},
        {:explorer_workspace_rows({(
                    select :explorer_tag_list() from effective_tags k where k.workspace_id = w.id
                )}, {})},
        {:explorer_workspace_value(:sort)}, {:explorer_workspace_value(q.field)});

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
cross join lateral (select * from explorer_packages where workspace_id = w.id and kind = :kind offset 0) k
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

-- fragment: explorer_output_columns()
select v.id, v.name, v.type, v.sensitive, w.name as workspace_name, w.id as workspace_external_id,
    p.name as project_name, p.id as project_external_id;

-- fragment: explorer_output_rows()
:explorer_output_columns()
from workspaces w
join projects p on p.id = w.project_id
cross join lateral (select * from state_version_outputs where state_version_id = w.current_state_id offset 0) v
where :explorer_seen(64);

-- fragment: explorer_outputs_shown()
-- Those that explorer_output_rows has found, by their ids.
:explorer_output_columns()
from state_version_outputs v
cross join lateral (select workspace_id from state_versions where id = v.state_version_id offset 0) s
cross join lateral (select * from workspaces where id = s.workspace_id offset 0) w
cross join lateral (select * from projects where id = w.project_id offset 0) p;

-- fragment: explorer_output_value(field)
case :field
    when 'name' then to_jsonb(v.name)
    when 'type' then to_jsonb(v.type)
    when 'sensitive' then to_jsonb(v.sensitive)
    when 'workspace_name' then to_jsonb(v.workspace_name)
    when 'workspace_external_id' then to_jsonb(v.workspace_external_id)
    when 'project_name' then to_jsonb(v.project_name)
    when 'project_external_id' then to_jsonb(v.project_external_id)
end;

-- statement: explorer_outputs
-- Outputs of current states, without their values. `sensitive` ones only say that they exist.
-- takes: like explorer_workspaces
-- gives: explorer_row
:explorer_found_by_value({:explorer_output_rows()}, {:explorer_outputs_shown()}, {:explorer_output_value(:sort)},
        {:explorer_output_value(q.field)});

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
            sum(w.resource_count)::bigint as resource_count, sum(:explorer_of_state(size))::bigint as state_size,
            sum(:explorer_cost()) as monthly_cost
        from workspaces w
        join projects p on p.id = w.project_id
        where :explorer_seen(1)
        group by p.id, p.name
    });

-- ---- resources: millions, so a page does not read them all ----

-- fragment: explorer_place()
-- The fields that are the same for all resources of a workspace `w`.
select s.terraform_version, case when s.run_id is null then 'local' else 'run' end as source_type,
    s.run_id as source_id, s.created_at as source_updated_at, w.name as workspace_name,
    w.id as workspace_external_id, p.name as project_name, p.id as project_external_id,
    w.organization_id as organization_external_id
from projects p
left join lateral (select * from state_versions where id = w.current_state_id offset 0) s on true
where p.id = w.project_id;

-- fragment: explorer_place_value(d)
-- The field q.field of a place.
case q.field
    when 'terraform_version' then :d.terraform_version
    when 'source_type' then :d.source_type
    when 'source_id' then :d.source_id
    when 'source_updated_at' then :d.source_updated_at::text
    when 'workspace_name' then :d.workspace_name
    when 'workspace_external_id' then :d.workspace_external_id
    when 'project_name' then :d.project_name
    when 'project_external_id' then :d.project_external_id
    when 'organization_external_id' then :d.organization_external_id
end;

-- fragment: explorer_places()
-- The workspaces whose resources may be shown.
select w.id
from workspaces w
where :explorer_seen(2)
    and (cardinality(:place_fields::text[]) = 0
            or exists (
                select 1
                from (:explorer_place()) d
                where :explorer_passes({:explorer_place_value(d)}, :place_fields, :place_operators, :place_operands)
            ));

-- fragment: explorer_resource(r)
-- A resource as JSON.
jsonb_build_object('name', :r.name, 'address', :r.address, 'provider_type', :r.type, 'provider_name', :r.provider,
    'module_name', :r.module, 'billable_rum', :r.is_billable);

-- fragment: explorer_resource_value(r)
-- The field q.field of a resource.
case q.field when 'name' then :r.name when 'address' then :r.address when 'provider_type' then :r.type
    when 'provider_name' then :r.provider when 'module_name' then :r.module else :r.is_billable::text end;

-- fragment: explorer_fits(r)
-- The condition that a resource passes the filters, in one of the workspaces `w`.
(:all_places::boolean or :r.workspace_id in (select id from w))
    and (:name::text is null or :r.name = :name)
    and (:type::text is null or :r.type = :type)
    and (:module::text is null or :r.module = :module)
    and (:provider::text is null or :r.provider = :provider)
    and (cardinality(:fields::text[]) = 0
            or :explorer_passes({:explorer_resource_value(:r)}, :fields, :operators, :operands));

-- fragment: explorer_candidates()
-- Resources by the filter that an index finds, :by: only one part of the union is active. `offset 0` makes it be
-- planned by itself.
select r.*
from explorer_resources r
where :by::text = 'address' and r.address like :pattern and r.organization_id = :organization_id
union all
select r.* from explorer_resources r where :by = 'name' and r.organization_id = :organization_id and r.name = :name
union all
select r.* from explorer_resources r where :by = 'type' and r.organization_id = :organization_id and r.type = :type
union all
select r.*
from explorer_resources r
where :by = 'module' and r.organization_id = :organization_id and r.module = :module
union all
select r.*
from explorer_resources r
where :by = 'provider' and r.organization_id = :organization_id and r.provider = :provider
union all
select r.*
from w
cross join lateral (select * from explorer_resources where workspace_id = w.id offset 0) r
where :by = 'place';

-- fragment: explorer_resources_page(pages)
-- One page of resources. Up to :max of those that an index finds are sorted and counted (c). If there are more, or
-- no filter has an index, the page is read in the order of an index instead (:pages), and resources are counted only
-- if there is no filter: then total is null.
with w as materialized (:explorer_places()),
c as materialized (
    select r.*
    from (:explorer_candidates()) r
    where :by <> '' and :explorer_fits(r)
    limit :max::bigint + 1
),
n as materialized (select count(*) as found, :by <> '' and count(*) <= :max as is_all from c),
p as (
    (
        select r.*, row_number() over (order by :explorer_order(a.attributes), r.address, r.workspace_id) as place
        from c r
        cross join lateral (
            select case when :explorer_resource(r) ? :sort then :explorer_resource(r)
                else (
                    select to_jsonb(d)
                    from workspaces w
                    cross join lateral (:explorer_place()) d
                    where w.id = r.workspace_id
                ) end as attributes
        ) a
        where (select is_all from n)
        order by place
        limit :limit
        offset :offset
    )
    union all
    (:pages)
)
select case when n.is_all then n.found when :uncounted::boolean then null else (
        select sum((select x.resources from explorer_workspaces x where x.workspace_id = w.id))::bigint from w
    ) end as total, s.id, s.attributes
from n
left join (
    select 'wsr-' ||
        substr(encode(sha256(convert_to(p.workspace_id || E'\n' || p.address, 'UTF8')), 'hex'), 1, 16) as id,
        to_jsonb(d) || :explorer_resource(p) as attributes, p.place
    from p
    join workspaces w on w.id = p.workspace_id
    cross join lateral (:explorer_place()) d
) s on true
order by s.place;

-- fragment: explorer_resources_ordered(from, order)
-- A page in the order of an index, which is read from the value that its column must have. `from` compares with
-- `>=`: an index serves no condition with `or`.
select r.*, row_number() over () as place
from (
    select r.*
    from explorer_resources r
    where not (select is_all from n) and r.organization_id = :organization_id and :from and :explorer_fits(r)
    order by :order
    limit :limit
    offset :offset
) r;

-- rows: explorer_resource_orders(field, from, order)
(address, {true}, {r.address, r.workspace_id})
(address_down, {true}, {r.address desc, r.workspace_id desc})
(type, {r.type >= coalesce(:type, '')}, {r.type, r.workspace_id})
(type_down, {true}, {r.type desc, r.workspace_id desc})
(name, {r.name >= coalesce(:name, '')}, {r.name, r.workspace_id})
(name_down, {true}, {r.name desc, r.workspace_id desc})
(module, {r.module >= coalesce(:module, '')}, {r.module, r.workspace_id})
(module_down, {true}, {r.module desc, r.workspace_id desc})
(provider, {r.provider >= coalesce(:provider, '')}, {r.provider, r.workspace_id})
(provider_down, {true}, {r.provider desc, r.workspace_id desc})
(billable, {true}, {r.is_billable, r.workspace_id})
(billable_down, {true}, {r.is_billable desc, r.workspace_id desc});

-- statement: explorer_resources of explorer_resource_orders
-- Resources by one of their fields.
-- takes: organization_id text, user text, everywhere boolean, fields text[], operators text[], operands text[],
-- place_fields text[], place_operators text[], place_operands text[], all_places boolean, uncounted boolean, by text,
-- pattern text, name text null, type text null, module text null, provider text null, max bigint,
-- sort text, by_version boolean, down boolean, limit bigint, offset bigint
-- gives: explorer_row
:explorer_resources_page({:explorer_resources_ordered({:from}, {:order})});

-- statement: explorer_resources_by_place
-- Resources by a field of their workspace. Workspaces are read one after the other, which gives their rows in
-- order, until the page is full: a sort would read all resources.
-- takes: like explorer_resources_address
-- gives: explorer_row
:explorer_resources_page({
        select r.*, row_number() over () as place
        from (
            select r.*
            from (
                select e.id
                from (
                    select w.id, to_jsonb(d) as attributes
                    from w x
                    cross join lateral (select * from workspaces where id = x.id offset 0) w
                    cross join lateral (:explorer_place()) d
                    offset 0
                ) e
                order by :explorer_order(e.attributes), e.id
            ) o
            cross join lateral (
                select *
                from explorer_resources r
                where not (select is_all from n) and r.workspace_id = o.id and :explorer_fits(r)
                order by r.address
                offset 0
            ) r
            limit :limit
            offset :offset
        ) r
    });
