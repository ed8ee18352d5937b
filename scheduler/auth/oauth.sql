-- SPDX-License-Identifier: MPL-2.0

-- statement: oauth_code_create
-- Stores a code by its digest, with what its exchange must present.
-- takes: hash text, user_id text, challenge text, redirect text, provider_id text
insert into oauth_codes (hash, user_id, challenge, redirect_uri, provider_id)
values (:hash, :user_id, :challenge, :redirect, :provider_id);

-- statement: oauth_code_redeem
-- Deletes the code, so that it is valid once, and returns it unless it is older than five minutes.
-- index: oauth_codes_pkey, users_pkey
-- takes: hash text
-- gives: user_id text, challenge text, redirect_uri text, username text null,
-- provider_id text null
with c as (delete from oauth_codes where hash = :hash returning *)
select c.user_id, c.challenge, c.redirect_uri, u.username, c.provider_id
from c
join users u on u.id = c.user_id
where c.created_at > now() - interval '5 minutes';
