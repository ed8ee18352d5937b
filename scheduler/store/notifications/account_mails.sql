-- SPDX-License-Identifier: MPL-2.0

-- statement: account_mail_insert
-- Queues a mail to a user as a notification, for at most `notification_seconds`.
-- takes: new_id text, kind text, recipient_id text, reset_id text, subject_id text,
-- notification_seconds double precision
insert into notifications (id, recipient_id, reset_id, subject_id, trigger, happened_at, give_up_at)
values (:new_id, :recipient_id, :reset_id, :subject_id, :kind, now(),
    now() + make_interval(secs => :notification_seconds));

-- statement: account_mail_admins
-- The site admins who have an address.
-- reads: users
-- gives: id text
select id
from users
where is_site_admin and not is_suspended and not is_service_account and email is not null
order by id
limit 100;
