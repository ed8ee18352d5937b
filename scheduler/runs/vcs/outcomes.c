/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/vcs/outcomes.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/vcs/dialect.h"
#include "common/vcs/ref.h"
#include "scheduler/runs/run_create.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/registry/test_beds.h"
#include "scheduler/store/site_settings.h"
#include "scheduler/store/vcs/calls/reports.h"
#include "scheduler/store/vcs/events.sql.h"
#include "scheduler/store/vcs/events/commits.h"
#include "scheduler/store/vcs/events.h"
#include "scheduler/store/vcs/events/heads.h"
#include "scheduler/store/vcs/events/heads.sql.h"
#include "scheduler/store/vcs/repositories.h"

enum { MESSAGE_MAX = 500, SENTENCE_SIZE = 1024 };

static const char pull_request_kind[] = "pull_request";

/* What the event does in one workspace or policy set. */
struct subject_outcome {
	enum vcs_reason reason;
	struct id version; /* a configuration version, or a version of a policy set; "": none */
	struct run_creation run;
	bool has_run; /* a run is to be created, or was */
};

/* All outcomes of a decision, in the order of its subjects. */
struct outcomes {
	struct vcs_decision *d;
	struct subject_outcome *items;
	size_t count, made; /* made: with a run or a version of a policy set */
	struct run_create_params params;
	char message[MESSAGE_MAX + 1];
	struct id contents[2]; /* without and with submodules; "": not needed yet */
	bool stored[2];
	json_t *configurations, *policy_versions; /* to create */
	json_t *test;                             /* the options of tests of the commit */
};

/* ---- the commit ---- */

static bool is_tag(const struct vcs_event *event)
{
	return event->kind == VCS_TAG || event->kind == VCS_TAG_DELETE;
}

static struct vcs_head head_of(const struct vcs_decision *d)
{
	const struct vcs_event *event = &d->event;

	return (struct vcs_head){.event_id = d->id,
		.kind = vcs_event_is_pr(event) ? pull_request_kind
			: is_tag(event)        ? vcs_event_names[VCS_TAG]
					       : vcs_event_names[VCS_PUSH],
		.pull_request = event->number,
		.sha = event->sha};
}

static bool is_request(const struct vcs_decision *d)
{
	return json_string_at(d->detail, "subject") != NULL;
}

static bool on_default_branch(const struct vcs_decision *d)
{
	const char *branch = *d->event.default_branch ? d->event.default_branch : d->row->default_branch;

	return d->event.kind == VCS_PUSH && text_equal(vcs_ref_branch(d->event.ref), branch);
}

void vcs_ingress_complete(json_t *detail, struct vcs_place_columns repository, const char *sha)
{
	_cleanup_(freep) char *clone_url = NULL, *commit_url = NULL;
	struct vcs_place place;

	if (!vcs_place_of(repository, &place))
		return;
	clone_url = vcs_clone_url(&place);
	commit_url = vcs_commit_url(&place, sha);
	if (clone_url && !json_object_get(detail, "clone-url"))
		json_object_set_new(detail, "clone-url", json_string(clone_url));
	if (commit_url && !json_object_get(detail, "commit-url"))
		json_object_set_new(detail, "commit-url", json_string(commit_url));
}

/* The attributes that have no column, by their names in the API. A new reference. */
static json_t *ingress_detail(const struct vcs_decision *d)
{
	const struct vcs_event *e = &d->event;
	const struct {
		const char *name, *text;
	} texts[] = {
		{"clone-url", e->clone_url},
		{"commit-message", e->message},
		{"commit-url", e->commit_url},
		{"compare-url", e->compare_url},
		{"identifier", d->row->identifier},
		{"pull-request-url", e->pull_request_url},
		{"pull-request-title", e->title},
		{"pull-request-body", e->body},
		{"sender-username", e->sender},
		{"sender-avatar-url", e->sender_avatar_url},
		{"sender-html-url", e->sender_url},
	};
	json_t *detail = json_pack("{sb}", "on-default-branch", on_default_branch(d));

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i].text && *texts[i].text)
			json_object_set_new(detail, texts[i].name, json_string(texts[i].text));
	vcs_ingress_complete(detail,
		(struct vcs_place_columns){d->row->identifier, d->row->provider, d->row->http_url, d->row->api_url},
		e->sha);
	/* Any run of this configuration, also one that a user queues, gets no secrets (run_create.c, job_document.c).
	 */
	if (vcs_event_is_pr(e) && e->fork != VCS_FORK_NO)
		json_object_set_new(detail, "from-fork", json_true());
	return detail;
}

/* The first line of the commit's message, else of the pull request's title. */
static void message_write(const struct vcs_event *e, char ret_message[MESSAGE_MAX + 1])
{
	const char *text = *e->message ? e->message : e->title;
	size_t len = strcspn(text, "\r\n");

	if (!len) {
		snprintf(ret_message, MESSAGE_MAX + 1, "Commit %.8s", e->sha);
		return;
	}
	text_copy(ret_message, len < MESSAGE_MAX ? len + 1 : MESSAGE_MAX + 1, text);
}

/* ---- decisions ---- */

static bool setting(const json_t *settings, const char *name, bool fallback)
{
	const json_t *value = json_object_get(settings, name);

	return json_is_boolean(value) ? json_is_true(value) : fallback;
}

/* A new connection requests a look. Before its result, a push may bring the same commit to the workspace. */
static bool is_duplicate(const struct vcs_decision *d, const struct vcs_subject_row *row)
{
	if (is_request(d))
		return row->head_newer && !json_bool_at(d->detail, "again", false);
	if (d->event.rerun && row->head_ended)
		return false;
	return row->has_head && !(d->closed && row->head_canceled);
}

/* A request is for the subject's branch, whatever files have changed. The request of a new connection does not depend
 * on earlier runs of the workspace. */
static void subject_read(
	const struct vcs_decision *d, const struct vcs_subject_row *row, struct vcs_subject_reader *ret_reader)
{
	json_t *settings = json_shown(row->settings);
	json_t *patterns = row->policy_set ? json_shown(row->patterns) : NULL;

	*ret_reader = (struct vcs_subject_reader){.settings = settings,
		.patterns = patterns,
		.subject = {.policy_set = row->policy_set,
			.unavailable = !row->available,
			.branch = row->branch,
			.default_branch = text_or_empty(d->row->default_branch),
			.patterns = row->policy_set ? patterns : json_object_get(settings, "trigger-patterns"),
			.folder = row->folder,
			.tags_regex = is_request(d) ? "" : row->tags_regex,
			.prefixes = json_object_get(settings, "trigger-prefixes"),
			.file_triggers = !is_request(d) && setting(settings, "file-triggers-enabled", true),
			.speculative = setting(settings, "speculative-enabled", true),
			.cancels_plans = row->cancels,
			.queue_all_runs = setting(settings, "queue-all-runs", false),
			.had_run = !is_request(d) && row->had_run,
			.locked = row->locked,
			.newest_only = setting(settings, "vcs-newest-only", false),
			.skip_drafts = setting(settings, "vcs-skip-drafts", false),
			.fork_plans = setting(settings, "vcs-fork-plans", site_flag(SITE_ALLOWS_FORKS)),
			.fork_pool = row->has_fork_pool,
			.approved = row->approved,
			.duplicate = is_duplicate(d, row)}};
}

int vcs_subjects_load(struct vcs_decision *d, struct err *err)
{
	const struct vcs_head head = head_of(d);

	if (vcs_subjects_read(
		    d->store, d->repository_id, json_string_at(d->detail, "subject"), &head, &d->subjects, err) < 0)
		return -1;
	d->readers = mem_new((size_t)d->subjects.count + 1, sizeof(*d->readers));
	for (int row = 0; row < d->subjects.count; row++)
		subject_read(d, row_of(vcs_subject, &d->subjects, row), &d->readers[row]);
	return 0;
}

void vcs_subjects_release(struct vcs_decision *d)
{
	for (int row = 0; d->readers && row < d->subjects.count; row++) {
		json_decref(d->readers[row].settings);
		json_decref(d->readers[row].patterns);
	}
	free(d->readers);
	rows_release(&d->subjects);
}

bool vcs_files_wanted(const struct vcs_decision *d)
{
	if (d->event.files || d->row->files_note || is_request(d))
		return false;
	for (int row = 0; row < d->subjects.count; row++)
		if (vcs_files_matter(&d->event, &d->readers[row].subject))
			return true;
	return false;
}

/* ---- what is made ---- */

/* A test bed has the files of its module's folder, as the module's versions have. */
static int content_choose(struct outcomes *o, const struct vcs_subject_row *row, struct id *ret_content,
	bool *ret_stored, struct err *err)
{
	const struct vcs_commit commit = {o->d->repository_id, o->d->event.sha, row->submodules, row->directory};
	struct id *shared = &o->contents[row->submodules];
	bool *stored = &o->stored[row->submodules];

	if (*row->directory)
		return vcs_content_of(o->d->store, &commit, ret_content, ret_stored, err);
	if (!shared->text[0] && vcs_content_of(o->d->store, &commit, shared, stored, err) < 0)
		return -1;
	*ret_content = *shared;
	*ret_stored = *stored;
	return 0;
}

static void run_add(struct outcomes *o, const struct vcs_subject_row *row, struct subject_outcome *item)
{
	struct run_create_params *params = mem_new(1, sizeof(*params));

	*params = o->params;
	params->workspace_id = row->id;
	params->configuration_version_id = item->version.text;
	if (row->test_bed) {
		params->test = o->test;
		params->plan_only = CHOICE_YES;
		params->auto_apply = CHOICE_NO;
	}
	item->run.order = params;
	item->has_run = true;
}

static int version_add(
	struct outcomes *o, const struct vcs_subject_row *row, struct subject_outcome *item, struct err *err)
{
	struct id content;
	bool stored;

	if (content_choose(o, row, &content, &stored, err) < 0)
		return -1;
	item->version = id_new(row->policy_set ? "polsetver" : "cv");
	json_array_append_new(row->policy_set ? o->policy_versions : o->configurations,
		json_pack("{ss ss ss sb}", "id", item->version.text, row->policy_set ? "policy_set_id" : "workspace_id",
			row->id, "content_id", content.text, "stored", stored));
	if (vcs_reason_makes(item->reason) == VCS_MAKES_RUN)
		o->made++;
	if (vcs_reason_makes(item->reason) == VCS_MAKES_RUN && !row->policy_set)
		run_add(o, row, item);
	return 0;
}

static int reasons_decide(struct outcomes *o, struct err *err)
{
	bool again = json_bool_at(o->d->detail, "again", false);

	for (int i = 0; i < o->d->subjects.count; i++) {
		const struct vcs_subject_row *row = row_of(vcs_subject, &o->d->subjects, i);
		const struct vcs_subject *subject = &o->d->readers[i].subject;
		struct subject_outcome *item = &o->items[i];
		enum vcs_makes makes;

		/* By vcs_policy_version_begin, or when the head of a fork was approved for other workspaces. */
		if (row->is_made) {
			item->reason = subject->policy_set ? VCS_BECAUSE_POLICY_VERSION : VCS_BECAUSE_PLANNED;
			o->made++;
			continue;
		}
		item->reason = again && !subject->unavailable
			? (subject->policy_set ? VCS_BECAUSE_POLICY_VERSION : VCS_BECAUSE_STARTED)
			: vcs_decide(&o->d->event, subject);
		makes = vcs_reason_makes(item->reason);
		if ((makes == VCS_MAKES_RUN || makes == VCS_MAKES_VERSION) && version_add(o, row, item, err) < 0)
			return -1;
	}
	return 0;
}

static int versions_create(struct outcomes *o, struct err *err)
{
	const struct vcs_decision *d = o->d;
	json_auto_t *detail = ingress_detail(d);
	const struct vcs_ingress ingress = {.event_id = d->id,
		.sha = d->event.sha,
		.source = vcs_provider_source(vcs_provider_of(d->row->provider)),
		.branch = is_tag(&d->event) ? "" : vcs_ref_short(d->event.ref),
		.tag = is_tag(&d->event) ? vcs_ref_short(d->event.ref) : "",
		.actor = json_string_at(d->detail, "actor"),
		.pull_request = d->event.number,
		.detail = detail};

	if (json_array_size(o->configurations) &&
		vcs_configurations_create(d->store, &ingress, o->configurations, err) < 0)
		return -1;
	if (!json_array_size(o->policy_versions))
		return 0;
	if (vcs_policy_versions_create(d->store, &ingress, o->policy_versions, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(o->contents); i++)
		if (o->contents[i].text[0] && o->stored[i] &&
			vcs_policy_versions_end(d->store, o->contents[i].text, NULL, err) < 0)
			return -1;
	return 0;
}

/* All runs in one batch. A workspace where no run can be created does not stop the others. */
static int runs_create(struct outcomes *o, struct err *err)
{
	_cleanup_(freep) struct run_creation *creations = mem_new(o->count + 1, sizeof(*creations));
	size_t count = 0;

	for (size_t i = 0; i < o->count; i++)
		if (o->items[i].has_run)
			creations[count++] = o->items[i].run;
	if (!count)
		return 0;
	if (run_creations_apply(o->d->store, creations, count, err) < 0)
		return -1;
	count = 0;
	for (size_t i = 0; i < o->count; i++) {
		struct subject_outcome *item = &o->items[i];

		if (!item->has_run)
			continue;
		item->run = creations[count++];
		if (item->run.err.kind == ERR_NONE)
			continue;
		log_warn("a commit's run is not created", "workspace", item->run.order->workspace_id, "event", o->d->id,
			"why", item->run.err.message, NULL);
		item->reason = VCS_BECAUSE_REFUSED;
		o->made--;
	}
	return 0;
}

static int outcomes_write(struct outcomes *o, struct err *err)
{
	const struct vcs_head head = head_of(o->d);
	json_auto_t *all = json_array(), *commits = json_array();

	for (int i = 0; i < o->d->subjects.count; i++) {
		const struct vcs_subject_row *row = row_of(vcs_subject, &o->d->subjects, i);
		const struct subject_outcome *item = &o->items[i];
		bool has_run = item->has_run && item->run.err.kind == ERR_NONE;
		json_t *outcome = json_pack("{ss ss}", "subject_id", row->id, "reason", vcs_reason_name(item->reason));

		if (has_run)
			json_object_set_new(outcome, "run_id", json_string(item->run.run.text));
		if (item->version.text[0] && !row->policy_set)
			json_object_set_new(outcome, "configuration_version_id", json_string(item->version.text));
		json_array_append_new(all, outcome);
		/* A run that could not be created is tried again by the next event of the commit. */
		if (!row->policy_set && (has_run || vcs_reason_makes(item->reason) == VCS_MAKES_VERSION))
			json_array_append(commits, outcome);
	}
	if (json_array_size(all) && vcs_outcomes_write(o->d->store, o->d->id, all, err) < 0)
		return -1;
	return json_array_size(commits) ? vcs_heads_write(o->d->store, &head, commits, err) : 0;
}

/* ---- earlier runs ---- */

static const struct {
	enum vcs_earlier which;
	enum run_event_kind event;
	const char *reason;
} endings[] = {
	[VCS_OLDER_STAY] = {.reason = NULL},
	[VCS_OLDER_DISCARD_PENDING] = {VCS_EARLIER_PENDING, EV_DISCARDED, "A newer commit of the branch was pushed."},
	[VCS_OLDER_CANCEL_PLANS] = {VCS_EARLIER_HEADS, EV_CANCELED, "The pull request has a newer head."},
	[VCS_OLDER_CANCEL_ALL] = {VCS_EARLIER_ALL, EV_CANCELED, "The pull request was closed."},
};

/* Runs that have ended meanwhile refuse the event. */
static int earlier_end(struct outcomes *o, enum vcs_older older, struct db_array *workspaces, struct err *err)
{
	const struct vcs_earlier_runs wanted = {.which = endings[older].which,
		.workspace_ids = workspaces,
		.branch = vcs_ref_short(o->d->event.ref),
		.sha = o->d->event.sha,
		.pull_request = o->d->event.number};
	_cleanup_(db_array_release) struct db_array kicked = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) struct run_transition *items = NULL;

	if (vcs_earlier_runs_read(o->d->store, &wanted, &rows, err) < 0)
		return -1;
	items = mem_new((size_t)rows.count + 1, sizeof(*items));
	for (int i = 0; i < rows.count; i++) {
		items[i] = (struct run_transition){
			.event = {.kind = endings[older].event}, .reason = endings[older].reason};
		text_copy(items[i].run.text, ID_SIZE, row_of(vcs_earlier_run, &rows, i)->id);
	}
	if (!rows.count)
		return 0;
	return transitions_apply_within(o->d->store, items, (size_t)rows.count, &kicked, err);
}

static int all_earlier_end(struct outcomes *o, struct err *err)
{
	for (enum vcs_older older = VCS_OLDER_STAY + 1; older < ARRAY_LEN(endings); older++) {
		_cleanup_(db_array_release) struct db_array workspaces = DB_ARRAY_INIT;

		for (int row = 0; row < o->d->subjects.count; row++)
			if (vcs_older_runs(&o->d->event, &o->d->readers[row].subject, o->items[row].reason) == older)
				db_array_add(&workspaces, row_of(vcs_subject, &o->d->subjects, row)->id);
		if (workspaces.count && earlier_end(o, older, &workspaces, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the end ---- */

/* What the event did, in one sentence; of several reasons, the first. */
static void sentence_write(const struct outcomes *o, char ret_sentence[SENTENCE_SIZE])
{
	if (o->made)
		snprintf(ret_sentence, SENTENCE_SIZE, "%zu of %zu workspaces and policy sets use the commit.", o->made,
			o->count);
	else if (!o->count)
		snprintf(ret_sentence, SENTENCE_SIZE, "No workspace or policy set uses the repository.");
	else
		snprintf(ret_sentence, SENTENCE_SIZE, "%s", vcs_reason_sentence(o->items[0].reason));
}

static int event_end(struct outcomes *o, struct err *err)
{
	char sentence[SENTENCE_SIZE];
	struct vcs_end end = {.id = o->d->id, .message = sentence};

	for (size_t i = 0; i < o->count; i++) {
		end.is_error |= vcs_reason_level(o->items[i].reason) == VCS_LEVEL_ERROR;
		end.approval |= vcs_reason_makes(o->items[i].reason) == VCS_MAKES_APPROVAL;
	}
	sentence_write(o, sentence);
	if (vcs_event_end(o->d->store, &end, err) < 0)
		return -1;
	return vcs_event_note(o->d->store, o->d->id, err);
}

static void outcomes_release(struct outcomes *o)
{
	for (size_t i = 0; i < o->count; i++)
		free((void *)o->items[i].run.order);
	free(o->items);
	json_decref(o->configurations);
	json_decref(o->policy_versions);
	json_decref(o->test);
}

int vcs_outcomes_apply(struct vcs_decision *d, struct err *err)
{
	_cleanup_(outcomes_release) struct outcomes o = {.d = d,
		.count = (size_t)d->subjects.count,
		.items = mem_new((size_t)d->subjects.count + 1, sizeof(struct subject_outcome)),
		.configurations = json_array(),
		.policy_versions = json_array(),
		.test = test_bed_options(),
		.params = {.actor = json_string_at(d->detail, "actor"),
			.source = "tfe-configuration-version",
			.trigger_reason = is_request(d) ? NULL : "vcs",
			.plan_only = vcs_event_is_pr(&d->event) ? CHOICE_YES : CHOICE_UNSET,
			.auto_apply = CHOICE_UNSET}};

	message_write(&d->event, o.message);
	o.params.message = o.message;
	if (reasons_decide(&o, err) < 0 || versions_create(&o, err) < 0 || runs_create(&o, err) < 0 ||
		outcomes_write(&o, err) < 0 || all_earlier_end(&o, err) < 0)
		return -1;
	return event_end(&o, err);
}
