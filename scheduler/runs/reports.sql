-- SPDX-License-Identifier: MPL-2.0

-- statement: reports_granted
-- Returns a row for each report whose token belongs to the job's current attempt, or to one whose last state is
-- outstanding (`late`). `n` is the index of the report; null jobs are skipped.
-- index: jobs_pkey, workspace_holds_pkey
-- takes: jobs text[], hashes text[]
-- gives: n bigint, run_id text, late boolean
select u.n - 1 as n, coalesce(j.run_id, h.run_id) as run_id, j.id is null as late
from unnest(:jobs::text[], :hashes::text[]) with ordinality as u(job, hash, n)
left join jobs j on j.id = u.job and j.token_hash = u.hash and j.state = 'claimed'
left join workspace_holds h on h.job_id = u.job and h.token_hash = u.hash and j.id is null
where j.id is not null or h.job_id is not null;
