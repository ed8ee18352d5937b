/* SPDX-License-Identifier: MPL-2.0 */
/* `topics` lists the topics with their groups and lags. `topics --create` and `--acls` print the commands that create
 * them and that allow each process what it needs. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/err.h"
#include "scheduler/background/lag_keeper.h"
#include "scheduler/background/topic_lags.h"
#include "scheduler/commands/topics.h"

enum { CALL_MS = 5000, MAX_COMMAND = 1024 };

static const struct command_column columns[] = {
	{"TOPIC", "topic", 0},
	{"POOL", "pool", 0},
	{"PARTITIONS", "partitions", 0},
	{"RETENTION", "retention-hours", 0},
	{"GROUP", "group", 0},
	{"MEMBERS", "members", 0},
	{"LAG", "lag", 0},
	{"WHY", "failure", 0},
	{NULL, NULL, 0},
};

enum acl_account { ACL_SCHEDULER, ACL_WORKER, ACL_NOTIFIER };
enum acl_resource { ACL_TOPIC, ACL_GROUP };
enum acl_pattern { ACL_LITERAL, ACL_PREFIXED, ACL_POOL };

static const struct acl {
	enum acl_account account;
	enum acl_resource resource;
	const char *name;
	enum acl_pattern pattern;
	const char *operations;
} acls[] = {
#define ACL(account, resource, name, pattern, operations)                                                              \
	{ACL_##account, ACL_##resource, name, ACL_##pattern, operations},
#include "proto/acls.def"
#undef ACL
};

static const struct acl_account_row {
	const char *option, *name;
} accounts[] = {
	[ACL_SCHEDULER] = {"scheduler", "runyard-scheduler"},
	[ACL_WORKER] = {"worker", "runyard-worker"},
	[ACL_NOTIFIER] = {"notifier", "runyard-notifier"},
};

/* The rows that the command lists, and their sources. */
struct listing {
	const struct scheduler_options *options;
	const struct command_line *line;
	struct topic_lags lags;
	json_t *rows;
};

static void listing_release(struct listing *listing)
{
	topic_lags_release(&listing->lags);
	json_decref(listing->rows);
}

/* ---- topics ---- */

static int topics_measure(struct listing *listing, struct err *err)
{
	const struct kafka_settings kafka = scheduler_kafka(listing->options);

	return topic_lags_measure(&listing->lags, &kafka, CALL_MS, err);
}

static json_t *count_or_null(bool known, int64_t count)
{
	return known ? json_integer((json_int_t)count) : json_null();
}

static json_t *topic_row(const struct listing *listing, size_t i)
{
	const struct kafka_group_topic *item = &listing->lags.items[i];
	const struct pool_topic *pool = topic_lags_pool(&listing->lags, i);
	const struct topic_row *row = topic_find(item->topic);
	const struct scheduler_options *o = listing->options;
	long long hours = o->topic_retention_hours ? o->topic_retention_hours : row->retention_hours;
	long long partitions = item->partitions ? (long long)item->partitions
		: pool                          ? o->job_partitions
						: row->partitions;
	_cleanup_(freep) char *replication = mem_printf(" --replication-factor %lld", o->topic_replication);
	_cleanup_(freep) char *create = mem_printf("kafka-topics.sh --bootstrap-server %s --create --if-not-exists "
						   "--topic %s --partitions %lld%s --config retention.ms=%lld",
		o->brokers, item->topic, partitions, o->topic_replication ? replication : "", hours * 3600000);

	return json_pack("{ss so so sI sI so so so so ss}", "topic", item->topic, "pool",
		json_string_or_null(pool ? pool->name : NULL), "group",
		json_string_or_null(*item->group ? item->group : NULL), "partitions", (json_int_t)partitions,
		"retention-hours", (json_int_t)hours, "members",
		count_or_null(item->partitions && item->members >= 0, item->members), "lag",
		count_or_null(item->partitions && *item->group, kafka_group_topic_lag(item)), "waiting",
		count_or_null(pool, pool ? pool->waiting : 0), "failure", json_string_or_null(item->failure), "create",
		create);
}

static void topics_list(struct listing *listing)
{
	for (size_t i = 0; i < listing->lags.count; i++)
		json_array_append_new(listing->rows, topic_row(listing, i));
}

/* ---- ACLs ---- */

static void acl_add(struct listing *listing, const struct acl *acl, const char *pool_id)
{
	const struct acl_account_row *account = &accounts[acl->account];
	const char *named = command_option(listing->line, account->option), *operation;
	_cleanup_(buf_release) struct buf text = BUF_INIT(MAX_COMMAND);
	_cleanup_(freep) char *operations = mem_text(acl->operations), *name = mem_printf("%s%s", acl->name, pool_id);
	const char *resource = acl->resource == ACL_TOPIC ? "topic" : "group", *user = named ? named : account->name;
	json_t *list = json_array();
	char *rest = NULL;

	buf_printf(&text, "kafka-acls.sh --bootstrap-server %s --add --allow-principal User:%s",
		listing->options->brokers, user);
	for (operation = strtok_r(operations, " ", &rest); operation; operation = strtok_r(NULL, " ", &rest)) {
		buf_printf(&text, " --operation %s", operation);
		json_array_append_new(list, json_string(operation));
	}
	buf_printf(&text, " --%s %s%s", resource, name,
		acl->pattern == ACL_PREFIXED ? " --resource-pattern-type prefixed" : "");
	json_array_append_new(listing->rows,
		json_pack("{ss ss ss sb so ss}", "account", user, "resource", resource, "name", name, "prefixed",
			acl->pattern == ACL_PREFIXED, "operations", list, "create", buf_str(&text)));
}

static void acls_list(struct listing *listing)
{
	for (size_t i = 0; i < ARRAY_LEN(acls); i++) {
		if (acls[i].pattern != ACL_POOL)
			acl_add(listing, &acls[i], "");
		for (size_t p = 0; acls[i].pattern == ACL_POOL && p < listing->lags.pools.count; p++)
			acl_add(listing, &acls[i], listing->lags.pools.rows[p].id.text);
	}
}

/* ---- the command ---- */

static void listing_print(const struct listing *listing, bool commands)
{
	const json_t *row;
	size_t i;

	if (!commands || listing->line->as_json) {
		command_print(listing->line, listing->rows, columns);
		return;
	}
	json_array_foreach(listing->rows, i, row) printf("%s\n", json_string_at(row, "create"));
}

int topics_read(struct scheduler *s, json_t **ret_topics, struct err *err)
{
	_cleanup_(listing_release) struct listing listing = {.options = &s->options, .rows = json_array()};

	if (pool_topics_read(&s->store, &listing.lags.pools, err) < 0 || topics_measure(&listing, err) < 0)
		return -1;
	topics_list(&listing);
	*ret_topics = json_incref(listing.rows);
	return 0;
}

int command_topics(struct scheduler *s, const struct command_line *line, struct err *err)
{
	_cleanup_(listing_release) struct listing listing = {
		.options = &s->options, .line = line, .rows = json_array()};
	bool create = command_option(line, "create") != NULL, of_acls = command_option(line, "acls") != NULL;

	if (create && of_acls)
		return command_usage(line, err);
	if (pool_topics_read(&s->store, &listing.lags.pools, err) < 0)
		return -1;
	if (of_acls) {
		acls_list(&listing);
	} else {
		if (topics_measure(&listing, err) < 0)
			return -1;
		topics_list(&listing);
	}
	listing_print(&listing, create || of_acls);
	return 0;
}

/* While PostgreSQL is away, the process ends without a line of its own: the scheduler that started it logs that, and
 * this one would say that "the scheduler" ends. */
int command_keep_lag(struct scheduler *s, const struct command_line *line, struct err *err)
{
	const struct kafka_settings kafka = scheduler_kafka(&s->options);

	(void)line;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (lag_keep(&s->store, &kafka, stdout, err) == 0)
		return 0;
	if (err->kind != ERR_UNAVAILABLE)
		return -1;
	fflush(stdout);
	_exit(EXIT_FAILURE);
}
