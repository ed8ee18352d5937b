/* SPDX-License-Identifier: MPL-2.0 */
/* `dead-letters` lists the messages that could not be read, the newest last; `show`, `replay` and `discard` act on
 * them. */
#include <stdio.h>

#include "scheduler/commands/command.h"

#include "scheduler/commands/dead_letters.sql.h"

enum { SHOWN = 1000, EXCERPT = 1000, ALL = 0 };

static int dead_letters_select(struct store *store, long long id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, dead_letters_read, .id = id, .max = SHOWN, .excerpt = EXCERPT);
}

static json_t *letter_make(const struct dead_letters_read_row *row)
{
	return json_pack("{sI ss sI sI ss ss sI ss so so}", "id", (json_int_t)row->id, "topic", row->topic, "partition",
		(json_int_t)row->partition, "offset", (json_int_t)row->offset, "reader", row->reader, "error",
		row->error, "size", (json_int_t)row->size, "created-at", row->created_at, "replayed-at",
		json_string_or_null(row->replayed_at), "payload", json_string_or_null(row->payload));
}

static const struct command_column columns[] = {
	{"ID", "id", 0},
	{"FOUND", "created-at", COMMAND_TIME},
	{"TOPIC", "topic", 0},
	{"READER", "reader", 0},
	{"REPLAYED", "replayed-at", COMMAND_TIME},
	{"WHY", "error", 0},
	{NULL, NULL, 0},
};

static int list(struct store *store, const struct command_line *line, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *letters = json_array();

	if (dead_letters_select(store, ALL, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(letters, letter_make(row_of(dead_letters_read, &rows, i)));
	command_print(line, letters, columns);
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
	json_auto_t *letter = letter_make(row_of(dead_letters_read, &rows, 0));
	command_print_json(letter);
	return 0;
}

/* Replays through the outbox, which holds text. A payload that is not text cannot have been one of our messages. */
static int replay_one(struct store *store, long long id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct dead_letter_replay_row *letter;

	if (db_query(store->db, &rows, err, dead_letter_replay, .id = id) < 0)
		return err_context(err, "dead letter %lld can't be put back", id);
	if (!rows.count)
		return not_there(id, err);
	letter = row_of(dead_letter_replay, &rows, 0);
	if (letter->kept < letter->size)
		return err_set(err, ERR_TOO_LARGE,
			"dead letter %lld can't be put back: of its %lld bytes only the first %lld could be kept", id,
			letter->size, letter->kept);
	return 0;
}

static int replay(struct store *store, long long id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err why = ERR_INIT;
	int replayed = 0;

	if (id != ALL)
		return replay_one(store, id, err);
	if (db_query(store->db, &rows, err, dead_letters_to_replay) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		if (replay_one(store, row_of(dead_letters_to_replay, &rows, i)->id, &why) == 0)
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

	if (db_query(store->db, &rows, err, dead_letters_discard, .id = id) < 0)
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

int command_dead_letters(struct scheduler *s, const struct command_line *line, struct err *err)
{
	long long id = ALL;

	if (!line->count)
		return list(&s->store, line, err);
	for (size_t i = 0; line->count == 2 && i < ARRAY_LEN(actions); i++)
		if (text_equal(line->arguments[0], actions[i].name) &&
			((actions[i].takes_all && text_equal(line->arguments[1], "all")) ||
				text_number(line->arguments[1], 1, INT64_MAX, &id) == 0))
			return actions[i].run(&s->store, id, err);
	return command_usage(line, err);
}
