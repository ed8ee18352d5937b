-- SPDX-License-Identifier: MPL-2.0

-- fragment: invitations_columns()
m.id, m.organization_id, m.user_id, o.name as organization_name, coalesce(m.email, i.email) as email,
    m.created_at, m.created_at + interval '14 days' as expires_at;

-- fragment: invitations_tables()
from organization_memberships m
join organizations o on o.id = m.organization_id
join users i on i.id = m.user_id and i.username is null and not i.is_service_account;

-- fragment: address_is_of(user)
-- The condition that the user of that parameter has the address of the invited user `i`.
lower(i.email) = (select lower(p.email) from users p where p.id = :user and p.email_confirmed);

-- fragment: invitation_valid()
-- Conditions on a membership `m`: it is an invitation that can still be accepted, or one that has expired.
m.status = 'invited' and m.created_at > now() - interval '14 days';

-- fragment: invitation_expired()
m.status = 'invited' and m.created_at <= now() - interval '14 days';

-- statement: invitations_of_user
-- takes: user_id text
-- gives: id text, organization_id text, user_id text, organization_name text, email text,
-- created_at timestamptz, expires_at timestamptz
select :invitations_columns() :invitations_tables()
where :invitation_valid() and :address_is_of(:user_id)
order by lower(o.name);

-- statement: invitation_read
-- takes: membership_id text, user_id text, with_code boolean
-- gives: id text, organization_id text, user_id text, organization_name text, email text,
-- created_at timestamptz, expires_at timestamptz
select :invitations_columns() :invitations_tables()
where m.id = :membership_id and :invitation_valid() and (:with_code::boolean or :address_is_of(:user_id))
for update of m;

-- statement: invited_users_delete
-- takes: user_id text
delete from users u
where id = :user_id and username is null and not is_service_account
    and not exists (select 1 from organization_memberships m where m.user_id = u.id);

-- statement: subscriptions_move
-- takes: organization_id text, user_id text, user_id_2 text
with old as (
    delete from notification_users n
    using notification_configurations c
    where c.id = n.configuration_id and c.organization_id = :organization_id and n.user_id = :user_id
    returning n.configuration_id
)
insert into notification_users (configuration_id, user_id)
select configuration_id, :user_id_2
from old
on conflict do nothing;

-- statement: no_member_check
-- takes: organization_id text, user_id text
select 1
from organization_memberships
where organization_id = :organization_id and user_id = :user_id;

-- statement: invitations_accept_update
-- takes: membership_id text, person text
update organization_memberships
set user_id = :person, status = 'active', email = null
where id = :membership_id;

-- statement: invitations_accept_delete
-- takes: membership_id text
delete from notifications where membership_id = :membership_id;

-- statement: invitations_accept_update_2
-- takes: person text, with_code boolean, email text
update users
set email_confirmed = true
where id = :person and :with_code and lower(email) = lower(:email);

-- statement: invitations_decline
-- takes: membership_id text
delete from organization_memberships where id = :membership_id;

-- statement: invitations_sweep_delete
delete from organization_memberships m where :invitation_expired();

-- statement: invitations_sweep_delete_2
delete from users u
where username is null and not is_service_account
    and not exists (select 1 from organization_memberships m where m.user_id = u.id);

-- statement: invitation_mail_queue
-- takes: membership_id text, new_id text, notification_seconds double precision
insert into notifications (id, membership_id, trigger, happened_at, give_up_at)
values
    (:new_id, :membership_id, 'invitation', now(), now() + make_interval(secs => :notification_seconds));
