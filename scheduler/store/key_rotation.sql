-- SPDX-License-Identifier: MPL-2.0

-- rows: sealed_columns(name, table, column, context, key_text, match, behind, order)
-- The sealed columns. context: that of the seal. The primary key has four forms: as a text; the row with the
-- key :key; the rows behind :after ('': all); their order, which is that of the index, so that a page is read
-- from where the last one ended.
(ssh_keys.value_sealed, ssh_keys, value_sealed, id, id, id = :key, id > :after, id)
(site_secrets.value_sealed, site_secrets, value_sealed, 'site-secret:' || name, name, name = :key, name > :after, name)
(variables.value_sealed, variables, value_sealed, id, id, id = :key, id > :after, id)
(policy_set_parameters.value_sealed, policy_set_parameters, value_sealed, id, id, id = :key, id > :after, id)
(tasks.hmac_sealed, tasks, hmac_sealed, 'task-hmac-key', id, id = :key, id > :after, id)
(task_results.hmac_sealed, task_results, hmac_sealed, 'task-hmac-key', id, id = :key, id > :after, id)
(notification_configurations.url_sealed, notification_configurations, url_sealed, 'notification-url', id, id = :key,
    id > :after, id)
(notification_configurations.token_sealed, notification_configurations, token_sealed, 'notification-token', id,
    id = :key, id > :after, id)
(notification_responses.url_sealed, notification_responses, url_sealed, 'notification-url', id::text,
    id = :key::text::bigint, id > coalesce(nullif(:after, ''), '-1')::bigint, id)
(run_inputs.variables_sealed, run_inputs, variables_sealed, run_id, run_id, run_id = :key, run_id > :after, run_id)
(run_inputs.snapshot_sealed, run_inputs, snapshot_sealed, run_id, run_id, run_id = :key, run_id > :after, run_id)
(log_chunks.bytes_sealed, log_chunks, bytes_sealed, 'log:' || operation_id || ':' || start,
    operation_id || ':' || start,
    {operation_id = split_part(:key, ':', 1) and start = split_part(:key, ':', 2)::bigint},
    {(operation_id, start) > (split_part(:after, ':', 1),
        coalesce(nullif(split_part(:after, ':', 2), ''), '-1')::bigint)},
    {operation_id, start})
(unrecorded_resources.resource_id_sealed, unrecorded_resources, resource_id_sealed, 'unrecorded:' || digest, id,
    id = :key, id > :after, id)
(state_version_outputs.value_sealed, state_version_outputs, value_sealed, id, id, id = :key, id > :after, id)
(second_factors.secret_sealed, second_factors, secret_sealed, 'second-factor:' || id, id, id = :key, id > :after, id)
(rescues.key_sealed, rescues, key_sealed, object_key, object_key, object_key = :key, object_key > :after, object_key)
(state_bases.difference_sealed, state_bases, difference_sealed, state_version_id || ':' || blob_id, state_version_id,
    state_version_id = :key, state_version_id > :after, state_version_id)
(vcs_connections.secret_sealed, vcs_connections, secret_sealed, 'vcs-secret:' || id, id, id = :key, id > :after, id)
(vcs_connections.private_key_sealed, vcs_connections, private_key_sealed, 'vcs-private-key:' || id, id, id = :key,
    id > :after, id)
(vcs_tokens.token_sealed, vcs_tokens, token_sealed, 'vcs-token:' || id, id, id = :key, id > :after, id)
(vcs_tokens.refresh_sealed, vcs_tokens, refresh_sealed, 'vcs-refresh:' || id, id, id = :key, id > :after, id)
(vcs_tokens.ssh_key_sealed, vcs_tokens, ssh_key_sealed, 'vcs-ssh-key:' || id, id, id = :key, id > :after, id)
(vcs_installations.token_sealed, vcs_installations, token_sealed, 'vcs-installation:' || id, id, id = :key,
    id > :after, id)
(vcs_hook_removals.token_sealed, vcs_hook_removals, token_sealed, 'vcs-token:' || token_id, id, id = :key,
    id > :after, id)
(vcs_repositories.hook_secret_sealed, vcs_repositories, hook_secret_sealed, 'vcs-hook:' || id, id, id = :key,
    id > :after, id)
(vcs_repositories.hook_previous_sealed, vcs_repositories, hook_previous_sealed, 'vcs-hook:' || id, id, id = :key,
    id > :after, id)
(vcs_deliveries.body_sealed, vcs_deliveries, body_sealed, delivery_id, sequence::text, sequence = :key::text::bigint,
    sequence > coalesce(nullif(:after, ''), '-1')::bigint, sequence)
(vcs_authorizations.verifier_sealed, vcs_authorizations, verifier_sealed, 'vcs-verifier:' || state_hash, state_hash,
    state_hash = :key, state_hash > :after, state_hash)
(identity_providers.secret_sealed, identity_providers, secret_sealed, 'identity-provider:' || id, id, id = :key,
    id > :after, id)
(workload_keys.private_sealed, workload_keys, private_sealed, 'workload-key:' || id, id, id = :key, id > :after, id)
(sign_in_attempts.secrets_sealed, sign_in_attempts, secrets_sealed, 'sign-in-attempt:' || state_hash, state_hash,
    state_hash = :key, state_hash > :after, state_hash)
(forwards.request_sealed, forwards, request_sealed, id, id, id = :key, id > :after, id)
(forwards.answer_sealed, forwards, answer_sealed, id, id, id = :key, id > :after, id)
(blobs.bytes_sealed, blobs, bytes_sealed, id, id, id = :key, id > :after, id);

-- fragment: seal_number(bytes)
-- The number of the key that has sealed the bytes.
('x' || encode(substring(:bytes from 1 for 4), 'hex'))::bit(32)::bigint;

-- shape: sealed_count
-- number bigint, count bigint

-- shape: sealed_page
-- key text, size integer, old boolean

-- shape: sealed_row
-- context text, sealed bytea null optional, document text null optional

-- statement: sealed_count of sealed_columns
-- How many rows each key seals.
-- reads: blobs, forwards, identity_providers, log_chunks, notification_configurations, notification_responses,
-- policy_set_parameters, rescues, run_inputs, second_factors, sign_in_attempts, site_secrets, ssh_keys,
-- state_bases, state_version_outputs, task_results, tasks, unrecorded_resources, variables, vcs_authorizations,
-- vcs_connections, vcs_deliveries, vcs_hook_removals, vcs_installations, vcs_repositories, vcs_tokens,
-- workload_keys
-- gives: sealed_count
select :seal_number(:column) as number, count(*) as count
from :table
where :column is not null
group by 1;

-- statement: sealed_page of sealed_columns
-- The next rows behind :after. old: another key than :number has sealed the row.
-- takes: number bytea, after text, max bigint
-- gives: sealed_page
select :key_text as key, coalesce(octet_length(:column), 0) as size,
    :column is not null and substring(:column from 1 for 4) <> :number::bytea as old
from :table
where :behind
order by :order
limit :max;

-- statement: sealed_read of sealed_columns
-- Locks the row, if it is still old.
-- takes: key text, number bytea
-- gives: sealed_row
select :context as context, :column as sealed
from :table
where :match and substring(:column from 1 for 4) <> :number::bytea
for no key update;

-- statement: sealed_write of sealed_columns
-- Stores bytes that were sealed again.
-- takes: key text, sealed bytea
update :table set :column = :sealed where :match;

-- fragment: bundle_parameters()
-- The parameters of policy sets in the bundle of an evaluation.
jsonb_array_elements(bundle) s, jsonb_array_elements(coalesce(s->'parameters', '[]')) p,
    lateral (select decode(p->>'sealed', 'base64') as sealed) d
where d.sealed is not null;

-- statement: sealed_bundle_count
-- The same four statements for the parameters in bundles.
-- reads: policy_evaluations
-- gives: sealed_count
select :seal_number(d.sealed) as number, count(*) as count
from policy_evaluations, :bundle_parameters()
group by 1;

-- statement: sealed_bundle_page
-- The next bundles behind :after.
-- index: policy_evaluations_pkey
-- takes: like sealed_page_ssh_keys_value_sealed
-- gives: sealed_page
select id as key, octet_length(bundle::text) as size,
    exists (select 1 from :bundle_parameters() and substring(d.sealed from 1 for 4) <> :number::bytea) as old
from policy_evaluations
where id > :after
order by 1
limit :max;

-- statement: sealed_bundle_read
-- Locks the bundle, if it is still old.
-- index: policy_evaluations_pkey
-- takes: like sealed_read_ssh_keys_value_sealed
-- gives: sealed_row
select id as context, bundle::text as document
from policy_evaluations
where id = :key
    and exists (select 1 from :bundle_parameters() and substring(d.sealed from 1 for 4) <> :number::bytea)
for no key update;

-- statement: sealed_bundle_write
-- Stores a bundle whose parameters were sealed again.
-- index: policy_evaluations_pkey
-- takes: key text, document jsonb
update policy_evaluations set bundle = :document::jsonb where id = :key;

-- statement: object_list
-- Lists a new object for removal until the blob names it (store/content/blob_offload.h).
-- reads: object_usage
-- takes: key text, size bigint
with listed as (
    insert into object_removals (key, size, due_at) values (:key, :size, now() + interval '1 hour')
)
update object_usage
set objects = objects + 1, bytes = bytes + :size;

-- statement: object_swap_commit
-- Names the new object in the blob, and lists the old one for removal. Readers that have just looked up its key
-- may fetch it for another minute.
-- index: object_removals_due
-- takes: blob_id text, old text, key text, key_number bigint, size bigint
with moved as (
    update blobs
    set object_key = :key, object_key_number = :key_number
    where id = :blob_id and object_key = :old
        and exists (select 1 from object_removals where key = :key and due_at > now())
    returning id
),
kept as (delete from object_removals where key = :key and exists (select 1 from moved))
insert into object_removals (key, size, due_at)
select :old, :size, now() + interval '1 minute'
from moved
on conflict (key) do nothing;

-- statement: object_of_blob
-- A row if the blob still names the object.
-- index: blobs_pkey
-- takes: blob_id text, old text
select 1 from blobs where id = :blob_id and object_key = :old;

-- statement: object_number_set
-- Records the key of an object that was sealed with it already.
-- index: blobs_pkey
-- takes: blob_id text, old text, key_number bigint
update blobs set object_key_number = :key_number where id = :blob_id and object_key = :old;

-- statement: objects_old
-- The next blobs behind :after whose object has another key, or an unknown one, and a key for a new object.
-- index: blobs_pkey
-- takes: after text, key_number bigint, max bigint
-- gives: id text, object_key text null, size bigint, key text
select id, object_key, size, right(n, 2) || '/' || n as key
from blobs, lateral (select replace(gen_random_uuid()::text || left(id, 0), '-', '') as n) x
where id > :after and object_key is not null and object_key_number is distinct from :key_number
order by id
limit :max;

-- statement: sealing_keys_list
-- links_until: until when links may be valid that the key has signed: they are signed for up to three days
-- (auth/signed.c).
-- index: sealing_keys_pkey
-- gives: number bigint, used boolean, links_until timestamptz null
select number, :key_in_use() as used, case
    when last_used_at + interval '3 days' > now() then last_used_at + interval '3 days' end as links_until
from sealing_keys
order by number;

-- statement: objects_count
-- The objects of each key; null: not recorded, so it may be any.
-- reads: blobs
-- gives: number bigint null, count bigint
select object_key_number as number, count(*) as count
from blobs
where object_key is not null
group by 1;

-- statement: task_tokens_open
-- The tokens of run tasks that may still report.
-- reads: task_results
-- gives: id text, token_hash text null
select id, token_hash
from task_results
where token_hash is not null and delivery in ('waiting', 'claimed', 'acknowledged');

-- statement: sealing_key_retire
-- The key seals nothing any more.
-- index: sealing_keys_pkey
-- takes: number bigint
update sealing_keys set unused_at = now() where number = :number;
