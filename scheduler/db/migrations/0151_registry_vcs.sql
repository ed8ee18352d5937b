-- SPDX-License-Identifier: MPL-2.0
-- Modules whose versions are the tags of a repository.
alter table registry_modules add column repository_id text references vcs_repositories on delete set null;
alter table registry_modules add column branch text not null default ''; -- '': its tags are versions
alter table registry_modules add column ingress_submodules boolean not null default true;
alter table registry_modules add column tags_due boolean not null default false; -- the VCS thread has to look at the tags
create index registry_modules_repository on registry_modules (repository_id) where repository_id is not null;
create index registry_modules_tags_due on registry_modules (id) where tags_due;

alter table registry_module_versions add column tag text;
alter table registry_module_versions add column moved_to text; -- the commit to which somebody has moved the tag since
alter table registry_module_versions add column content_id text references vcs_contents on delete set null;
create index registry_module_versions_content on registry_module_versions (content_id) where content_id is not null;
alter table registry_module_versions drop constraint registry_module_versions_status;
alter table registry_module_versions add constraint registry_module_versions_status
	check (status in ('pending', 'cloning', 'clone_failed', 'reg_ingress_failed', 'ok'));

-- Versions that users have deleted. Their tags make no new ones.
create table registry_removed_versions (
	module_id text not null references registry_modules on delete cascade,
	version text not null,
	primary key (module_id, version)
);
