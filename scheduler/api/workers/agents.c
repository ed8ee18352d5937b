/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/store/workers/agents.h"
#include "scheduler/store/workers/agents.sql.h"
#include "scheduler/store/workers/draining.h"
#include "scheduler/api/access/tokens.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/workers/pools.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/workers/pools.sql.h"

/* A pool's agents (its workers) and the tokens with which they start. */

static json_t *agent_resource(const void *of_row)
{
	const struct agent_row *agent = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/agents/%s", agent->id);
	json_t *resource = resource_new("agents", agent->id,
		json_pack("{so so so so so so so so sb so so so}", "name", json_string_or_null(agent->name),
			"ip-address", json_string_or_null(agent->address), "status", json_string_or_null(agent->status),
			"created-at", time_shown(agent->created_at), "last-ping-at", time_shown(agent->seen_at),
			"token-description", json_string_or_null(agent->token_description), "capabilities",
			json_shown(agent->capabilities), "version", json_string_or_null(agent->version), "draining",
			agent->draining, "order", json_string_or_null(agent->ordered), "slots",
			json_integer(agent->slots), "slots-free", json_integer(agent->free)),
		json_pack("{so so so}", "agent-pool", to_one("agent-pools", agent->pool_id), "authentication-token",
			to_one("authentication-tokens", agent->token_id), "runs", many_shown("runs", agent->runs)));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

static const struct resource_kind kind_agents = {.type = "agents", .show = agent_resource};

/* Shows one page of the agents of the list's pool or organization. */
static int agents_show(struct request *req, struct response *res, struct agent_list list, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct page page;

	list.seen_since = query(req, "filter[last-ping-since]");
	list.sort = query(req, "sort");
	if (page_read(req, &page, err) < 0)
		return -1;
	if (list.seen_since && !time_valid(list.seen_since))
		return err_set(
			err, ERR_MALFORMED, "filter[last-ping-since] must be a time such as 2026-11-21T01:25:00Z");
	list.limit = page.size;
	list.offset = page.offset;
	if (agents_list(req->store, &list, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){&kind_agents, &rows}, err);
}

int agents_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows pool = ROWS_INIT;

	if (pool_in_path(req, &pool, err) < 0)
		return -1;
	return agents_show(req, res, (struct agent_list){.pool_id = row_of(pool, &pool, 0)->id}, err);
}

int agents_site(struct request *req, struct response *res, struct err *err)
{
	return agents_show(req, res, (struct agent_list){.pool_id = NULL}, err);
}

int agents_workers(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0)
		return -1;
	return agents_show(req, res, (struct agent_list){.organization_id = scope.organization.text}, err);
}

static int agent_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (agent_read(req->store, param(req, "agent"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(agent, ret_rows, 0)->organization_id}, "agent", err);
}

int agents_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (agent_in_path(req, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, agent_resource(row_of(agent, &rows, 0)));
}

int agents_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (agent_in_path(req, &rows, err) < 0 || agent_delete(req->store, row_of(agent, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- orders ---- */

static int agent_order(struct request *req, struct response *res, enum worker_order order, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, after = ROWS_INIT;

	if (agent_in_path(req, &rows, err) < 0 ||
		worker_order_set(req->store, row_of(agent, &rows, 0)->id, order, err) < 0 ||
		agent_read(req->store, row_of(agent, &rows, 0)->id, &after, err) < 0)
		return -1;
	return respond_resource(res, 200, agent_resource(row_of(agent, &after, 0)));
}

int agents_drain(struct request *req, struct response *res, struct err *err)
{
	return agent_order(req, res, ORDER_DRAIN, err);
}

int agents_resume(struct request *req, struct response *res, struct err *err)
{
	return agent_order(req, res, ORDER_NONE, err);
}

int agents_leave(struct request *req, struct response *res, struct err *err)
{
	return agent_order(req, res, ORDER_LEAVE, err);
}

/* ---- tokens ---- */

int agent_tokens_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows pool = ROWS_INIT;
	struct token_list list = {.pool_id = param(req, "pool")};

	if (pool_in_path(req, &pool, err) < 0)
		return -1;
	return tokens_show(req, res, &list, err);
}

/* Clients send the type of either the request or the created resource. */
static int body_check_token(const struct request *req, struct err *err)
{
	if (text_equal(json_string_at(json_at(req->body, "data"), "type"), "agent-tokens"))
		return 0;
	return body_check(req, "authentication-tokens", err);
}

int agent_tokens_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows pool = ROWS_INIT;
	struct token_order order = {.pool_id = param(req, "pool"), .created_by = req->actor.user.text};

	if (pool_in_path(req, &pool, err) < 0 || body_check_token(req, err) < 0 ||
		token_order_read(req, &order, err) < 0)
		return -1;
	if (!*text_or_empty(order.description))
		return err_at(err, "/data/attributes/description", "Description can't be blank");
	return token_make(req, res, &order, err);
}

/* ---- tokens of notifiers ---- */

int notifier_tokens_index(struct request *req, struct response *res, struct err *err)
{
	struct token_list list = {.notifier = true};

	return tokens_show(req, res, &list, err);
}

int notifier_tokens_create(struct request *req, struct response *res, struct err *err)
{
	struct token_order order = {.notifier = true, .created_by = req->actor.user.text};

	if (body_check(req, "authentication-tokens", err) < 0 || token_order_read(req, &order, err) < 0)
		return -1;
	if (!*text_or_empty(order.description))
		return err_at(err, "/data/attributes/description", "Description can't be blank");
	return token_make(req, res, &order, err);
}
