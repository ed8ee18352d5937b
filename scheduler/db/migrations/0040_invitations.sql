-- SPDX-License-Identifier: MPL-2.0
-- An invitation is a membership of a user without a name, until the invited person accepts it.

-- False once a person has changed their address themselves: invitations to it are then not theirs for the asking.
alter table users add column email_confirmed boolean not null default true;
update users u set email_confirmed = false where not is_service_account and exists (select 1 from audit_events a
	where a.actor_id = u.id and a.action = 'update' and a.resource_type in ('user', 'account') and 'email' = any(a.attributes));

-- The address as the organization wrote it, until the invitation is accepted. The user without a name is shared by the
-- organizations that invite the address, so that its own spelling is nobody's.
alter table organization_memberships add column email text;
update organization_memberships m set email = u.email, created_at = now() from users u where u.id = m.user_id and m.status = 'invited';
update users set email = lower(email) where username is null and not is_service_account;

-- Who accepts takes the place of the user without a name, in teams too.
alter table team_members drop constraint team_members_organization_id_user_id_fkey;
alter table team_members add foreign key (organization_id, user_id) references organization_memberships
	on delete cascade on update cascade;

-- A mail that invites is of no configuration.
alter table notifications alter column configuration_id drop not null;
alter table notifications add column membership_id text references organization_memberships (id) on delete cascade;
alter table notifications add check (num_nonnulls(configuration_id, membership_id) = 1);
create index notifications_membership on notifications (membership_id) where membership_id is not null;
