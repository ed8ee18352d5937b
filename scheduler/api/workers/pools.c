/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/workers/pools.h"

#include "scheduler/api/api.h"

#include "proto/topics.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/scope.h"
#include "scheduler/outbox/claim_waiters.h"
#include "scheduler/outbox/publisher.h"
#include "scheduler/store/names.h"
#include "scheduler/store/workers/draining.h"
#include "scheduler/store/workers/pools.h"
#include "scheduler/store/workers/pools.sql.h"
#include "scheduler/store/workers/quotas.h"

/* ---- the resource ---- */

static const struct relation relations[POOL_RELATIONS] = {
	[POOL_ALLOWED_WORKSPACES] = MANY_CELL("allowed-workspaces", "workspaces", pool, allowed_workspaces),
	[POOL_ALLOWED_PROJECTS] = MANY_CELL("allowed-projects", "projects", pool, allowed_projects),
	[POOL_EXCLUDED_WORKSPACES] = MANY_CELL("excluded-workspaces", "workspaces", pool, excluded_workspaces),
};

/* A to-many relation that has only a link to its list. */
static json_t *to_list(const char *pool, const char *list)
{
	_cleanup_(freep) char *path = mem_printf("/api/v2/agent-pools/%s/%s", pool, list);

	return json_pack("{s{ss}}", "links", "related", path);
}

static json_t *pool_resource(const void *of_row)
{
	const struct pool_row *pool = of_row;
	const char *id = pool->id;
	_cleanup_(freep) char *self = mem_printf("/api/v2/agent-pools/%s", id);
	json_t *related = json_pack("{so so so so}", "organization", to_one("organizations", pool->organization_name),
		"agents", to_list(id, "agents"), "authentication-tokens", to_list(id, "authentication-tokens"),
		"workspaces", many_shown("workspaces", pool->workspaces));
	json_t *resource;

	json_object_update_new(related, relations_shown(relations, POOL_RELATIONS, pool));
	resource = resource_new("agent-pools", id,
		json_pack("{so sI sb sI so so}", "name", json_string_or_null(pool->name), "agent-count",
			(json_int_t)pool->agent_count, "organization-scoped", pool->organization_scoped,
			"concurrent-run-limit", (json_int_t)pool->run_limit, "created-at", time_shown(pool->created_at),
			"drained-at", time_shown(pool->drained_at)),
		related);
	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

/* ---- reading ---- */

static const struct inclusion includes[] = {
	{"workspaces", "agent-pools", "workspaces", &kind_workspaces},
	{"allowed_workspaces", "agent-pools", "allowed-workspaces", &kind_workspaces},
	{"allowed_projects", "agent-pools", "allowed-projects", &kind_projects},
	{"excluded_workspaces", "agent-pools", "excluded-workspaces", &kind_workspaces},
};

const struct resource_kind kind_pools = {
	.type = "agent-pools", .ask = pools_read_all, .show = pool_resource, KIND_INCLUDES(includes)};

int pool_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (pool_read(req->store, param(req, "pool"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(pool, ret_rows, 0)->organization_id}, "agent pool", err);
}

static int pool_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (pool_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_row(req, res, status, &(struct resource_rows){&kind_pools, &rows}, err);
}

static int page_of_pools(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	const struct pool_list list = {.organization_id = scope->organization.text,
		.search = query(req, "q"),
		.sort = query(req, "sort"),
		.workspace_id = query(req, "filter[allowed_workspaces][id]"),
		.workspace_name = query(req, "filter[allowed_workspaces][name]"),
		.project_id = query(req, "filter[allowed_projects][id]"),
		.project_name = query(req, "filter[allowed_projects][name]"),
		.limit = page->size,
		.offset = page->offset};

	return pools_list(req->store, &list, ret_rows, err);
}

int pools_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(req, res, &(struct resource_list){&kind_pools, scope_organization, page_of_pools}, err);
}

int pools_site(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *data = json_array();

	if (pools_shared(req->store, &rows, err) < 0) {
		json_decref(data);
		return -1;
	}
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(data, pool_resource(row_of(pool, &rows, i)));
	return respond_resource(res, 200, data);
}

int pools_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_pools, err) < 0 || pool_in_path(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_pools, &rows}, err);
}

/* ---- creating and changing ---- */

/* The related ids in the body: new references. */
struct related {
	json_t *ids[POOL_RELATIONS];
};

static void related_release(struct related *related)
{
	for (size_t i = 0; i < ARRAY_LEN(related->ids); i++)
		json_decref(related->ids[i]);
}

/* Reads a body into *pool. Attributes that were not sent stay as they are. */
int body_run_limit(const struct request *req, long long *ret_limit, struct err *err)
{
	long long limit = INT64_MIN;

	if (body_int(req, "concurrent-run-limit", &limit, err) < 0)
		return -1;
	if (limit == INT64_MIN)
		return 0;
	if (limit < 0 || limit > MAX_QUOTA)
		return err_at(err, "/data/attributes/concurrent-run-limit",
			"Concurrent run limit must be 0 (none) to %d", MAX_QUOTA);
	*ret_limit = limit;
	return 0;
}

int body_pool(const struct request *req, const char *relation, const struct pool_use *use, const char *refusal,
	const char **pool_id, struct err *err)
{
	char pointer[64];
	const char *id;

	snprintf(pointer, sizeof(pointer), "/data/relationships/%s", relation);
	if (!json_object_get(json_at(req->body, "data.relationships"), relation))
		return 0;
	if (body_to_one(req, relation, "agent-pools", &id, err) < 0)
		return -1;
	*pool_id = id;
	if (!id || pool_use_check(req->store, id, use, pointer, err) == 0)
		return 0;
	if (err->kind != ERR_INVALID)
		return -1;
	return err_at(err, pointer, "%s", refusal);
}

static int input_read(const struct request *req, struct pool *pool, struct related *related, struct err *err)
{
	if (body_check(req, "agent-pools", err) < 0 || body_text(req, "name", &pool->name, err) < 0 ||
		body_bool(req, "organization-scoped", &pool->organization_scoped, err) < 0 ||
		body_run_limit(req, &pool->run_limit, err) < 0 ||
		name_check("Name", "/data/attributes/name", pool->name, err) < 0)
		return -1;
	if (relations_read(req, relations, POOL_RELATIONS, related->ids, err) < 0)
		return -1;
	for (size_t i = 0; i < POOL_RELATIONS; i++)
		pool->related[i] = related->ids[i];
	return 0;
}

int pools_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(related_release) struct related related = {{NULL}};
	struct pool pool = {.organization_scoped = true, .run_limit = -1};
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 || input_read(req, &pool, &related, err) < 0 ||
		pool_create(req->store, scope.organization.text, &pool, &id, err) < 0)
		return -1;
	return pool_show(req, res, 201, id.text, err);
}

int pools_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(related_release) struct related related = {{NULL}};
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct pool_row *old;
	struct pool pool;

	if (pool_in_path(req, &rows, err) < 0)
		return -1;
	old = row_of(pool, &rows, 0);
	pool = (struct pool){.name = old->name, .organization_scoped = old->organization_scoped, .run_limit = -1};
	if (input_read(req, &pool, &related, err) < 0 || pool_update(req->store, old->id, &pool, err) < 0)
		return -1;
	return pool_show(req, res, 200, old->id, err);
}

static int pool_drain(struct request *req, struct response *res, bool drained, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (pool_in_path(req, &rows, err) < 0 ||
		pool_drain_set(req->store, row_of(pool, &rows, 0)->id, drained, err) < 0)
		return -1;
	return pool_show(req, res, 200, row_of(pool, &rows, 0)->id, err);
}

int pools_drain(struct request *req, struct response *res, struct err *err)
{
	return pool_drain(req, res, true, err);
}

int pools_resume(struct request *req, struct response *res, struct err *err)
{
	return pool_drain(req, res, false, err);
}

struct pool_topic {
	struct publisher *publisher;
	char name[TOPIC_NAME_SIZE];
};

static void pool_gone(void *data, bool committed)
{
	struct pool_topic *topic = data;

	if (committed)
		publisher_topic_gone(topic->publisher, topic->name);
	free(topic);
}

int pools_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct pool_topic *topic;
	const char *id;

	if (pool_in_path(req, &rows, err) < 0)
		return -1;
	id = row_of(pool, &rows, 0)->id;
	if (pool_delete(req->store, id, err) < 0)
		return -1;
	topic = mem_new(1, sizeof(*topic));
	topic->publisher = req->services->publisher;
	topic_of_pool(id, topic->name);
	db_after_commit(req->store->db, pool_gone, topic);
	claim_waiters_dismiss(req->services->waiters, req->store->db, id);
	return respond_empty(res, 204);
}
