-- SPDX-License-Identifier: MPL-2.0

-- statement: break_glass_read
-- Whether the account is for emergencies.
-- index: users_pkey
-- takes: user_id text
-- gives: is_break_glass boolean
select is_break_glass from users where id = :user_id;

-- statement: break_glass_set
-- Marks the account of a person as one for emergencies, or as an ordinary one.
-- index: users_pkey
-- takes: user_id text, wanted boolean
update users
set is_break_glass = :wanted
where id = :user_id and not is_service_account;
