-- SPDX-License-Identifier: MPL-2.0
-- Runs from commits: connections to version control (VCS) providers, repositories, what they sent, and what became of it.

-- A connection to a provider: the API's oauth-clients.
create table vcs_connections (
	id text primary key, -- oc-
	organization_id text not null references organizations on delete cascade,
	provider text not null, -- common/vcs/providers.def
	name text,
	http_url text not null,
	api_url text not null,
	key text,
	secret_sealed bytea,
	rsa_public_key text,
	private_key_sealed bytea,
	organization_scoped boolean not null default true,
	pool_id text references agent_pools on delete set null,
	fork_pool_id text references agent_pools on delete set null, -- of plans of forks' code; null: there are none
	callback_id text not null unique, -- the last part of its OAuth callback's path
	created_at timestamptz not null default now()
);
create index vcs_connections_organization on vcs_connections (organization_id, created_at, id);
create index vcs_connections_pool on vcs_connections (pool_id) where pool_id is not null;
create index vcs_connections_fork_pool on vcs_connections (fork_pool_id) where fork_pool_id is not null;

-- The projects that may use a connection that is not organization-scoped.
create table vcs_connection_projects (
	connection_id text not null references vcs_connections on delete cascade,
	project_id text not null references projects on delete cascade,
	primary key (connection_id, project_id)
);
create index vcs_connection_projects_project on vcs_connection_projects (project_id);

-- The credentials of a connection: the API's oauth-tokens. A connection has one at most.
create table vcs_tokens (
	id text primary key, -- ot-
	connection_id text not null unique references vcs_connections on delete cascade,
	token_sealed bytea,
	refresh_sealed bytea, -- OAuth's refresh token
	expires_at timestamptz,
	ssh_key_sealed bytea,
	host_keys text not null default '', -- lines of known_hosts; '': the first use stores what it sees
	user_name text, -- of the provider
	state text not null default 'unverified' constraint vcs_tokens_state check (state in ('unverified', 'verified', 'refused')),
	error text,
	created_at timestamptz not null default now()
);

-- GitHub App installations that the site's App has.
create table vcs_installations (
	id text primary key, -- ghain-
	installation_id bigint not null unique,
	organization_id text references organizations on delete cascade, -- null: not used yet
	name text not null,
	kind text not null, -- "Organization" or "User"
	icon_url text,
	web_url text,
	token_sealed bytea,
	token_expires_at timestamptz,
	error text, -- why it can't be used now, such as a suspension
	removed_at timestamptz,
	created_at timestamptz not null default now()
);
create index vcs_installations_organization on vcs_installations (organization_id) where organization_id is not null;

-- Consents that a user is giving at a provider: to a connection (OAuth), or to an installation of the site's GitHub App.
-- Each is used once, within 10 minutes, by the browser session that began it.
create table vcs_authorizations (
	state_hash text primary key, -- SHA-256 of the parameter `state`
	session_hash text not null references sessions on delete cascade,
	organization_id text not null references organizations on delete cascade,
	connection_id text references vcs_connections on delete cascade, -- null: an installation
	installation bigint, -- GitHub's number of it; null: GitHub has not told it yet
	verifier_sealed bytea, -- PKCE's code verifier
	created_at timestamptz not null default now()
);
create index vcs_authorizations_session on vcs_authorizations (session_hash);
create index vcs_authorizations_organization on vcs_authorizations (organization_id);
create index vcs_authorizations_connection on vcs_authorizations (connection_id) where connection_id is not null;
create index vcs_authorizations_created on vcs_authorizations (created_at);

-- When a token that expires is renewed: OAuth's by its refresh token, an installation's by the App's key.
create table vcs_renewals (
	subject_id text primary key generated always as (coalesce(token_id, installation_id)) stored,
	token_id text unique references vcs_tokens on delete cascade,
	installation_id text unique references vcs_installations on delete cascade,
	due_at timestamptz not null, -- while a scheduler renews it: when another one may try
	generation bigint not null default 0, -- of the token; a renewal of an older one is dropped
	failures integer not null default 0, -- since the last success
	renewed_at timestamptz not null default now(),
	constraint vcs_renewals_one_subject check (num_nonnulls(token_id, installation_id) = 1)
) with (fillfactor = 70);
create index vcs_renewals_due on vcs_renewals (due_at);

-- A repository that workspaces or policy sets use, once for each connection.
create table vcs_repositories (
	id text primary key, -- vr-
	organization_id text not null references organizations on delete cascade,
	connection_id text references vcs_connections on delete cascade,
	installation_id text references vcs_installations on delete cascade,
	identifier text not null, -- as in the API
	external_id text, -- the provider's own id of the repository, which stays when it is renamed
	default_branch text, -- null: not known yet
	web_url text,
	state text not null default 'unverified' constraint vcs_repositories_state
		check (state in ('unverified', 'verified', 'errored')),
	error text,
	hook uuid not null unique default gen_random_uuid(), -- in the hook's URL
	hook_secret_sealed bytea,
	hook_previous_sealed bytea, -- accepted, too, until hook_previous_until
	hook_previous_until timestamptz,
	hook_external_id text, -- null: not made
	hook_error text,
	looked_at timestamptz, -- of the last look that succeeded; null: the first one makes no events
	look_due timestamptz not null default now(),
	look_failures integer not null default 0,
	look_error text,
	created_at timestamptz not null default now(),
	constraint vcs_repositories_one_owner check (num_nonnulls(connection_id, installation_id) = 1)
) with (fillfactor = 70);
-- Plain git has case-sensitive paths, and clients expect the spelling that they sent.
create unique index vcs_repositories_connection on vcs_repositories (connection_id, identifier)
	where connection_id is not null;
create unique index vcs_repositories_installation on vcs_repositories (organization_id, installation_id, lower(identifier))
	where installation_id is not null;
create index vcs_repositories_organization on vcs_repositories (organization_id);
create index vcs_repositories_look on vcs_repositories (look_due);
create index vcs_repositories_owner on vcs_repositories (installation_id) where installation_id is not null;

create table workspace_repositories (
	workspace_id text primary key references workspaces on delete cascade,
	repository_id text not null references vcs_repositories on delete cascade,
	branch text not null default '', -- '': the default branch
	tags_regex text not null default '',
	ingress_submodules boolean not null default false
);
create index workspace_repositories_repository on workspace_repositories (repository_id);

create table policy_set_repositories (
	policy_set_id text primary key references policy_sets on delete cascade,
	repository_id text not null references vcs_repositories on delete cascade,
	branch text not null default '',
	ingress_submodules boolean not null default false,
	policies_path text not null default '',
	update_patterns jsonb not null default '[]'
);
create index policy_set_repositories_repository on policy_set_repositories (repository_id);

-- What the last look, or a later event, saw of a repository's refs: refs/heads/, refs/tags/, and those of pull requests.
create table vcs_refs (
	repository_id text not null references vcs_repositories on delete cascade,
	name text not null,
	sha text not null, -- '': deleted
	updated_at timestamptz not null default now(), -- a look that began earlier does not change it
	primary key (repository_id, name)
) with (fillfactor = 70);

create table vcs_pull_requests (
	repository_id text not null references vcs_repositories on delete cascade,
	number bigint not null,
	head_sha text not null,
	state text not null, -- open, closed
	detail jsonb not null, -- of its latest event: the members of struct vcs_event (scheduler/vcs/event.h)
	approved_sha text, -- of a fork: the head that a user approved
	updated_at timestamptz not null default now(),
	primary key (repository_id, number)
) with (fillfactor = 70);

create index vcs_pull_requests_state on vcs_pull_requests (repository_id, state, updated_at);

-- When the open pull requests of a repository are read by the provider's API: refs don't tell of all changes.
create table vcs_pull_reads (
	repository_id text primary key references vcs_repositories on delete cascade,
	due_at timestamptz, -- null: not wanted now
	read_at timestamptz, -- of the last complete list
	known_to bigint -- pull requests up to this number are older than the connection; null: the first list tells it
) with (fillfactor = 60);
create index vcs_pull_reads_due on vcs_pull_reads (due_at) where due_at is not null;

-- Requests of providers, stored before they are answered.
create table vcs_deliveries (
	sequence bigint generated always as identity primary key,
	repository_id text not null references vcs_repositories on delete cascade,
	delivery_id text not null,
	event text not null,
	body_sealed bytea not null, -- sealed with delivery_id as its owner
	state text not null default 'waiting' constraint vcs_deliveries_state check (state in ('waiting', 'done', 'failed')),
	tries integer not null default 0,
	due_at timestamptz not null default now(),
	error text,
	received_at timestamptz not null default now()
);
create unique index vcs_deliveries_id on vcs_deliveries (repository_id, delivery_id);
create index vcs_deliveries_waiting on vcs_deliveries (due_at, sequence) where state = 'waiting';
create index vcs_deliveries_received on vcs_deliveries (received_at);

-- What happened in a repository: the API's vcs-events. Rows of deliveries, of looks and of requests.
create table vcs_events (
	id text primary key, -- ve-
	sequence bigint generated always as identity,
	organization_id text not null references organizations on delete cascade,
	connection_id text references vcs_connections on delete set null,
	repository_id text references vcs_repositories on delete cascade,
	delivery bigint references vcs_deliveries on delete set null,
	found_by text not null default 'webhook' constraint vcs_events_found check (found_by in ('webhook', 'poll', 'request')),
	kind text not null, -- scheduler/vcs/event.h
	ref text not null default '', -- full name: refs/heads/main
	before_sha text not null default '', -- '': there was none
	sha text not null default '',
	pull_request bigint, -- its number
	detail jsonb not null default '{}', -- the other members of struct vcs_event
	state text not null default 'waiting' constraint vcs_events_state
		check (state in ('waiting', 'looking', 'comparing', 'approval', 'done')),
	due_at timestamptz not null default now(),
	files jsonb, -- changed paths; null: not known
	files_note text, -- why they are not known, so that all workspaces count as touched
	level text not null default 'info' constraint vcs_events_level check (level in ('info', 'error')),
	message text not null default '',
	created_at timestamptz not null default now(),
	done_at timestamptz
) with (fillfactor = 80);
create index vcs_events_organization on vcs_events (organization_id, sequence desc);
create index vcs_events_repository on vcs_events (repository_id, sequence desc);
create index vcs_events_commit on vcs_events (repository_id, sha);
create index vcs_events_open on vcs_events (due_at, sequence) where state in ('waiting', 'looking', 'comparing');
create index vcs_events_waiting on vcs_events (organization_id, repository_id, sequence) where state = 'waiting';
create index vcs_events_created on vcs_events (created_at);
create index vcs_events_connection on vcs_events (connection_id) where connection_id is not null;
create index vcs_events_delivery on vcs_events (delivery) where delivery is not null;

-- What an event made of each workspace and policy set, with the reason.
create table vcs_outcomes (
	event_id text not null references vcs_events on delete cascade,
	subject_id text not null, -- a workspace or a policy set
	reason text not null,
	run_id text references runs on delete set null,
	configuration_version_id text references configuration_versions on delete set null,
	primary key (event_id, subject_id)
);
create index vcs_outcomes_run on vcs_outcomes (run_id) where run_id is not null;
create index vcs_outcomes_configuration on vcs_outcomes (configuration_version_id) where configuration_version_id is not null;
create index vcs_outcomes_subject on vcs_outcomes (subject_id);

-- Each commit makes one configuration version in a workspace for each kind of event, however often it is reported.
create table vcs_heads (
	workspace_id text not null references workspaces on delete cascade,
	kind text not null, -- push, tag, pull_request
	pull_request bigint not null default 0,
	sha text not null,
	event_id text references vcs_events on delete set null,
	run_id text references runs on delete set null,
	created_at timestamptz not null default now(),
	primary key (workspace_id, kind, pull_request, sha)
);
create index vcs_heads_event on vcs_heads (event_id) where event_id is not null;
create index vcs_heads_run on vcs_heads (run_id) where run_id is not null;

-- The files of a commit, fetched once for all who need them.
create table vcs_contents (
	id text primary key, -- vc-
	repository_id text not null references vcs_repositories on delete cascade,
	sha text not null,
	submodules boolean not null,
	state text not null default 'absent' constraint vcs_contents_state
		check (state in ('absent', 'fetching', 'stored', 'errored')),
	blob_id text references blobs,
	hash text, -- of the tar before its compression, in hex, of the newest fetch
	first_hash text, -- of the first fetch
	size bigint, -- of the tar, in bytes
	error text,
	stored_at timestamptz,
	created_at timestamptz not null default now(),
	unique (repository_id, sha, submodules)
);
create index vcs_contents_blob on vcs_contents (blob_id) where blob_id is not null;
create index vcs_contents_stored on vcs_contents (id) where state = 'stored';
create trigger vcs_contents_blob_changed after update of blob_id on vcs_contents for each row
	when (old.blob_id is not null and old.blob_id is distinct from new.blob_id) execute function blob_dereferenced();
create trigger vcs_contents_deleted after delete on vcs_contents for each row
	when (old.blob_id is not null) execute function blob_dereferenced();
create index configuration_versions_fetching on configuration_versions (id) where status = 'fetching';

-- The commit that a configuration version came from: the API's ingress-attributes.
create table configuration_commits (
	configuration_version_id text primary key references configuration_versions on delete cascade,
	id text not null unique, -- ia-
	content_id text references vcs_contents on delete set null,
	event_id text references vcs_events on delete set null,
	sha text not null,
	branch text not null default '',
	tag text not null default '',
	pull_request bigint,
	is_pull_request boolean not null default false,
	detail jsonb not null default '{}' -- the other attributes, by their names in the API
);
create index configuration_commits_content on configuration_commits (content_id) where content_id is not null;
create index configuration_commits_event on configuration_commits (event_id) where event_id is not null;
create index configuration_commits_sha on configuration_commits (sha);

-- The commit that a version of a policy set came from.
create table policy_set_version_commits (
	policy_set_version_id text primary key references policy_set_versions on delete cascade,
	content_id text references vcs_contents on delete set null,
	event_id text references vcs_events on delete set null,
	sha text not null,
	detail jsonb not null default '{}'
);
create index policy_set_version_commits_content on policy_set_version_commits (content_id) where content_id is not null;
create index policy_set_version_commits_event on policy_set_version_commits (event_id) where event_id is not null;

-- Work with git, for workers: look (read the refs), diff (changed files), fetch (the files of a commit). A row is
-- deleted when its result is stored.
create table git_jobs (
	id text primary key, -- gj-
	kind text not null constraint git_jobs_kind check (kind in ('look', 'diff', 'fetch')),
	organization_id text not null references organizations on delete cascade,
	repository_id text not null references vcs_repositories on delete cascade,
	content_id text references vcs_contents on delete cascade, -- of a fetch
	event_id text references vcs_events on delete cascade, -- of a diff
	pool_id text not null,
	state text not null default 'waiting' constraint git_jobs_state check (state in ('waiting', 'claimed')),
	attempt integer not null default 1,
	tries integer not null default 0, -- attempts that failed and may be repeated
	due_at timestamptz not null default now(),
	error text, -- of the last try
	worker_id text,
	token_hash text,
	lease_until timestamptz,
	claimed_at timestamptz,
	again boolean not null default false, -- of a claimed look: another was asked for since, so it is repeated
	blob_id text references blobs, -- of a fetch: the archive that the worker has sent, until its result
	hash text, -- of that archive's tar, in hex
	size bigint, -- of that tar, in bytes
	created_at timestamptz not null default now()
) with (fillfactor = 60);
create index git_jobs_waiting on git_jobs (pool_id, organization_id, kind, due_at, id) where state = 'waiting';
create index git_jobs_blob on git_jobs (blob_id) where blob_id is not null;
create trigger git_jobs_blob after update of blob_id or delete on git_jobs for each row
	when (old.blob_id is not null) execute function blob_dereferenced();
create index git_jobs_claimed on git_jobs (lease_until) where state = 'claimed';
create unique index git_jobs_look on git_jobs (repository_id) where kind = 'look';
create unique index git_jobs_fetch on git_jobs (content_id) where kind = 'fetch';
create unique index git_jobs_diff on git_jobs (event_id) where kind = 'diff';
create index git_jobs_repository on git_jobs (repository_id);
create index git_jobs_content on git_jobs (content_id) where content_id is not null;
create index git_jobs_event on git_jobs (event_id) where event_id is not null;
create index git_jobs_organization on git_jobs (organization_id);

-- The statuses of commits at their provider. What a status says is computed from the runs when it is sent; a change only
-- makes a new version. Only the newest version is sent.
create table vcs_reports (
	repository_id text not null references vcs_repositories on delete cascade,
	sha text not null,
	context text not null, -- 'Runyard/<organization>', with '/apply' or '/<workspace>/<stage>'
	workspace_id text references workspaces on delete cascade, -- null: of all workspaces together
	stage text not null default '', -- '': plan and checks; plan, checks or apply
	pull_request bigint not null default 0, -- 0: none
	event_id text references vcs_events on delete set null, -- whose page it links to
	version bigint not null default 1,
	sent_version bigint not null default 0,
	sent jsonb, -- {state, description}
	sent_at timestamptz,
	sent_count integer not null default 0, -- providers limit the statuses of a context: later ones are sent less often
	due_at timestamptz not null default now(),
	error text, -- why the last try failed
	primary key (repository_id, sha, context)
) with (fillfactor = 60);
create index vcs_reports_due on vcs_reports (due_at) where sent_version < version;
create index vcs_reports_event on vcs_reports (event_id) where event_id is not null;
create index vcs_reports_workspace on vcs_reports (workspace_id) where workspace_id is not null;

-- The one comment of a pull request.
create table vcs_comments (
	repository_id text not null references vcs_repositories on delete cascade,
	pull_request bigint not null,
	-- By which the comment is found. Nobody can guess it, so nobody can write a comment that counts as ours.
	marker text not null default replace(gen_random_uuid()::text, '-', ''),
	external_id text, -- the provider's id of the comment; null: not known
	external_version bigint, -- Bitbucket Data Center's
	unsure boolean not null default true, -- there may be a comment that is not known: list the comments first
	event_id text references vcs_events on delete set null, -- of its newest head
	version bigint not null default 1,
	sent_version bigint not null default 0,
	due_at timestamptz not null default now(),
	error text,
	primary key (repository_id, pull_request)
) with (fillfactor = 60);
create index vcs_comments_due on vcs_comments (due_at) where sent_version < version;
create index vcs_comments_event on vcs_comments (event_id) where event_id is not null;

-- Events whose runs have changed. Rows are only inserted and deleted, so that the transactions of runs don't wait for
-- each other.
create table vcs_notes (
	sequence bigint generated always as identity primary key,
	event_id text not null
);

-- Hooks of repositories whose connection or token was deleted, with that token: until the provider has deleted them, for
-- a day at most.
create table vcs_hook_removals (
	id text primary key, -- vhr-
	organization_id text not null references organizations on delete cascade,
	connection text not null, -- its id, for its limits; it may be gone
	provider text not null,
	api_url text not null,
	identifier text not null, -- of the repository
	hooks text not null, -- the provider's ids, separated by commas
	token_id text not null, -- the seal is bound to it
	token_sealed bytea not null,
	created_at timestamptz not null default now()
);
create index vcs_hook_removals_organization on vcs_hook_removals (organization_id);
create index vcs_hook_removals_connection on vcs_hook_removals (connection);
create index vcs_hook_removals_created on vcs_hook_removals (created_at);

-- Calls of provider APIs, for notifiers. A row is deleted when its answer is applied.
create table vcs_calls (
	id text primary key, -- vcscall-
	organization_id text not null references organizations on delete cascade,
	connection_id text references vcs_connections on delete cascade,
	installation_id text references vcs_installations on delete cascade,
	repository_id text references vcs_repositories on delete cascade,
	removal_id text references vcs_hook_removals on delete cascade,
	operation text not null, -- common/vcs/operations.def
	purpose text not null, -- what its answer is for: report, comment, hook, ...
	subject text not null default '', -- a report's "sha context", a comment's number
	arguments jsonb not null default '{}',
	version bigint not null default 0, -- of the report or comment that it sends
	urgency smallint not null default 1, -- 0: statuses, 1: reads and hooks, 2: comments
	writes boolean not null, -- counts against the limits of writes
	delivery text not null default 'waiting' constraint vcs_calls_delivery check (delivery in ('waiting', 'claimed')),
	attempt integer not null default 0,
	tries integer not null default 0, -- that failed
	due_at timestamptz not null default now(),
	notifier text,
	lease_until timestamptz,
	error text,
	updated_at timestamptz not null default now(),
	created_at timestamptz not null default now()
) with (fillfactor = 60);
create index vcs_calls_due on vcs_calls (due_at, urgency, id) where delivery = 'waiting';
create index vcs_calls_lease on vcs_calls (lease_until) where delivery = 'claimed';
create index vcs_calls_connection on vcs_calls (connection_id) where connection_id is not null;
create index vcs_calls_organization on vcs_calls (organization_id);
create index vcs_calls_installation on vcs_calls (installation_id) where installation_id is not null;
create unique index vcs_calls_once on vcs_calls (coalesce(repository_id, connection_id), purpose, subject);
create index vcs_calls_repository on vcs_calls (repository_id) where repository_id is not null;
create index vcs_calls_removal on vcs_calls (removal_id) where removal_id is not null;

-- When the hooks of repositories are looked for. The hooks themselves stand with their repositories.
create table vcs_hooks (
	repository_id text primary key references vcs_repositories on delete cascade,
	used boolean not null, -- whether something used the repository then
	version bigint not null default 1, -- of the hook's secret
	sent_version bigint not null default 0, -- that the provider has
	due_at timestamptz not null
) with (fillfactor = 60);

-- How much a connection or an installation may still ask of its provider.
create table vcs_limits (
	owner_id text primary key,
	minute_left real not null, -- writes, refilled with time
	hour_left real not null,
	refilled_at timestamptz not null default now(),
	blocked_until timestamptz, -- the provider asked for a pause
	error text -- of the last call that failed; null: the last one did not
) with (fillfactor = 50);
