/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/hooks.h"

#include <string.h>

#include "common/crypto.h"
#include "scheduler/store/vcs/calls/hooks.sql.h"
#include "scheduler/store/vcs/events/refs.h"
#include "scheduler/store/vcs/repositories.h"

enum { MAX_ENQUEUED = 100, MAX_PAGES = 20 };

/*
 * The arguments of a call have the `version` of the secret that it sent to the provider, and its next step:
 *
 *   (none)  list the hooks, to find the one with this repository's URL
 *   remove  delete `hook`
 *   edit    give `hook` the secret, where the dialect can
 *   create  make it
 *   facts   read the ids of project and repository: subscriptions of Azure DevOps need them
 */

/* The events of Azure DevOps, which has a subscription for each. */
static const char *const azure_events[] = {
	"git.push", "git.pullrequest.created", "git.pullrequest.updated", "git.pullrequest.merged"};

/* ---- when ---- */

int vcs_hooks_enqueue(struct store *store, struct err *err)
{
	return vcs_calls_enqueue(store, VCS_FOR_HOOK, &vcs_hooks_enqueue_statement, MAX_ENQUEUED, err);
}

static int repository_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_hook_state, .id = id);
}

static char *hook_url(const struct store *store, const struct vcs_hook_state_row *repository)
{
	return mem_printf("%s/webhooks/vcs/%s", store->settings->public_url, repository->hook);
}

/* ---- the next request ---- */

/* Deletes the first of the hooks that are known: Azure DevOps has several, separated by commas. */
static json_t *removal(const char *known)
{
	_cleanup_(freep) char *first = mem_printf("%.*s", (int)strcspn(known, ","), known);

	return json_pack("{ss ss}", "step", "remove", "hook", first);
}

/* The request that gives the provider the secret. */
static int secret_add(struct store *store, const struct vcs_claimed *call, const struct vcs_hook_state_row *repository,
	json_t *arguments, struct err *err)
{
	_cleanup_(freep) char *url = hook_url(store, repository);
	_cleanup_(crypto_secret_freep) char *secret = NULL;

	if (vcs_hook_secret_read(store, call->repository_id, &secret, err) < 0)
		return -1;
	/* Subscriptions of Azure DevOps are created one by one. The version of the first one counts for all. */
	if (!json_object_get(arguments, "version"))
		json_object_set_new(arguments, "version", json_integer(repository->version));
	json_object_set_new(arguments, "url", json_string(url));
	json_object_set_new(arguments, "secret", json_string(text_or_empty(secret)));
	return 0;
}

static enum vcs_operation operation_of(const char *step)
{
	static const struct {
		const char *step;
		enum vcs_operation operation;
	} steps[] = {{"remove", VCS_OP_HOOK_DELETE}, {"edit", VCS_OP_HOOK_EDIT}, {"create", VCS_OP_HOOK_CREATE},
		{"facts", VCS_OP_REPOSITORY}};

	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		if (text_equal(step, steps[i].step))
			return steps[i].operation;
	return VCS_OP_HOOKS;
}

int vcs_hook_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_hook_state_row *repository;
	json_auto_t *arguments = json_deep_copy(call->arguments);

	ret_prepared->operation = VCS_OPERATIONS;
	if (repository_read(store, call->repository_id, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	repository = row_of(vcs_hook_state, &rows, 0);
	if (!repository->used && !repository->hook_external_id)
		return 0;
	if (!repository->used) {
		json_decref(arguments);
		arguments = removal(repository->hook_external_id);
	}
	ret_prepared->operation = operation_of(json_string_at(arguments, "step"));
	if ((ret_prepared->operation == VCS_OP_HOOK_CREATE || ret_prepared->operation == VCS_OP_HOOK_EDIT) &&
		secret_add(store, call, repository, arguments, err) < 0)
		return -1;
	ret_prepared->arguments = json_incref(arguments);
	return 0;
}

/* ---- answers ---- */

/* Once the provider has the newest secret, the previous one is accepted for ten more minutes, for deliveries that were
 * already sent. If a newer secret exists, the next call sends it. */
static int hook_store(struct store *store, const struct vcs_claimed *call, const char *external_id, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_hook_store, .repository_id = call->repository_id,
		.external_id = external_id, .version = json_int_at(call->arguments, "version", 0));
}

static json_t *creation(const struct vcs_claimed *call)
{
	return json_pack("{ss}", "step", call->dialect == VCS_AZURE ? "facts" : "create");
}

/* The ids of the hooks with that URL, separated by commas. Appends those of earlier pages. */
static void hooks_match(const struct vcs_claimed *call, const json_t *result, const char *url, struct buf *ret_ids)
{
	const json_t *items = json_at(result, "items");

	buf_text(ret_ids, text_or_empty(json_string_at(call->arguments, "found")));
	for (size_t i = 0; i < json_array_size(items); i++) {
		const json_t *item = json_array_get(items, i);

		if (!text_equal(json_string_at(item, "url"), url) || !json_string_at(item, "id"))
			continue;
		if (ret_ids->len)
			buf_text(ret_ids, ",");
		buf_text(ret_ids, json_string_at(item, "id"));
	}
}

/* The number of hooks that a repository should have. */
static size_t wanted_count(const struct vcs_claimed *call)
{
	return call->dialect == VCS_AZURE ? ARRAY_LEN(azure_events) : 1;
}

static size_t ids_count(const char *ids)
{
	size_t count = *ids ? 1 : 0;

	for (; *ids; ids++)
		count += *ids == ',';
	return count;
}

/* The list is complete. A hook that is not the known one may have another secret: its request was lost. */
static int found(struct store *store, const struct vcs_claimed *call, const struct vcs_hook_state_row *repository,
	const char *ids, json_t **ret_goes_on, struct err *err)
{
	const char *known = text_or_empty(repository->hook_external_id);
	bool same = ids_count(ids) == wanted_count(call) && text_equal(ids, known);

	if (!*ids) {
		*ret_goes_on = creation(call);
		return 0;
	}
	if (same && repository->sent_version >= repository->version)
		return hook_store(store, call, known, err);
	if (ids_count(ids) == 1 && vcs_operation_exists(call->dialect, VCS_OP_HOOK_EDIT))
		*ret_goes_on = json_pack("{ss ss}", "step", "edit", "hook", ids);
	else
		*ret_goes_on = removal(ids);
	return 0;
}

static int listed(struct store *store, const struct vcs_claimed *call, const struct vcs_hook_state_row *repository,
	const json_t *result, json_t **ret_goes_on, struct err *err)
{
	_cleanup_(buf_release) struct buf ids = BUF_INIT(64 << 10);
	_cleanup_(freep) char *url = hook_url(store, repository);
	long long next = json_int_at(result, "next", 0);

	hooks_match(call, result, url, &ids);
	if (!next || next > MAX_PAGES)
		return found(store, call, repository, buf_str(&ids), ret_goes_on, err);
	*ret_goes_on = json_pack("{sI ss}", "page", (json_int_t)next, "found", buf_str(&ids));
	return 0;
}

/* Made one of the hooks. */
static int created(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err)
{
	const char *before = text_or_empty(json_string_at(call->arguments, "made"));
	const char *id = text_or_empty(json_string_at(result, "id"));
	_cleanup_(freep) char *made = mem_printf("%s%s%s", before, *before ? "," : "", id);
	size_t count = ids_count(made);

	if (count >= wanted_count(call))
		return hook_store(store, call, made, err);
	*ret_goes_on = json_deep_copy(call->arguments);
	json_object_del(*ret_goes_on, "url");
	json_object_set_new(*ret_goes_on, "made", json_string(made));
	json_object_set_new(*ret_goes_on, "event", json_string(azure_events[count]));
	return 0;
}

/* Deleted one: an unused repository's next one follows, and a used one's are listed again. */
static int removed(struct store *store, const struct vcs_claimed *call, const struct vcs_hook_state_row *repository,
	json_t **ret_goes_on, struct err *err)
{
	const char *known = text_or_empty(repository->hook_external_id), *rest = strchr(known, ',');

	*ret_goes_on = json_object();
	return hook_store(store, call, rest ? rest + 1 : NULL, err);
}

int vcs_hook_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_hook_state_row *repository;

	if (repository_read(store, call->repository_id, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	repository = row_of(vcs_hook_state, &rows, 0);
	switch (call->operation) {
	case VCS_OP_HOOKS:
		return listed(store, call, repository, result, ret_goes_on, err);
	case VCS_OP_HOOK_CREATE:
		return created(store, call, result, ret_goes_on, err);
	case VCS_OP_HOOK_DELETE:
		return removed(store, call, repository, ret_goes_on, err);
	case VCS_OP_REPOSITORY:
		*ret_goes_on = json_pack("{ss ss sO sO}", "step", "create", "event", azure_events[0], "project_id",
			json_at(result, "project_id"), "repository_id", json_at(result, "id"));
		return 0;
	default:
		return hook_store(store, call, json_string_at(call->arguments, "hook"), err);
	}
}

int vcs_hook_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err)
{
	(void)ret_goes_on;
	return db_query(
		store->db, NULL, err, vcs_hook_refused, .repository_id = call->repository_id, .why = verdict->why);
}
