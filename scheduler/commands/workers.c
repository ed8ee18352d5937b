/* SPDX-License-Identifier: MPL-2.0 */
/* `workers` lists the site's workers; `drain`, `resume` and `leave` order one of them, or a whole pool. */
#include "scheduler/commands/command.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/workers/agents.h"
#include "scheduler/store/workers/agents.sql.h"
#include "scheduler/store/workers/draining.h"
#include "scheduler/store/workers/pools.h"

enum { MAX_SHOWN = 10000 };

static const struct command_column columns[] = {
	{"ID", "id", 0},
	{"NAME", "name", 0},
	{"POOL", "pool", 0},
	{"STATUS", "status", 0},
	{"ORDER", "order", 0},
	{"DRAINING", "draining", 0},
	{"SLOTS", "slots", 0},
	{"FREE", "free", 0},
	{"VERSION", "version", 0},
	{"SEEN", "seen-at", COMMAND_TIME},
	{NULL, NULL, 0},
};

static int workers_show(struct store *store, const struct command_line *line, const char *pool, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct agent_list list = {.pool_id = pool, .sort = "name", .limit = MAX_SHOWN};
	json_auto_t *items = json_array();

	if (agents_list(store, &list, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count && row_of(agent, &rows, i)->id; i++) {
		const struct agent_row *agent = row_of(agent, &rows, i);

		json_array_append_new(items,
			json_pack("{ss ss ss ss ss sb sI sI ss ss}", "id", agent->id, "name", agent->name, "pool",
				agent->pool, "status", agent->status, "order", agent->ordered, "draining",
				agent->draining, "slots", (json_int_t)agent->slots, "free", (json_int_t)agent->free,
				"version", agent->version, "seen-at", agent->seen_at));
	}
	command_print(line, items, columns);
	return 0;
}

static const struct verb {
	const char *name;
	enum worker_order order;
} verbs[] = {{"drain", ORDER_DRAIN}, {"resume", ORDER_NONE}, {"leave", ORDER_LEAVE}};

struct ordering {
	struct store *store;
	const struct verb *verb;
	const char *worker;
	const struct pool_name *pool; /* or NULL */
};

/* A pool is drained as such, so that workers that register later are, too. It can't leave: its workers do. */
static int pool_order(const struct ordering *o, struct err *err)
{
	if (o->verb->order == ORDER_LEAVE)
		return workers_order_all(o->store, o->pool->id.text, ORDER_LEAVE, err);
	return pool_drain_set(o->store, o->pool->id.text, o->verb->order == ORDER_DRAIN, err);
}

static int worker_order(const struct ordering *o, struct id *ret_organization, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (agent_read(o->store, o->worker, &rows, err) < 0)
		return -1;
	text_copy(ret_organization->text, ID_SIZE, row_of(agent, &rows, 0)->organization_id);
	return worker_order_set(o->store, o->worker, o->verb->order, err);
}

static int order_in(void *data, struct err *err)
{
	const struct ordering *o = data;
	struct id organization = {""};
	struct audit_event event = {.action = o->verb->name,
		.resource_type = o->pool ? "agent_pool" : "agent",
		.resource_id = o->pool ? o->pool->id.text : o->worker};

	if (o->pool)
		organization = o->pool->organization;
	if (o->pool ? pool_order(o, err) < 0 : worker_order(o, &organization, err) < 0)
		return -1;
	event.organization = *organization.text ? organization.text : NULL;
	return audit_write_system(o->store, &event, err);
}

int command_workers(struct scheduler *s, const struct command_line *line, struct err *err)
{
	const char *name = command_option(line, "pool");
	struct ordering ordering = {.store = &s->store, .worker = line->count == 2 ? line->arguments[1] : NULL};
	struct pool_name pool;

	if (name && pool_find(&s->store, name, &pool, err) < 0)
		return -1;
	if (!line->count)
		return workers_show(&s->store, line, name ? pool.id.text : NULL, err);
	ordering.pool = name ? &pool : NULL;
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (text_equal(line->arguments[0], verbs[i].name))
			ordering.verb = &verbs[i];
	if (!ordering.verb || !ordering.worker == !name)
		return command_usage(line, err);
	return db_transaction(s->store.db, order_in, &ordering, err);
}
