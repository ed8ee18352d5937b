-- SPDX-License-Identifier: MPL-2.0

-- statement: run_token_find
-- The place of the claimed job with that token: the token is valid while a worker holds the job.
-- index: jobs_run_token
-- takes: hash text
-- gives: run_id text, workspace_id text, organization_id text
select run_id, workspace_id, organization_id
from jobs
where run_token_hash = :hash and state = 'claimed';
