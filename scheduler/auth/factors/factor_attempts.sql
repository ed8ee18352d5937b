-- SPDX-License-Identifier: MPL-2.0

-- fragment: factor_attempt_valid(a)
-- The condition that an attempt is recent.
:a.created_at > now() - interval '10 minutes';

-- statement: factor_attempt_begin
-- Stores an attempt of the browser, in place of an earlier one for that purpose.
-- takes: browser_hash text, purpose text, user_id text, challenge text, return_path text
insert into factor_attempts (browser_hash, purpose, user_id, challenge, return_path)
values (:browser_hash, :purpose, :user_id, :challenge, :return_path)
on conflict (browser_hash, purpose) do update set user_id = excluded.user_id, challenge = excluded.challenge,
    return_path = excluded.return_path, failures = 0, created_at = now();

-- statement: factor_attempt_read
-- The browser's recent attempt with its user, if they may sign in.
-- index: factor_attempts_pkey
-- takes: browser_hash text, purpose text
-- gives: user_id text null, username text null, return_path text null
select a.user_id, u.username, a.return_path
from factor_attempts a
join users u on u.id = a.user_id and not u.is_suspended
where a.browser_hash = :browser_hash and a.purpose = :purpose and :factor_attempt_valid(a);

-- statement: factor_challenge_set
-- Stores a challenge for the browser's recent attempt.
-- index: factor_attempts_pkey
-- takes: browser_hash text, purpose text, challenge text
update factor_attempts
set challenge = :challenge
where browser_hash = :browser_hash and purpose = :purpose and :factor_attempt_valid(factor_attempts);

-- statement: factor_challenge_take
-- Returns the challenge of the browser's recent attempt, and deletes it: it is valid once.
-- index: factor_attempts_pkey
-- takes: browser_hash text, purpose text
-- gives: challenge text null
with old as (
    select browser_hash, purpose, challenge
    from factor_attempts
    where browser_hash = :browser_hash and purpose = :purpose and :factor_attempt_valid(factor_attempts)
    for update
)
update factor_attempts a
set challenge = null
from old
where a.browser_hash = old.browser_hash and a.purpose = old.purpose
returning old.challenge;

-- statement: factor_attempt_fail
-- Counts a wrong answer. The tenth deletes the attempt: the browser has to begin again.
-- index: factor_attempts_pkey
-- takes: browser_hash text, purpose text
with counted as (
    update factor_attempts
    set failures = failures + 1
    where browser_hash = :browser_hash and purpose = :purpose and failures < 9
    returning 1
)
delete from factor_attempts
where browser_hash = :browser_hash and purpose = :purpose and failures >= 9;

-- statement: factor_attempt_end
-- Deletes the attempt, and returns it if no other request has: it leads to one session.
-- index: factor_attempts_pkey
-- takes: browser_hash text, purpose text
-- gives: user_id text null
delete from factor_attempts where browser_hash = :browser_hash and purpose = :purpose returning user_id;

-- statement: factor_attempts_sweep
-- Deletes attempts and links that are too old.
-- reads: factor_attempts, password_resets
with a as (delete from factor_attempts where created_at < now() - interval '1 hour')
delete from password_resets
where created_at < now() - interval '2 hours';
