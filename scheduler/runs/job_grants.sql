-- SPDX-License-Identifier: MPL-2.0

-- statement: job_granted
-- The claimed job, if the token's digest belongs to its current attempt.
-- index: jobs_pkey
-- takes: job_id text, hash text
-- gives: run_id text, workspace_id text, stage text, attempt integer, log_base bigint
select run_id, workspace_id, stage, attempt, log_base
from jobs
where id = :job_id and token_hash = :hash and state = 'claimed';

-- statement: job_plan_token
-- A row if the digest is of the token that made the plan, and one of the plan's two late uploads is missing.
-- index: operation_blobs_pkey, operations_pkey
-- takes: plan_id text, hash text
select 1
from operations
where id = :plan_id and upload_hash = :hash and status = 'finished'
    and (select count(*) from operation_blobs where operation_id = :plan_id and kind in ('json', 'schemas')) < 2;
