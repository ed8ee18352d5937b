-- SPDX-License-Identifier: MPL-2.0

-- fragment: invitations_columns()
-- Columns of invitations with invitations_tables.
m.id, m.organization_id, m.user_id, o.name as organization_name, coalesce(m.email, i.email) as email,
    m.created_at, m.created_at + interval '14 days' as expires_at;

-- fragment: invitations_tables()
-- Invitations with their organizations. The invited user `i` has no name.
from organization_memberships m
join organizations o on o.id = m.organization_id
join users i on i.id = m.user_id and i.username is null and not i.is_service_account;

-- fragment: address_is_of(user)
-- The condition that the user has the address of the invited user `i`, and it is confirmed.
lower(i.email) = (select lower(p.email) from users p where p.id = :user and p.email_confirmed);

-- fragment: invitation_valid()
-- The condition that a membership `m` is an invitation that can still be accepted.
m.status = 'invited' and m.created_at > now() - interval '14 days';

-- fragment: invitation_expired()
-- The condition that a membership `m` is an invitation that has expired: after 14 days.
m.status = 'invited' and m.created_at <= now() - interval '14 days';

-- shape: invitation
-- id text, organization_id text, user_id text, organization_name text, email text, created_at timestamptz,
-- expires_at timestamptz

-- statement: invitations_of_user
-- Invitations to the user's confirmed address, by the organization's name.
-- index: organization_memberships_user, users_invited
-- takes: user_id text
-- gives: invitation
select :invitations_columns() :invitations_tables()
where :invitation_valid() and :address_is_of(:user_id)
order by lower(o.name);

-- statement: invitation_read
-- One that the user may answer: with its code, or because the address is theirs. Locks the membership.
-- index: organization_memberships_id, users_invited
-- takes: membership_id text, user_id text, with_code boolean
-- gives: invitation
select :invitations_columns() :invitations_tables()
where m.id = :membership_id and :invitation_valid() and (:with_code::boolean or :address_is_of(:user_id))
for update of m;

-- statement: invited_user_clean
-- Deletes the user if they have no name and are not invited by any organization any more.
-- index: organization_memberships_user, users_invited
-- takes: user_id text
delete from users u
where id = :user_id and username is null and not is_service_account
    and not exists (select 1 from organization_memberships m where m.user_id = u.id);

-- statement: invitation_subscriptions_move
-- Moves the e-mail subscriptions that the organization set up for the invited user to the user who accepts.
-- index: notification_configurations_organization, notification_users_user
-- takes: organization_id text, invited_id text, user_id text
with old as (
    delete from notification_users n
    using notification_configurations c
    where c.id = n.configuration_id and c.organization_id = :organization_id and n.user_id = :invited_id
    returning n.configuration_id
)
insert into notification_users (configuration_id, user_id)
select configuration_id, :user_id
from old
on conflict do nothing;

-- statement: membership_of_user
-- A row if the user is a member of the organization.
-- takes: organization_id text, user_id text
select 1
from organization_memberships
where organization_id = :organization_id and user_id = :user_id;

-- statement: invitation_accept
-- Makes the user who accepts the member.
-- index: organization_memberships_id
-- takes: membership_id text, user_id text
update organization_memberships
set user_id = :user_id, status = 'active', email = null
where id = :membership_id;

-- statement: invitation_mail_delete
-- Deletes the mail, if it was not sent.
-- index: notifications_membership
-- takes: membership_id text
delete from notifications where membership_id = :membership_id;

-- statement: invitation_email_confirm
-- Confirms the user's address if the code proves that it is theirs.
-- index: users_by_email
-- takes: user_id text, with_code boolean, email text
update users
set email_confirmed = true
where id = :user_id and :with_code and lower(email) = lower(:email);

-- statement: invitation_delete
-- Deletes the invitation.
-- index: organization_memberships_id
-- takes: membership_id text
delete from organization_memberships where id = :membership_id;

-- statement: invitations_expire
-- Deletes the invitations that have expired.
-- reads: organization_memberships
delete from organization_memberships m where :invitation_expired();

-- statement: invited_users_clean
-- Deletes all users without a name whom no organization invites.
-- index: organization_memberships_user, users_invited
delete from users u
where username is null and not is_service_account
    and not exists (select 1 from organization_memberships m where m.user_id = u.id);

-- statement: invitation_mail_insert
-- Queues the invitation's mail as a notification, for at most `notification_seconds`.
-- takes: membership_id text, new_id text, notification_seconds double precision
insert into notifications (id, membership_id, trigger, happened_at, give_up_at)
values
    (:new_id, :membership_id, 'invitation', now(), now() + make_interval(secs => :notification_seconds));
