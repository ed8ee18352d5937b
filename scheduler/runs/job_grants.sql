-- SPDX-License-Identifier: MPL-2.0

-- statement: job_granted
-- takes: job_id text, hash text
-- gives: run_id text, workspace_id text, stage text, attempt integer, log_base bigint
select run_id, workspace_id, stage, attempt, log_base
from jobs
where id = :job_id and token_hash = :hash and state = 'claimed';

-- statement: plan_token_valid
-- takes: plan_id text, hash text
select 1
from operations
where id = :plan_id and upload_hash = :hash and status = 'finished'
    and (
        select count(*) from operation_blobs where operation_id = :plan_id and kind in ('json', 'schemas')
    ) < 2;
