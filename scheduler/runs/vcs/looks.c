/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/vcs/events.h"

#include <string.h>

#include "common/log.h"
#include "common/vcs/address.h"
#include "common/vcs/ref.h"
#include "scheduler/store/registry/module_tags.h"
#include "scheduler/store/vcs/calls/pulls.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/events.h"
#include "scheduler/store/vcs/events.sql.h"
#include "scheduler/store/vcs/events/refs.h"
#include "scheduler/store/vcs/events/refs.sql.h"
#include "scheduler/vcs/event.h"

/* Applies the result of a look at a repository. The differences to the refs of the previous look become events. Events
 * that waited for the look go on or are superseded. */

/* A look finds at most that many events. The branches that workspaces follow come first. */
enum { MAX_FOUND = 1000 };

struct look {
	struct store *store;
	const char *repository_id;
	const struct vcs_repository_locked_row *repository;
	enum vcs_dialect dialect;
	const json_t *refs; /* now */
	const char *began;  /* when the worker began to look */
	json_t *before;     /* what was seen */
	json_t *newer;      /* refs that an event has changed since the look began */
	struct rows looking, followed;
	bool is_first;
	struct vcs_event found[MAX_FOUND];
	size_t found_count;
	size_t left_out;
};

static const char *sha_of(const json_t *refs, const char *name)
{
	return text_or_empty(json_string_value(json_object_get(refs, name)));
}

/* ---- events that waited ---- */

/* The full name of a request's branch: that of its subject, else the default one. False if it is not known. */
static bool request_ref(const struct look *l, const char *branch, char *ret_ref, size_t size)
{
	const char *name = *branch ? branch : l->repository->default_branch;

	if (!name || !*name || strlen(name) + sizeof("refs/heads/") > size)
		return false;
	text_copy(ret_ref, size, "refs/heads/");
	text_copy(ret_ref + strlen("refs/heads/"), size - strlen("refs/heads/"), name);
	return true;
}

/* A branch or tag has the commit now, or had it. Refs of pull requests don't count: they may be a fork's. */
static int commit_check(const struct look *l, const char *sha, bool *ret_known, struct err *err)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)l->refs, name, value)
	{
		if ((vcs_ref_branch(name) || vcs_ref_tag(name)) && text_equal(json_string_value(value), sha)) {
			*ret_known = true;
			return 0;
		}
	}
	return vcs_commit_came(l->store, l->repository_id, sha, ret_known, err);
}

static int request_go_on(struct look *l, const struct vcs_events_looking_row *row, const char *subject, struct err *err)
{
	const char *id = row->event_id, *sha = row->sha;
	struct vcs_end end = {.id = id, .is_error = true, .message = "The branch is not in the repository."};
	_cleanup_(freep) char *branch = NULL;
	char ref[VCS_REF_MAX + 1];
	bool known = true;

	if (vcs_subject_branch(l->store, l->repository_id, subject, &branch, err) < 0)
		return -1;
	if (!branch)
		end.message = "The workspace or policy set is no longer connected to the repository.";
	if (!branch || !request_ref(l, branch, ref, sizeof(ref)) || (!*sha && !*sha_of(l->refs, ref)))
		return vcs_event_end(l->store, &end, err);
	if (*sha && commit_check(l, sha, &known, err) < 0)
		return -1;
	end.message = "No branch or tag has the commit, and no push brought it. Push it to a branch first.";
	if (!known)
		return vcs_event_end(l->store, &end, err);
	return vcs_event_looked(l->store, id, ref, *sha ? NULL : sha_of(l->refs, ref), err);
}

/* A deletion goes on if the ref is still gone. The repository may not show the heads of pull requests; then there is
 * nothing to compare with. */
static bool is_newest(const struct look *l, const struct vcs_events_looking_row *row)
{
	long long number = row->pull_request;
	char head[VCS_PR_REF_SIZE];

	if (number && vcs_pr_ref(l->dialect, number, head) && l->dialect != VCS_AZURE)
		return !*sha_of(l->refs, head) || text_equal(sha_of(l->refs, head), row->sha);
	if (number)
		return true;
	return text_equal(sha_of(l->refs, row->ref), row->sha);
}

/* A pull request that was opened or reopened, or whose base was changed, is that with its newer head, too. NULL: the
 * event is nothing of the kind. */
static const char *newer_head(const struct look *l, const struct vcs_events_looking_row *row)
{
	long long number = row->pull_request;
	char head[VCS_PR_REF_SIZE];

	if (vcs_event_kind_of(row->kind) != VCS_PR_OPEN || !number || !vcs_pr_ref(l->dialect, number, head))
		return NULL;
	return sha_of(l->refs, head);
}

static int looking_settle(struct look *l, struct err *err)
{
	for (int i = 0; i < l->looking.count; i++) {
		const struct vcs_events_looking_row *row = row_of(vcs_events_looking, &l->looking, i);
		const char *id = row->event_id;
		json_auto_t *detail = json_shown(row->detail);
		const char *subject = json_string_at(detail, "subject");
		const char *head = newer_head(l, row);
		int result;

		if (subject)
			result = request_go_on(l, row, subject, err);
		else if (is_newest(l, row) || head)
			result = vcs_event_looked(l->store, id, NULL, is_newest(l, row) ? NULL : head, err);
		else
			result = vcs_event_end(l->store,
				&(struct vcs_end){.id = id, .message = "Superseded: the ref has a newer commit."}, err);
		if (result < 0)
			return -1;
	}
	return 0;
}

/* ---- differences ---- */

/* An event of the same commit waits already. */
static bool is_expected(const struct look *l, const char *ref, const char *sha)
{
	for (int i = 0; i < l->looking.count; i++) {
		const struct vcs_events_looking_row *row = row_of(vcs_events_looking, &l->looking, i);

		if (text_equal(row->ref, ref) && text_equal(row->sha, sha))
			return true;
	}
	return false;
}

static bool is_followed(const struct look *l, const char *branch)
{
	for (int i = 0; branch && i < l->followed.count; i++) {
		const char *followed = row_of(vcs_branches_followed, &l->followed, i)->branch;

		if (text_equal(*followed ? followed : l->repository->default_branch, branch))
			return true;
	}
	return false;
}

static void found_add(struct look *l, enum vcs_event_kind kind, const char *ref, const char *before, const char *sha)
{
	struct vcs_event *event;
	json_auto_t *nothing = json_object();

	if (l->found_count == MAX_FOUND) {
		l->left_out++;
		return;
	}
	event = &l->found[l->found_count++];
	*event = (struct vcs_event)VCS_EVENT_INIT;
	vcs_event_from_detail(event, nothing);
	event->kind = kind;
	event->ref = mem_text(ref);
	event->before = mem_text(before);
	event->sha = mem_text(sha);
}

/* The difference of one branch or tag. */
static void ref_compare(struct look *l, const char *ref, const char *before, const char *sha)
{
	bool is_tag = vcs_ref_tag(ref) != NULL;

	if (text_equal(before, sha) || json_object_get(l->newer, ref) || (!is_tag && !vcs_ref_branch(ref)) ||
		is_expected(l, ref, sha))
		return;
	if (*sha)
		found_add(l, is_tag ? VCS_TAG : VCS_PUSH, ref, before, sha);
	else
		found_add(l, is_tag ? VCS_TAG_DELETE : VCS_BRANCH_DELETE, ref, before, "");
}

/* In two passes: followed branches, then the others. */
static void refs_compare(struct look *l)
{
	const char *name;
	json_t *value;

	for (int pass = 0; pass < 2; pass++) {
		json_object_foreach((json_t *)l->refs, name, value)
		{
			if (is_followed(l, vcs_ref_branch(name)) == (pass == 0))
				ref_compare(l, name, sha_of(l->before, name), json_string_value(value));
		}
		json_object_foreach(l->before, name, value)
		{
			if (!json_object_get(l->refs, name) && is_followed(l, vcs_ref_branch(name)) == (pass == 0))
				ref_compare(l, name, json_string_value(value), "");
		}
	}
}

/* A new head of a known pull request that is open. */
static void pull_request_compare(struct look *l, const struct vcs_pull_requests_read_row *row)
{
	json_auto_t *detail = json_shown(row->detail);
	const char *known = row->head_sha;
	long long number = row->number;
	char ref[VCS_PR_REF_SIZE];
	struct vcs_event *event;

	if (l->dialect == VCS_AZURE || !vcs_pr_ref(l->dialect, number, ref) || !*sha_of(l->refs, ref) ||
		text_equal(sha_of(l->refs, ref), known) || l->found_count == MAX_FOUND)
		return;
	for (int i = 0; i < l->looking.count; i++) {
		const struct vcs_events_looking_row *waiting = row_of(vcs_events_looking, &l->looking, i);

		if (waiting->pull_request == number && text_equal(waiting->sha, sha_of(l->refs, ref)))
			return;
	}
	found_add(l, VCS_PR_UPDATE, text_or_empty(json_string_at(detail, "ref")), known, sha_of(l->refs, ref));
	event = &l->found[l->found_count - 1];
	vcs_event_from_detail(event, detail);
	/* These were of the earlier head. */
	*event->message = *event->commit_url = *event->compare_url = *event->author = '\0';
	event->number = number;
}

static int pull_requests_compare(struct look *l, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (vcs_pull_requests_read(l->store, l->repository_id, 0, l->began, &rows, err) < 0)
		return -1;
	for (int row = 0; row < rows.count; row++)
		pull_request_compare(l, row_of(vcs_pull_requests_read, &rows, row));
	return 0;
}

static int found_insert(struct look *l, struct err *err)
{
	const struct vcs_origin origin = {.repository_id = l->repository_id, .found_by = "poll"};

	if (l->left_out)
		log_warn("a look has found more changes than are taken at once", "repository", l->repository_id, NULL);
	return l->found_count ? vcs_events_insert(l->store, &origin, l->found, l->found_count, err) : 0;
}

/* ---- the look ---- */

static int look_load(struct look *l, struct err *err)
{
	l->is_first = !l->repository->looked_at;
	l->dialect = vcs_dialect_named(l->repository->provider, l->repository->api_url);
	l->began = l->repository->look_began;
	if (vcs_refs_read(l->store, l->repository_id, l->began, &l->before, &l->newer, err) < 0 ||
		vcs_events_looking(l->store, l->repository_id, l->began, &l->looking, err) < 0)
		return -1;
	return vcs_branches_followed(l->store, l->repository_id, &l->followed, err);
}

static void look_free(struct look **look)
{
	struct look *l = *look;

	for (size_t i = 0; i < l->found_count; i++)
		vcs_event_release(&l->found[i]);
	json_decref(l->before);
	json_decref(l->newer);
	rows_release(&l->looking);
	rows_release(&l->followed);
	free(l);
}

/* The largest number of a pull request in the refs; -1 if the provider has no refs for all pull requests. Azure DevOps
 * has none for a pull request with conflicts. */
static long long last_number(const struct look *l, const json_t *refs)
{
	char ref[VCS_PR_REF_SIZE];
	long long last = 0, number;
	const char *name;
	json_t *sha;

	if (l->dialect == VCS_AZURE || !vcs_pr_ref(l->dialect, 1, ref))
		return -1;
	json_object_foreach((json_t *)refs, name, sha)
	{
		number = vcs_pr_ref_number(l->dialect, name);
		last = number > last ? number : last;
	}
	return last;
}

static bool pull_refs_differ(const struct look *l)
{
	const char *name;
	json_t *sha;

	json_object_foreach((json_t *)l->refs, name, sha)
	{
		if (vcs_pr_ref_number(l->dialect, name) && !text_equal(sha_of(l->before, name), json_string_value(sha)))
			return true;
	}
	return false;
}

/* Requests a read of the pull requests by the provider's API, because refs do not show all of their changes. *ret_now:
 * the read is due now. */
static int pulls_want(struct look *l, bool *ret_now, struct err *err)
{
	struct vcs_pulls_wish wish = {.repository_id = l->repository_id,
		.known_to = last_number(l, l->is_first ? l->refs : l->before),
		.now = l->is_first || pull_refs_differ(l)};

	for (int row = 0; row < l->looking.count; row++)
		wish.now |= text_equal(row_of(vcs_events_looking, &l->looking, row)->found_by, "request");
	*ret_now = wish.now;
	return vcs_pulls_want(l->store, &wish, err);
}

static int look_apply(struct look *l, struct err *err)
{
	bool wanted, changed;

	if (look_load(l, err) < 0)
		return -1;
	if (!l->is_first) {
		refs_compare(l);
		if (pull_requests_compare(l, err) < 0)
			return -1;
	}
	if (looking_settle(l, err) < 0 || found_insert(l, err) < 0)
		return -1;
	if (pulls_want(l, &wanted, err) < 0)
		return -1;
	/* Most looks find no change. They write no refs and wake no thread. */
	changed = !json_equal(l->before, l->refs);
	if (changed &&
		(vcs_refs_write(l->store, l->repository_id, l->began, l->refs, err) < 0 ||
			module_tags_changed(l->store, l->repository_id, err) < 0))
		return -1;
	return changed || l->found_count || l->looking.count || wanted ? vcs_wake(l->store, err) : 0;
}

int vcs_refs_seen(struct store *store, const char *repository_id, const json_t *refs, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(look_free) struct look *l = mem_new(1, sizeof(*l));

	l->store = store;
	l->repository_id = repository_id;
	l->refs = refs;
	if (vcs_repository_lock(store, repository_id, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	l->repository = row_of(vcs_repository_locked, &rows, 0);
	return look_apply(l, err);
}

/* After a failed look, a request to run a commit ends with the reason. The first configuration of a new workspace, and
 * all other events, wait for the next look. */
static int look_missed(
	struct store *store, const struct vcs_events_looking_row *row, const char *sentence, struct err *err)
{
	const char *id = row->event_id;
	const struct vcs_end end = {.id = id, .message = sentence, .is_error = true};
	json_auto_t *detail = json_shown(row->detail);

	if (!text_equal(row->found_by, "request"))
		return 0;
	return json_bool_at(detail, "again", false) ? vcs_event_end(store, &end, err)
						    : vcs_event_unanswered(store, id, sentence, err);
}

int vcs_look_failed(struct store *store, const char *repository_id, const char *sentence, struct err *err)
{
	_cleanup_(rows_release) struct rows looking = ROWS_INIT;

	if (vcs_events_looking(store, repository_id, "infinity", &looking, err) < 0)
		return -1;
	for (int row = 0; row < looking.count; row++)
		if (look_missed(store, row_of(vcs_events_looking, &looking, row), sentence, err) < 0)
			return -1;
	return 0;
}
