/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/intake/dead_letters_command.h"

#include <stdio.h>

#define USAGE "usage: runyard-scheduler dead-letters [--json] | show ID | replay ID|all | discard ID|all"

enum { SHOWN = 1000, EXCERPT = 1000, ALL = 0 };

static int dead_letters_select(struct store *store, long long id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select id, topic, partition, \"offset\", reader, error, size, length(payload) as kept, created_at, "
		"replayed_at, case when $1::bigint = 0 then left(encode(payload, 'escape'), $3) else "
		"encode(payload, 'escape') end as payload "
		"from (select * from dead_letters where $1::bigint in (0, id) and not discarded order by id desc "
		"limit $2) newest order by id",
		P_INT(id), P_INT(SHOWN), P_INT(EXCERPT));
}

static void print_json(const struct rows *rows, int row)
{
	json_auto_t *letter = json_pack("{sI ss sI sI ss ss sI ss so so}", "id", (json_int_t)row_int(rows, row, "id"),
		"topic", row_text(rows, row, "topic"), "partition", (json_int_t)row_int(rows, row, "partition"),
		"offset", (json_int_t)row_int(rows, row, "offset"), "reader", row_text(rows, row, "reader"), "error",
		row_text(rows, row, "error"), "size", (json_int_t)row_int(rows, row, "size"), "created-at",
		row_text(rows, row, "created_at"), "replayed-at",
		json_string_or_null(row_text(rows, row, "replayed_at")), "payload",
		json_string_or_null(row_text(rows, row, "payload")));
	_cleanup_(freep) char *line = json_text(letter);

	printf("%s\n", line);
}

static bool is_control(const unsigned char *at)
{
	return *at < 0x20 || *at == 0x7f || (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f);
}

/* An attacker may have written the text, so control characters become question marks before a terminal gets it. The
 * caller frees the result. */
static char *printable(const char *text)
{
	char *copy = mem_text(text_or_empty(text));

	for (unsigned char *at = (unsigned char *)copy; *at; at++) {
		if (!is_control(at))
			continue;
		if (*at == 0xc2)
			*at++ = '?';
		*at = '?';
	}
	return copy;
}

static void print_line(const struct rows *rows, int row)
{
	_cleanup_(freep) char *reader = printable(row_text(rows, row, "reader"));
	_cleanup_(freep) char *error = printable(row_text(rows, row, "error"));

	printf("%-6lld  %.19s  %-28s  %-16s  %-8s  %s\n", row_int(rows, row, "id"), row_text(rows, row, "created_at"),
		row_text(rows, row, "topic"), reader, row_null(rows, row, "replayed_at") ? "" : "replayed", error);
}

static int list(struct store *store, bool as_json, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (dead_letters_select(store, ALL, &rows, err) < 0)
		return -1;
	if (!as_json)
		printf("%-6s  %-19s  %-28s  %-16s  %-8s  %s\n", "ID", "FOUND", "TOPIC", "READER", "", "WHY");
	for (int i = 0; i < rows.count; i++)
		(as_json ? print_json : print_line)(&rows, i);
	return 0;
}

static int not_there(long long id, struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "there is no dead letter %lld", id);
}

static int show(struct store *store, long long id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (dead_letters_select(store, id, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return not_there(id, err);
	print_json(&rows, 0);
	return 0;
}

/* Replays through the outbox, which holds text. A payload that is not text cannot have been one of our messages. */
static int replay_one(struct store *store, long long id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "with asked as (select id, size, length(payload) as kept from dead_letters where id = $1 and not "
		    "discarded), letter as (update dead_letters d set replayed_at = now() from asked a "
		    "where d.id = a.id and a.kept = a.size returning d.topic, d.payload), "
		    "put as (insert into outbox (topic, payload) select topic, convert_from(payload, 'UTF8') from "
		    "letter) "
		    "select size, kept from asked",
		    P_INT(id)) < 0)
		return err_context(err, "dead letter %lld can't be put back", id);
	if (!rows.count)
		return not_there(id, err);
	if (row_int(&rows, 0, "kept") < row_int(&rows, 0, "size"))
		return err_set(err, ERR_TOO_LARGE,
			"dead letter %lld can't be put back: of its %lld bytes only the first %lld could be kept", id,
			row_int(&rows, 0, "size"), row_int(&rows, 0, "kept"));
	return 0;
}

static int replay(struct store *store, long long id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err why = ERR_INIT;
	int replayed = 0;

	if (id != ALL)
		return replay_one(store, id, err);
	if (db_query(store->db, &rows, err,
		    "select id from dead_letters where replayed_at is null and not discarded order by id") < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		if (replay_one(store, row_int(&rows, i, "id"), &why) == 0)
			replayed++;
		else
			printf("%s\n", why.message);
	}
	printf("%d of %d put back\n", replayed, rows.count);
	return 0;
}

static int discard(struct store *store, long long id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "update dead_letters set discarded = true, payload = '' where $1::bigint in (0, id) and not "
		    "discarded",
		    P_INT(id)) < 0)
		return -1;
	return id == ALL || db_affected(&rows) ? 0 : not_there(id, err);
}

static const struct {
	const char *name;
	bool takes_all;
	int (*run)(struct store *store, long long id, struct err *err);
} actions[] = {
	{"show", false, show},
	{"replay", true, replay},
	{"discard", true, discard},
};

int dead_letters_command(struct store *store, int argc, char **argv, struct err *err)
{
	long long id = ALL;

	if (argc == 1 || (argc == 2 && text_equal(argv[1], "--json")))
		return list(store, argc == 2, err);
	for (size_t i = 0; argc == 3 && i < ARRAY_LEN(actions); i++)
		if (text_equal(argv[1], actions[i].name) &&
			((actions[i].takes_all && text_equal(argv[2], "all")) ||
				text_number(argv[2], 1, INT64_MAX, &id) == 0))
			return actions[i].run(store, id, err);
	return err_set(err, ERR_INVALID, USAGE);
}
