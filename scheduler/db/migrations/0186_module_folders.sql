-- SPDX-License-Identifier: MPL-2.0
-- Modules that are a part of a repository: a folder of it, and tags with a prefix. The content of a commit may be that
-- of one folder.
alter table registry_modules add column source_directory text not null default ''; -- '': the root of the repository
alter table registry_modules add column tag_prefix text not null default '';

alter table vcs_contents add column directory text not null default ''; -- '': the whole repository
alter table vcs_contents drop constraint vcs_contents_repository_id_sha_submodules_key;
alter table vcs_contents add constraint vcs_contents_commit unique (repository_id, sha, submodules, directory);
