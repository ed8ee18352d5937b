/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/vcs/answers.h"

#include <string.h>

#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/auth/vcs/renewals.h"
#include "scheduler/metrics.h"
#include "scheduler/runs/vcs/answers.sql.h"
#include "scheduler/runs/vcs/pulls.h"
#include "scheduler/runs/vcs/renames.h"
#include "scheduler/store/vcs/calls/calls.h"
#include "scheduler/store/vcs/calls/comments.h"
#include "scheduler/store/vcs/calls/event_reads.h"
#include "scheduler/store/vcs/calls/hooks.h"
#include "scheduler/store/vcs/calls/removals.h"
#include "scheduler/store/vcs/calls/reports.h"
#include "scheduler/store/vcs/events.h"
#include "scheduler/store/vcs/events/deliveries.h"
#include "scheduler/store/vcs/events/refs.h"
#include "scheduler/store/vcs/tokens.h"

/* The tries of a call while its token is renewed, and the pause between them. */
enum { RENEWAL_TRIES = 3, RENEWAL_WAIT_S = 2 };

/* One answer while it is applied. */
struct applying {
	struct store *store;
	const json_t *delivery;
	json_t *body; /* parsed, or NULL */
};

/* ---- by purpose ---- */

/* `taken` and `refused` may set *ret_goes_on: the arguments of the call's next step (a new reference). */
struct purpose_rows {
	int (*taken)(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
		struct err *err);
	int (*refused)(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
		json_t **ret_goes_on, struct err *err);
};

/* Azure DevOps has separate statuses of pull requests. They are sent after those of the commit. */
static int report_taken(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err)
{
	(void)result;
	if (call->operation == VCS_OP_STATUS && json_int_at(call->arguments, "number", 0) > 0 &&
		vcs_operation_exists(call->dialect, VCS_OP_PULL_STATUS))
		*ret_goes_on = json_pack("{sb}", "of_pull", 1);
	return vcs_report_sent(store, call, err);
}

static int default_branch_store(
	struct store *store, const struct vcs_claimed *call, const json_t *result, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_default_branch_found, .repository_id = call->repository_id,
		.name = json_string_at(result, "name"));
}

/* A renamed repository is looked at now, because looks with its old name may have missed pushes. */
static int name_take(struct store *store, const struct vcs_claimed *call, const char *name, struct err *err)
{
	struct vcs_told told = {.repository_id = call->repository_id, .found_by = "poll", .kind = VCS_RENAME};
	struct vcs_renamed renamed;

	if (vcs_rename_follow(store, call->repository_id, call->dialect, name, &renamed, err) < 0)
		return -1;
	if (!*renamed.sentence)
		return 0;
	told.is_error = renamed.is_error;
	told.message = renamed.sentence;
	if (renamed.changed &&
		(vcs_deliveries_hasten(store, call->repository_id, err) < 0 ||
			vcs_look_now(store, call->repository_id, err) < 0))
		return -1;
	return vcs_event_tell(store, &told, err);
}

static int lookup_taken(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err)
{
	if (call->operation == VCS_OP_DEFAULT_BRANCH)
		return default_branch_store(store, call, result, err);
	if (!json_string_at(result, "default_branch") && vcs_operation_exists(call->dialect, VCS_OP_DEFAULT_BRANCH))
		*ret_goes_on = json_pack("{ss}", "step", "branch");
	if (db_query(store->db, NULL, err, vcs_repository_found, .repository_id = call->repository_id,
		    .external_id = json_string_at(result, "id"),
		    .default_branch = json_string_at(result, "default_branch"),
		    .web_url = json_string_at(result, "web_url")) < 0)
		return -1;
	return call->operation == VCS_OP_LOCATE ? name_take(store, call, json_string_at(result, "identifier"), err) : 0;
}

static int lookup_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err)
{
	(void)ret_goes_on;
	return db_query(store->db, NULL, err, vcs_repository_refused, .repository_id = call->repository_id,
		.why = verdict->why);
}

static int verify_taken(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err)
{
	const struct vcs_token_verdict verdict = {
		.state = "verified", .user_name = json_string_at(result, "user"), .generation = call->token_generation};

	(void)ret_goes_on;
	return vcs_token_judge(store, call->connection_id, &verdict, err);
}

static int verify_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err)
{
	/* A repository's access token of Bitbucket Cloud may not read its user. */
	bool known = call->dialect == VCS_BITBUCKET_CLOUD && !verdict->missing;
	const struct vcs_token_verdict judged = {.state = known ? "verified" : "refused",
		.error = known ? NULL : verdict->why,
		.generation = call->token_generation};

	(void)ret_goes_on;
	return vcs_token_judge(store, call->connection_id, &judged, err);
}

static const struct purpose_rows purposes[VCS_PURPOSES] = {
	[VCS_FOR_REPORT] = {report_taken, vcs_report_refused},
	[VCS_FOR_COMMENT] = {vcs_comment_step, vcs_comment_refused},
	[VCS_FOR_HOOK] = {vcs_hook_step, vcs_hook_refused},
	[VCS_FOR_LOOKUP] = {lookup_taken, lookup_refused},
	[VCS_FOR_VERIFY] = {verify_taken, verify_refused},
	[VCS_FOR_PULLS] = {vcs_pulls_step, vcs_pulls_refused},
	[VCS_FOR_COMMIT] = {vcs_commit_step, vcs_commit_refused},
	[VCS_FOR_FILES] = {vcs_files_step, vcs_files_refused},
	[VCS_FOR_REMOVAL] = {vcs_removal_step, vcs_removal_refused},
};

/* ---- one answer ---- */

static int ends_or_goes_on(struct store *store, const struct vcs_claimed *call, json_t *goes_on, struct err *err)
{
	int result = goes_on ? vcs_call_goes_on(store, call, goes_on, err) : vcs_call_end(store, call->id, err);

	json_decref(goes_on);
	return result;
}

static int taken(struct store *store, const struct vcs_claimed *call, const struct vcs_answer *answer, struct err *err)
{
	json_auto_t *result = NULL;
	json_t *goes_on = NULL;
	struct err unread = ERR_INIT;

	if (vcs_answer_read(answer, &result, &unread) < 0)
		return vcs_call_again(store, call, 0, unread.message, err);
	if (vcs_limit_note(store, call, NULL, err) < 0 ||
		purposes[call->purpose].taken(store, call, result, &goes_on, err) < 0) {
		json_decref(goes_on);
		return -1;
	}
	return ends_or_goes_on(store, call, goes_on, err);
}

static int refused(
	struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict, struct err *err)
{
	json_t *goes_on = NULL;

	if (vcs_limit_note(store, call, verdict->why, err) < 0 ||
		purposes[call->purpose].refused(store, call, verdict, &goes_on, err) < 0) {
		json_decref(goes_on);
		return -1;
	}
	return ends_or_goes_on(store, call, goes_on, err);
}

/* Repeats the call later, with the credential of that time. Records a refused credential for users. */
static int again(
	struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict, struct err *err)
{
	const struct vcs_token_verdict token = {
		.state = "refused", .error = verdict->why, .generation = call->token_generation};
	bool renewed = false;

	/* The token of a deleted connection is not renewed, and its refusal does not concern any other token. */
	if (verdict->unauthorized && call->removal_id)
		return vcs_removal_refused(store, call, verdict, NULL, err);
	if (vcs_limit_note(store, call, verdict->why, err) < 0 ||
		(verdict->unauthorized && renewal_hasten(store, call->repository_id, &renewed, err) < 0))
		return -1;
	if (renewed && call->tries < RENEWAL_TRIES)
		return vcs_call_again(store, call, RENEWAL_WAIT_S, verdict->why, err);
	if (verdict->unauthorized && vcs_token_judge(store, call->connection_id, &token, err) < 0)
		return -1;
	return vcs_call_again(store, call, verdict->wait_s, verdict->why, err);
}

static void note(const struct vcs_claimed *call, const struct vcs_answer *answer, const struct vcs_verdict *verdict)
{
	static const char *const fates[] = {[VCS_TAKEN] = "taken", [VCS_AGAIN] = "again", [VCS_NEVER] = "refused"};

	metric_addf(M_VCS_CALLS, 1, "operation=\"%s\",outcome=\"%s\"", vcs_operation_name(call->operation),
		fates[verdict->fate]);
	if (verdict->fate != VCS_TAKEN)
		log_warn("a VCS provider did not take a call", "call", call->id, "repository", call->repository_id,
			"operation", vcs_operation_name(answer->operation), "error", verdict->why, NULL);
}

static int decide(struct store *store, const struct vcs_claimed *call, const struct vcs_answer *answer, struct err *err)
{
	struct vcs_verdict verdict;

	vcs_answer_judge(answer, &verdict);
	note(call, answer, &verdict);
	if (verdict.limited && vcs_limit_block(store, call, verdict.wait_s, err) < 0)
		return -1;
	if (verdict.fate == VCS_TAKEN)
		return taken(store, call, answer, err);
	/* The refusal does not concern the newer token, with which the call is repeated at once. */
	if (call->token_replaced && (verdict.unauthorized || verdict.fate == VCS_NEVER))
		return vcs_call_goes_on(store, call, call->arguments, err);
	if (verdict.fate == VCS_NEVER)
		return refused(store, call, &verdict, err);
	return again(store, call, &verdict, err);
}

static int apply_in(void *data, struct err *err)
{
	struct applying *a = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *arguments = NULL;
	const struct vcs_call_row *row;
	struct vcs_claimed call;
	struct vcs_answer answer;
	bool there;

	if (vcs_call_lock(a->store, json_string_at(a->delivery, "id"), (int)json_int_at(a->delivery, "attempt", 0),
		    &rows, &there, err) < 0)
		return -1;
	if (!there)
		return 0;
	row = row_of(vcs_call, &rows, 0);
	arguments = json_shown(row->arguments);
	call = vcs_call_of(row, arguments);
	answer = (struct vcs_answer){.dialect = call.dialect,
		.operation = call.operation,
		.arguments = arguments,
		.status = (int)json_int_at(a->delivery, "status", 0),
		.headers = json_at(a->delivery, "headers"),
		.body = a->body,
		.error = json_string_at(a->delivery, "error"),
		.forbidden = json_bool_at(a->delivery, "forbidden", false),
		.internal = json_bool_at(a->delivery, "internal", false),
		.now = time(NULL)};
	if (call.purpose == VCS_PURPOSES || call.operation == VCS_OPERATIONS)
		return vcs_call_end(a->store, call.id, err);
	return decide(a->store, &call, &answer, err);
}

static int answer_apply(struct store *store, const json_t *delivery, struct err *err)
{
	struct applying a = {.store = store, .delivery = delivery};
	const char *body = json_string_at(delivery, "body");
	struct err unread = ERR_INIT;
	int result;

	if (body)
		json_parse(body, strlen(body), &a.body, &unread);
	result = db_transaction(store->db, apply_in, &a, err);
	json_decref(a.body);
	return result;
}

int vcs_answers_apply(struct store *store, const json_t *deliveries, struct err *err)
{
	const json_t *delivery;
	size_t i;

	json_array_foreach(deliveries, i, delivery)
	{
		const char *id = text_or_empty(json_string_at(delivery, "id"));
		struct err why = ERR_INIT;

		if (!text_starts(id, "vcscall-") || answer_apply(store, delivery, &why) == 0)
			continue;
		if (why.kind == ERR_UNAVAILABLE) {
			*err = why;
			return -1;
		}
		log_error("the answer to a call of a VCS provider can't be applied", "call", id, "error", why.message,
			NULL);
	}
	return 0;
}
