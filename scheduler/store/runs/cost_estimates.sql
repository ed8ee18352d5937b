-- SPDX-License-Identifier: MPL-2.0

-- fragment: cost_estimation(w, o)
-- Whether runs of a workspace w of an organization o get a cost estimate: the site must not have switched them off.
(
    coalesce(
        coalesce(:w.settings -> 'cost-estimation-enabled', :o.settings -> 'cost-estimation-enabled') = 'true'::jsonb,
        false
    )
    and coalesce(
        (select (settings -> 'cost-estimation' ->> 'enabled')::boolean from site_settings),
        true
    )
);

-- statement: cost_estimate_create
-- Creates the run's estimate if a setting enables it; returns its id then.
-- index: organizations_pkey, runs_pkey, workspaces_pkey
-- reads: site_settings
-- takes: run_id text, id text, status text
-- gives: id text
insert into cost_estimates (id, run_id, status, status_timestamps)
select :id, r.id, :status,
    jsonb_build_object(
        replace(:status, '_', '-') || '-at',
        to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    )
from runs r
join workspaces w on w.id = r.workspace_id
join organizations o on o.id = r.organization_id
where r.id = :run_id and :cost_estimation(w, o)
returning id;

-- statement: cost_estimate_keep
-- Writes a worker's result.
-- index: cost_estimates_run_id_key
-- takes: run_id text, document jsonb, prior numeric, proposed numeric, delta numeric, currency text,
-- resources integer, matched integer, unmatched integer, error text
update cost_estimates
set document = :document::jsonb, prior_monthly_cost = :prior::numeric, proposed_monthly_cost = :proposed::numeric,
    delta_monthly_cost = :delta::numeric, currency = :currency, resources_count = :resources,
    matched_resources_count = :matched, unmatched_resources_count = :unmatched, error_message = left(:error, 1000)
where run_id = :run_id;

-- shape: cost_estimate
-- id text, run_id text, status text, status_timestamps jsonb, prior_monthly_cost numeric null,
-- proposed_monthly_cost numeric null, delta_monthly_cost numeric null, currency text null,
-- resources_count integer, matched_resources_count integer, unmatched_resources_count integer,
-- document jsonb null, error_message text null, created_at timestamptz, organization_id text, workspace_id text

-- fragment: cost_estimates()
select c.*, r.organization_id, r.workspace_id from cost_estimates c join runs r on r.id = c.run_id;

-- statement: cost_estimate_view
-- One estimate.
-- index: cost_estimates_pkey, runs_pkey
-- takes: id text
-- gives: cost_estimate
:cost_estimates() where c.id = :id;

-- statement: cost_estimate_views_of
-- Estimates by their ids.
-- index: cost_estimates_pkey, runs_pkey
-- takes: ids text[]
-- gives: cost_estimate
:cost_estimates() where c.id = any(:ids::text[]);
