-- SPDX-License-Identifier: MPL-2.0
-- Which keys are in use, so that a key can go when nothing needs it, and a scheduler does not start without one that is
-- needed (store/keys.h).

-- A key that was never first has sealed nothing. A scheduler sets last_used_at while the key is its first one.
alter table sealing_keys add column first_used_at timestamptz;
alter table sealing_keys add column last_used_at timestamptz;
-- When rotate-keys found nothing that is sealed with it. The key is in use again if it is used later.
alter table sealing_keys add column unused_at timestamptz;
update sealing_keys set first_used_at = created_at, last_used_at = now();

-- The number of the key that an object is sealed with; null: it was written by an earlier version.
alter table blobs add column object_key_number bigint;
