/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/calls.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "scheduler/store/vcs/calls/comments.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/credentials.h"
#include "scheduler/store/vcs/calls/event_reads.h"
#include "scheduler/store/vcs/calls/hooks.h"
#include "scheduler/store/vcs/calls/pulls.h"
#include "scheduler/store/vcs/calls/removals.h"
#include "scheduler/store/vcs/calls/reports.h"

enum { MAX_CLAIMED = 20, MAX_CHECKED = 200, GIVE_UP_MS = 30000, FIRST_WAIT_S = 5, MAX_WAIT_S = 3600, UNREADABLE_S = 5 };

/* ---- purposes ---- */

static int verify_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err)
{
	(void)store;
	(void)call;
	(void)err;
	ret_prepared->operation = VCS_OP_VERIFY;
	ret_prepared->arguments = json_object();
	return 0;
}

/* Looks the repository up by the provider's id if it is known, because another repository may have the name now. The
 * argument `step` is there if only the default branch is missing. */
static int lookup_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id;

	if (db_query(store->db, &rows, err, vcs_repository_external_id, .repository_id = call->repository_id) < 0)
		return -1;
	id = rows.count && vcs_operation_exists(call->dialect, VCS_OP_LOCATE)
		? row_of(vcs_repository_external_id, &rows, 0)->external_id
		: NULL;
	ret_prepared->operation = json_string_at(call->arguments, "step") ? VCS_OP_DEFAULT_BRANCH
		: id                                                      ? VCS_OP_LOCATE
									  : VCS_OP_REPOSITORY;
	ret_prepared->arguments = id ? json_pack("{ss}", "id", id) : json_object();
	return 0;
}

static int (*const prepare[VCS_PURPOSES])(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err) = {
	[VCS_FOR_REPORT] = vcs_report_prepare,
	[VCS_FOR_COMMENT] = vcs_comment_prepare,
	[VCS_FOR_HOOK] = vcs_hook_prepare,
	[VCS_FOR_PULLS] = vcs_pulls_prepare,
	[VCS_FOR_COMMIT] = vcs_commit_prepare,
	[VCS_FOR_FILES] = vcs_files_prepare,
	[VCS_FOR_LOOKUP] = lookup_prepare,
	[VCS_FOR_VERIFY] = verify_prepare,
	[VCS_FOR_REMOVAL] = vcs_removal_prepare,
};

int vcs_call_add(struct store *store, const struct vcs_call *call, struct err *err)
{
	const struct vcs_purpose_traits *of = &vcs_purposes[call->purpose];

	return db_query(store->db, NULL, err, vcs_call_add, .purpose = of->name, .urgency = of->urgency,
		.writes = of->writes, .repository_id = call->repository_id, .connection_id = call->connection_id,
		.subject = text_or_empty(call->subject));
}

/* ---- limits ---- */

/* Writes that are sent at once, and are refilled evenly: at most twice as many within that time. GitHub permits 80 a
 * minute and 500 an hour; the others permit far more. */
static const struct {
	double minute, hour;
} limits[VCS_DIALECTS] = {
	[VCS_GITHUB] = {40, 250},
	[VCS_GITLAB] = {150, 5000},
	[VCS_BITBUCKET_CLOUD] = {60, 450},
	[VCS_BITBUCKET_SERVER] = {150, 5000},
	[VCS_AZURE] = {100, 3000},
	[VCS_GITEA] = {300, 10000},
};

/* What a credential may send in this claim. */
struct allowance {
	const char *owner; /* borrowed */
	double minute, hour, blocked_s;
	bool spent; /* its calls were put off */
};

/* Locks the limits of all owners, in one order. */
static int limits_lock(struct store *store, const struct rows *calls, struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array owners = DB_ARRAY_INIT;

	for (int i = 0; i < calls->count; i++)
		db_array_add(&owners, row_of(vcs_call, calls, i)->owner);
	if (db_query(store->db, NULL, err, vcs_limits_ensure, .owners = &owners) < 0)
		return -1;
	return db_query(store->db, ret_rows, err, vcs_limits_lock, .owners = &owners);
}

/* A time in seconds; NULL: none. */
static double seconds_of(const char *numeric)
{
	return numeric ? strtod(numeric, NULL) : 0;
}

/* -1 stands for a bucket that was never used. */
static double refilled(double left, double max, double seconds, double period)
{
	left = left < 0 ? max : left + max * seconds / period;
	return left < max ? left : max;
}

static struct allowance *allowance_find(struct allowance *list, size_t count, const char *owner)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(list[i].owner, owner))
			return &list[i];
	return NULL;
}

static void allowance_fill(
	struct allowance *allowance, const struct vcs_limits_lock_row *limit, enum vcs_dialect dialect)
{
	double seconds = seconds_of(limit->since_refill);

	*allowance = (struct allowance){.owner = limit->owner_id,
		.minute = refilled(limit->minute_left, limits[dialect].minute, seconds, 60),
		.hour = refilled(limit->hour_left, limits[dialect].hour, seconds, 3600),
		.blocked_s = seconds_of(limit->blocked)};
}

/* Counts the call. False if it must wait. */
static bool allowance_take(struct allowance *allowance, bool writes)
{
	if (allowance->blocked_s > 0)
		return false;
	if (!writes)
		return true;
	if (allowance->minute < 1 || allowance->hour < 1)
		return false;
	allowance->minute -= 1;
	allowance->hour -= 1;
	return true;
}

/* Puts the owner's calls off, so that they don't hide those of others. Called once per owner and claim. */
static int allowance_put_off(
	struct store *store, struct allowance *allowance, enum vcs_dialect dialect, struct err *err)
{
	double wait = allowance->blocked_s;

	if (wait <= 0 && allowance->minute < 1)
		wait = (1 - allowance->minute) * 60 / limits[dialect].minute;
	if (allowance->blocked_s <= 0 && allowance->hour < 1 &&
		wait < (1 - allowance->hour) * 3600 / limits[dialect].hour)
		wait = (1 - allowance->hour) * 3600 / limits[dialect].hour;
	if (allowance->spent)
		return 0;
	allowance->spent = true;
	return db_query(store->db, NULL, err, vcs_calls_put_off, .owner = allowance->owner,
		.wait_s = (double)((long long)wait + 1), .all = allowance->blocked_s > 0);
}

static int allowance_store(struct store *store, const struct allowance *allowance, struct err *err)
{
	return db_queue(store->db, err, vcs_limit_store, .owner = allowance->owner, .minute = allowance->minute,
		.hour = allowance->hour);
}

/* ---- claim ---- */

static enum vcs_dialect row_dialect(const struct vcs_call_row *row)
{
	return vcs_dialect_named(row->provider, row->api_url);
}

struct vcs_claimed vcs_call_of(const struct vcs_call_row *row, json_t *arguments)
{
	return (struct vcs_claimed){.id = row->id,
		.repository_id = row->repository_id,
		.connection_id = row->owner,
		.removal_id = row->removal_id,
		.subject = row->subject,
		.purpose = vcs_purpose_of(row->purpose),
		.operation = vcs_operation_of(row->operation),
		.arguments = arguments,
		.dialect = row_dialect(row),
		.identifier = row->identifier,
		.version = row->version,
		.tries = (int)row->tries,
		.token_generation = row->token_generation,
		.token_replaced = row->token_replaced};
}

static int put_off(struct store *store, const char *id, int wait_s, const char *why, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_call_put_off, .id = id, .wait_s = wait_s, .why = why);
}

/* Stores what is sent, without the secret. */
static int claim_store(struct store *store, const struct vcs_claimed *call, const struct vcs_prepared *prepared,
	const char *notifier, struct err *err)
{
	json_auto_t *arguments = json_copy(prepared->arguments);
	_cleanup_(freep) char *text = NULL;

	json_object_del(arguments, "secret");
	text = json_text(arguments);
	return db_query(store->db, NULL, err, vcs_call_claim, .id = call->id, .notifier = notifier,
		.lease_seconds = store->settings->lease_seconds, .operation = vcs_operation_name(prepared->operation),
		.arguments = text, .version = prepared->version, .token_generation = prepared->token_generation);
}

static int credential_read(
	struct store *store, const struct vcs_claimed *call, struct vcs_credential *ret_credential, struct err *err)
{
	if (call->removal_id)
		return vcs_credential_of_removal(store, call->removal_id, ret_credential, err);
	if (call->repository_id)
		return vcs_credential_read(store, call->repository_id, ret_credential, err);
	return vcs_credential_of_connection(store, call->connection_id, ret_credential, err);
}

static int request_add(struct store *store, const struct vcs_claimed *call, int attempt, struct vcs_prepared *prepared,
	json_t *requests, struct err *err)
{
	_cleanup_(vcs_credential_release) struct vcs_credential credential = VCS_CREDENTIAL_INIT;
	_cleanup_(vcs_http_release) struct vcs_http http = {.method = NULL};
	struct vcs_api api;

	if (credential_read(store, call, &credential, err) < 0)
		return -1;
	prepared->token_generation = credential.generation;
	api = vcs_credential_api(&credential);
	if (vcs_http_make(&api, prepared->operation, prepared->arguments, &http, err) < 0)
		return -1;
	json_array_append_new(requests,
		json_pack("{ss si sn ss ss sO so sI so}", "id", call->id, "attempt", attempt + 1, "run", "method",
			http.method, "url", http.url, "headers", http.headers, "body", json_string_or_null(http.body),
			"give-up-in-ms", (json_int_t)GIVE_UP_MS, "pool",
			json_string_or_null(vcs_credential_forwarder(&credential))));
	return 0;
}

/* A call that can't be made waits or ends; it never keeps others from being claimed. */
static int unmade(struct store *store, const struct vcs_claimed *call, const struct err *why, struct err *err)
{
	if (why->kind == ERR_UNAVAILABLE)
		return put_off(store, call->id, UNREADABLE_S, why->message, err);
	log_warn("a call of a VCS provider can't be made", "call", call->id, "repository", call->repository_id,
		"purpose", vcs_purposes[call->purpose].name, "error", why->message, NULL);
	return vcs_call_end(store, call->id, err);
}

static int call_claim(struct store *store, const struct vcs_call_row *row, const struct request_claim *claim,
	json_t *requests, struct err *err)
{
	json_auto_t *arguments = json_shown(row->arguments);
	const struct vcs_claimed call = vcs_call_of(row, arguments);
	struct vcs_prepared prepared = {.operation = VCS_OPERATIONS};
	int attempt = (int)row->attempt, result;
	struct err why = ERR_INIT;

	if (call.purpose == VCS_PURPOSES)
		return vcs_call_end(store, call.id, err);
	if (prepare[call.purpose](store, &call, &prepared, err) < 0)
		return -1;
	if (prepared.operation == VCS_OPERATIONS || !vcs_operation_exists(call.dialect, prepared.operation))
		result = vcs_call_end(store, call.id, err);
	else if (request_add(store, &call, attempt, &prepared, requests, &why) < 0)
		result = unmade(store, &call, &why, err);
	else
		result = claim_store(store, &call, &prepared, claim->notifier, err);
	json_decref(prepared.arguments);
	return result;
}

static int candidates_claim(struct store *store, const struct rows *calls, struct allowance *allowances, size_t count,
	const struct request_claim *claim, json_t *requests, struct err *err)
{
	for (int i = 0; i < calls->count; i++) {
		const struct vcs_call_row *call = row_of(vcs_call, calls, i);
		struct allowance *allowance = allowance_find(allowances, count, call->owner);

		if (!allowance || !allowance_take(allowance, call->writes)) {
			if (allowance && allowance_put_off(store, allowance, row_dialect(call), err) < 0)
				return -1;
			continue;
		}
		if (call_claim(store, call, claim, requests, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < count; i++)
		if (allowance_store(store, &allowances[i], err) < 0)
			return -1;
	return 0;
}

int vcs_calls_claim(struct store *store, const struct request_claim *claim, json_t *requests, struct err *err)
{
	_cleanup_(rows_release) struct rows calls = ROWS_INIT, limit = ROWS_INIT;
	_cleanup_(freep) char *asked = json_text(claim->ids);
	struct allowance allowances[MAX_CLAIMED] = {{.owner = NULL}};

	if (db_query(store->db, &calls, err, vcs_calls_due, .asked = asked,
		    .max = claim->max < MAX_CLAIMED ? claim->max : MAX_CLAIMED, .forwards = claim->forwards) < 0)
		return -1;
	if (!calls.count)
		return 0;
	if (limits_lock(store, &calls, &limit, err) < 0)
		return -1;
	for (int i = 0; i < limit.count; i++) {
		const struct vcs_limits_lock_row *of_owner = row_of(vcs_limits_lock, &limit, i);

		for (int k = 0; k < calls.count; k++) {
			const struct vcs_call_row *call = row_of(vcs_call, &calls, k);

			if (text_equal(of_owner->owner_id, call->owner))
				allowance_fill(&allowances[i], of_owner, row_dialect(call));
		}
	}
	return candidates_claim(store, &calls, allowances, (size_t)limit.count, claim, requests, err);
}

int vcs_checks_enqueue(struct store *store, struct err *err)
{
	if (vcs_calls_enqueue(store, VCS_FOR_VERIFY, &vcs_verifications_enqueue_statement, MAX_CHECKED, err) < 0)
		return -1;
	return vcs_calls_enqueue(store, VCS_FOR_LOOKUP, &vcs_lookups_enqueue_statement, MAX_CHECKED, err);
}

int vcs_calls_rescue(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_calls_rescue);
}

/* ---- answers ---- */

int vcs_call_lock(
	struct store *store, const char *id, int attempt, struct rows *ret_rows, bool *ret_there, struct err *err)
{
	if (db_query(store->db, ret_rows, err, vcs_call_lock, .id = id, .attempt = attempt) < 0)
		return -1;
	*ret_there = ret_rows->count > 0;
	return 0;
}

int vcs_call_end(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_call_end, .id = id);
}

int vcs_call_again(struct store *store, const struct vcs_claimed *call, int wait_s, const char *why, struct err *err)
{
	int wait = FIRST_WAIT_S << (call->tries < 10 ? call->tries : 10);

	if (wait > MAX_WAIT_S)
		wait = MAX_WAIT_S;
	return put_off(store, call->id, wait > wait_s ? wait : wait_s, why, err);
}

int vcs_call_goes_on(struct store *store, const struct vcs_claimed *call, const json_t *arguments, struct err *err)
{
	_cleanup_(freep) char *text = json_text(arguments);

	return db_query(store->db, NULL, err, vcs_call_goes_on, .id = call->id, .arguments = text);
}

int vcs_limit_block(struct store *store, const struct vcs_claimed *call, int wait_s, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_limit_block, .owner = call->connection_id, .wait_s = wait_s);
}

int vcs_limit_note(struct store *store, const struct vcs_claimed *call, const char *why, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_limit_note, .connection_id = call->connection_id, .why = why);
}
