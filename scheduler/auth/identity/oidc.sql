-- SPDX-License-Identifier: MPL-2.0

-- statement: logout_token_use
-- Records that a logout token was used. No row if it was used before.
-- takes: id text, expires_at bigint
insert into logout_tokens (id, expires_at)
values (:id, to_timestamp(:expires_at::bigint))
on conflict do nothing
returning 1;

-- statement: logout_tokens_sweep
-- Deletes the logout tokens that have expired.
-- index: logout_tokens_expires
delete from logout_tokens where expires_at < now() - interval '5 minutes';
