/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/vcs/events.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/vcs/address.h"
#include "common/vcs/ref.h"
#include "scheduler/runs/vcs/outcomes.h"
#include "scheduler/runs/vcs/renames.h"
#include "scheduler/runs/vcs/reruns.h"
#include "scheduler/store/registry/module_tags.h"
#include "scheduler/store/vcs/calls/event_asks.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/events.h"
#include "scheduler/store/vcs/events.sql.h"
#include "scheduler/store/vcs/events/refs.h"
#include "scheduler/store/vcs/events/refs.sql.h"

enum { MAX_TURNS = 20, TURNS_MS = 50 }; /* of one call: then the caller may run other steps */

/* ---- the order ---- */

/* The ref by which the repository has the pull request's head; false if it has none. Azure DevOps has the merge only.
 */
static bool head_ref(const struct vcs_decision *d, char ret_ref[VCS_PR_REF_SIZE])
{
	enum vcs_dialect dialect = vcs_dialect_named(d->row->provider, d->row->api_url);

	return dialect != VCS_AZURE && vcs_pr_ref(dialect, d->event.number, ret_ref);
}

static bool follows(const struct vcs_event *e, const char *seen)
{
	return text_equal(e->sha, seen) || text_equal(e->before, seen);
}

/* Providers may send deliveries out of order. A pull request is created once, so its creation precedes its end. For
 * other events the provider's timestamp decides. */
static bool is_late(const struct vcs_decision *d, const struct vcs_pull_requests_read_row *known)
{
	const struct vcs_event *e = &d->event;
	json_auto_t *detail = json_shown(known->detail);

	return (d->closed && e->is_new) || (e->changed_at && e->changed_at < json_int_at(detail, "changed_at", 0));
}

/* Reads what is known of the pull request: whether it is new or closed, and whether the event is in order. */
static int pull_request_check(struct vcs_decision *d, bool *ret_known, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_event *e = &d->event;
	char ref[VCS_PR_REF_SIZE];
	const struct vcs_pull_requests_read_row *known = NULL;
	struct vcs_seen seen;

	if (vcs_pull_requests_read(d->store, d->repository_id, e->number, NULL, &rows, err) < 0)
		return -1;
	if (rows.count)
		known = row_of(vcs_pull_requests_read, &rows, 0);
	d->closed = known && text_equal(known->state, "closed");
	d->late = known && is_late(d, known);
	*ret_known = true;
	if (d->late || e->kind == VCS_PR_CLOSE || (!known && e->kind == VCS_PR_OPEN) || !head_ref(d, ref))
		return 0;
	if (known && (text_equal(known->head_sha, e->sha) || (*e->before && text_equal(known->head_sha, e->before))))
		return 0;
	if (vcs_ref_read(d->store, d->repository_id, ref, e->ref, &seen, err) < 0)
		return -1;
	*ret_known = text_equal(seen.ref, e->sha) || (e->fork == VCS_FORK_NO && text_equal(seen.other, e->sha));
	return 0;
}

/* *ret_known: the event follows what was seen last, or a look has confirmed it. */
static int order_check(struct vcs_decision *d, bool *ret_known, struct err *err)
{
	struct vcs_seen seen;

	if (vcs_event_is_pr(&d->event)) {
		if (pull_request_check(d, ret_known, err) < 0)
			return -1;
	} else {
		if (vcs_ref_read(d->store, d->repository_id, d->event.ref, d->event.ref, &seen, err) < 0)
			return -1;
		*ret_known = follows(&d->event, seen.ref);
	}
	*ret_known |= json_bool_at(d->detail, "looked", false);
	return 0;
}

/* Remembers the newest commit. A pull request's head that came by an event is not in `vcs_refs`, so the next look finds
 * it as a difference, and drops it (looks.c). */
static int seen_write(struct vcs_decision *d, struct err *err)
{
	const struct vcs_event *e = &d->event;
	json_auto_t *detail = NULL;

	if (json_string_at(d->detail, "subject"))
		return 0;
	if (!vcs_event_is_pr(e)) {
		if (vcs_ref_tag(e->ref) && module_tags_changed(d->store, d->repository_id, err) < 0)
			return -1;
		return vcs_ref_write(d->store, d->repository_id, e->ref, e->sha, err);
	}
	detail = vcs_event_detail(e);
	json_object_set_new(detail, "ref", json_string(e->ref));
	json_object_del(detail, "rerun"); /* of this event alone */
	return vcs_pull_request_write(d->store,
		&(struct vcs_pull_request){.repository_id = d->repository_id,
			.head_sha = e->sha,
			.number = e->number,
			.is_open = e->kind != VCS_PR_CLOSE,
			.detail = detail},
		err);
}

/* ---- one event ---- */

static int commit_decide(struct vcs_decision *d, struct err *err)
{
	bool known;

	if (!*d->event.sha && *d->event.short_sha && d->event.kind != VCS_PR_CLOSE)
		return vcs_commit_ask(d->store, d->id, d->repository_id, err);
	if (order_check(d, &known, err) < 0)
		return -1;
	if (!known)
		return vcs_event_look(d->store, d->id, d->repository_id, err);
	if (d->late)
		return vcs_event_end(d->store,
			&(struct vcs_end){.id = d->id, .message = "Superseded: the pull request has changed since."},
			err);
	if (d->closed && d->event.kind == VCS_PR_UPDATE)
		return vcs_event_end(
			d->store, &(struct vcs_end){.id = d->id, .message = "The pull request is closed."}, err);
	if (vcs_subjects_load(d, err) < 0)
		return -1;
	if (vcs_files_wanted(d))
		return vcs_event_compare(d->store, d->id, err);
	return seen_write(d, err) < 0 ? -1 : vcs_outcomes_apply(d, err);
}

/* The look shows whether the repository was really deleted. */
static int removal_apply(struct vcs_decision *d, struct err *err)
{
	const struct vcs_end gone = {
		.id = d->id, .is_error = true, .message = "The repository was deleted at its provider."};

	return vcs_look_now(d->store, d->repository_id, err) < 0 ? -1 : vcs_event_end(d->store, &gone, err);
}

static int rename_apply(struct vcs_decision *d, struct err *err)
{
	const char *name = d->event.repository, *branch = d->event.default_branch;
	struct vcs_end end = {.id = d->id, .message = "The event changes nothing."};
	struct vcs_renamed renamed;

	if (d->event.removed)
		return removal_apply(d, err);
	if (vcs_rename_follow(d->store, d->repository_id, vcs_dialect_named(d->row->provider, d->row->api_url), name,
		    &renamed, err) < 0 ||
		vcs_repository_note(d->store, d->repository_id, branch, NULL, err) < 0)
		return -1;
	if (*renamed.sentence)
		end.message = renamed.sentence;
	else if (*branch && !text_equal(branch, d->row->default_branch))
		end.message = "The default branch of the repository has changed.";
	end.is_error = renamed.is_error;
	return vcs_event_end(d->store, &end, err);
}

static int end_only(struct vcs_decision *d, struct err *err)
{
	return vcs_event_end(d->store, &(struct vcs_end){.id = d->id, .message = "The event changes nothing."}, err);
}

static int (*const deciders[VCS_EVENT_KINDS])(struct vcs_decision *d, struct err *err) = {
	[VCS_PUSH] = commit_decide,
	[VCS_BRANCH_DELETE] = commit_decide,
	[VCS_TAG] = commit_decide,
	[VCS_TAG_DELETE] = commit_decide,
	[VCS_PR_OPEN] = commit_decide,
	[VCS_PR_UPDATE] = commit_decide,
	[VCS_PR_CLOSE] = commit_decide,
	[VCS_INSTALL] = end_only,
	[VCS_RENAME] = rename_apply,
	[VCS_PING] = end_only,
	[VCS_RERUN] = vcs_rerun_decide,
};

static void decision_release(struct vcs_decision *d)
{
	vcs_event_release(&d->event);
	vcs_subjects_release(d);
	json_decref((json_t *)d->detail);
}

struct deciding {
	struct store *store;
	struct vcs_turn turn;
	struct id event; /* the picked one; "": none */
};

static int decide_in(void *data, struct err *err)
{
	struct deciding *deciding = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(decision_release) struct vcs_decision d = {.store = deciding->store};

	deciding->event.text[0] = '\0';
	if (vcs_event_pick(deciding->store, &deciding->turn, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	d.row = row_of(vcs_event_pick, &rows, 0);
	d.id = d.row->event_id;
	d.repository_id = d.row->repository_id;
	d.detail = json_shown(d.row->detail);
	text_copy(deciding->event.text, ID_SIZE, d.id);
	vcs_event_of_row(d.row, &d.event);
	if (d.event.kind == VCS_EVENT_KINDS) /* of a newer version of the scheduler */
		return vcs_event_postpone(d.store, d.id, "This scheduler does not know this kind of event.", err);
	return deciders[d.event.kind](&d, err);
}

/* Decides the first event of the turn's repository. */
static int turn_take(struct deciding *deciding, struct err *err)
{
	struct err why = ERR_INIT;

	if (db_transaction(deciding->store->db, decide_in, deciding, &why) == 0)
		return 0;
	if (why.kind == ERR_UNAVAILABLE || !deciding->event.text[0]) {
		*err = why;
		return -1;
	}
	log_error("a VCS event can't be decided and is tried again", "event", deciding->event.text, "error",
		why.message, NULL);
	return vcs_event_postpone(deciding->store, deciding->event.text, why.message, err);
}

int vcs_events_decide(struct store *store, bool *ret_more, struct err *err)
{
	_cleanup_(rows_release) struct rows turns = ROWS_INIT;
	struct deciding deciding = {.store = store};
	int64_t end = clock_mono_ms() + TURNS_MS;
	bool decided = false;

	if (vcs_event_turns(store, MAX_TURNS, &turns, err) < 0)
		return -1;
	for (int i = 0; i < turns.count && (i == 0 || clock_mono_ms() < end); i++) {
		const struct vcs_event_turns_row *turn = row_of(vcs_event_turns, &turns, i);

		deciding.turn = (struct vcs_turn){turn->repository_id, turn->organization_id};
		if (turn_take(&deciding, err) < 0)
			return -1;
		decided |= deciding.event.text[0] != '\0';
	}
	*ret_more = decided;
	return 0;
}

/* ---- the result of a comparison ---- */

int vcs_files_known(struct store *store, const char *event_id, const json_t *files, const char *note, struct err *err)
{
	_cleanup_(freep) char *text = files ? json_text(files) : NULL;

	if (vcs_event_compared(store, event_id, text, files ? NULL : note ? note : "they can't be had", err) < 0)
		return -1;
	return vcs_wake(store, err);
}
