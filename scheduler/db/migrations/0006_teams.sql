-- SPDX-License-Identifier: MPL-2.0
-- Who may do what: teams, what they were given, and who is in them. Columns named `rights` are sets of the bits of
-- rights/permissions.def, worked out when a team or an access is written.

-- A team's tokens act as a user of its own. One that was invited has no name until they register.
alter table users add column is_service_account boolean not null default false;
alter table users alter column username drop not null;
alter table users alter column email drop not null;
create unique index users_invited on users (lower(email)) where username is null;
create index users_by_email on users (lower(email));

alter table organization_memberships add column id text;
alter table organization_memberships add column status text not null default 'active' check (status in ('active', 'invited'));
alter table organization_memberships add column created_at timestamptz not null default now();
update organization_memberships set id = 'ou-' || substr(md5(organization_id || user_id), 1, 16);
alter table organization_memberships alter column id set not null;
create unique index organization_memberships_id on organization_memberships (id);

-- Teams of the kinds organization and audit are nobody's: the organization's tokens act as them.
create table teams (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	user_id text not null unique references users,
	name text not null,
	kind text not null default 'team' check (kind in ('owners', 'team', 'organization', 'audit')),
	visibility text not null default 'secret' check (visibility in ('secret', 'organization')),
	organization_access jsonb not null default '{}',
	sso_team_id text,
	allow_member_token_management boolean not null default true,
	rights bigint not null,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	unique (id, organization_id)
);
create unique index teams_name on teams (organization_id, lower(name)) where kind in ('owners', 'team');
create unique index teams_kind on teams (organization_id, kind) where kind <> 'team';

create table team_members (
	team_id text not null,
	organization_id text not null,
	user_id text not null,
	primary key (team_id, user_id),
	foreign key (team_id, organization_id) references teams (id, organization_id) on delete cascade,
	foreign key (organization_id, user_id) references organization_memberships on delete cascade
);
create index team_members_user on team_members (user_id, organization_id);

create table team_workspaces (
	id text primary key,
	team_id text not null references teams on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	access text not null,
	detail jsonb not null,
	rights bigint not null,
	created_at timestamptz not null default now(),
	constraint team_workspaces_team unique (team_id, workspace_id)
);
create index team_workspaces_workspace on team_workspaces (workspace_id);

create table team_projects (
	id text primary key,
	team_id text not null references teams on delete cascade,
	project_id text not null references projects on delete cascade,
	access text not null,
	project_detail jsonb not null,
	workspace_detail jsonb not null,
	rights bigint not null,
	created_at timestamptz not null default now(),
	constraint team_projects_team unique (team_id, project_id)
);
create index team_projects_project on team_projects (project_id);

-- What every organization has from now on.
insert into users (id, username, email, is_service_account)
	select 'user-' || substr(md5(o.id || k), 1, 16), 'api-' || k || '-' || substr(md5(o.id || k), 1, 16), null, true
	from organizations o, unnest(array['owners', 'organization', 'audit']) k;
insert into teams (id, organization_id, user_id, name, kind, visibility, rights)
	select 'team-' || substr(md5(o.id || k), 1, 16), o.id, 'user-' || substr(md5(o.id || k), 1, 16), k, k,
		case k when 'owners' then 'organization' else 'secret' end,
		case k when 'owners' then -1 when 'organization' then -4365 else 70368744177664 end
	from organizations o, unnest(array['owners', 'organization', 'audit']) k;
insert into team_members (team_id, organization_id, user_id)
	select t.id, t.organization_id, m.user_id from teams t join organization_memberships m on m.organization_id = t.organization_id
	where t.kind = 'owners';
insert into organization_memberships (id, organization_id, user_id)
	select 'ou-' || substr(md5(organization_id || user_id), 1, 16), organization_id, user_id from teams;
insert into team_members (team_id, organization_id, user_id) select id, organization_id, user_id from teams;

-- A team has one token without a description, and any number with different ones.
alter table tokens add column team_id text references teams on delete cascade;
alter table tokens add column created_by text references users on delete set null;
alter table tokens alter column description drop not null;
create unique index tokens_team_single on tokens (team_id) where description is null;
create unique index tokens_team_description on tokens (team_id, description) where team_id is not null;
create index tokens_user on tokens (user_id, created_at desc);
update tokens set created_by = user_id where user_id is not null;
