/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/db/sql_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- statements ---- */

/* The end of a comment, quoted text or dollar-quoted text that begins at `at`; NULL if none begins there. An unclosed
 * one ends with the script. */
static const char *quoted_end(const char *at)
{
	const char *end = NULL;
	char tag[SQL_NAME_SIZE];
	size_t len;

	if (text_starts(at, "--"))
		return at + strcspn(at, "\n");
	if (*at == '\'' || *at == '"') {
		end = strchr(at + 1, *at);
		return end ? end + 1 : at + strlen(at);
	}
	if (*at != '$')
		return NULL;
	len = 1 + strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
	if (at[len] != '$' || len + 2 > sizeof(tag))
		return NULL;
	snprintf(tag, sizeof(tag), "%.*s", (int)len + 1, at);
	end = strstr(at + len + 1, tag);
	return end ? end + len + 1 : at + strlen(at);
}

bool sql_next(const char **at, struct sql_statement *ret_statement)
{
	const char *from = *at, *end;

	while (isspace((unsigned char)*from) || text_starts(from, "--"))
		from = *from == '-' ? quoted_end(from) : from + 1;
	if (!*from)
		return false;
	for (end = from; *end && *end != ';';) {
		const char *behind = quoted_end(end);

		end = behind ? behind : end + 1;
	}
	end += *end == ';';
	*ret_statement = (struct sql_statement){from, (size_t)(end - from)};
	*at = end;
	return true;
}

/* ---- locks ---- */

enum { MAX_FOLDED = 4096 };

/* Copies the statement in lower case with single blanks, without quoted parts, and with a blank at its end. */
static void fold(const struct sql_statement *statement, char ret_text[MAX_FOLDED])
{
	size_t len = 0;

	for (const char *at = statement->text; at < statement->text + statement->len && len < MAX_FOLDED - 2;) {
		const char *behind = quoted_end(at);
		bool blank = behind || isspace((unsigned char)*at) || *at == ';';

		if (!blank)
			ret_text[len++] = (char)tolower((unsigned char)*at);
		else if (len && ret_text[len - 1] != ' ')
			ret_text[len++] = ' ';
		at = behind ? behind : at + 1;
	}
	if (len && ret_text[len - 1] != ' ')
		ret_text[len++] = ' ';
	ret_text[len] = '\0';
}

/* The first row that fits decides. https://www.postgresql.org/docs/15/explicit-locking.html and the pages of the
 * commands. tests/integration/processes/test_migrations.py compares rows with the locks that PostgreSQL shows. */
static const struct {
	const char *begins, *contains, *lock;
} locks[] = {
	{"create table ", " references ", "SHARE ROW EXCLUSIVE"},
	{"create table ", "", "none"},
	{"create view ", "", "ACCESS SHARE"},
	{"create function ", "", "none"},
	{"create or replace function ", "", "none"},
	{"comment on function ", "", "none"},
	{"create index concurrently ", "", "SHARE UPDATE EXCLUSIVE"},
	{"create unique index concurrently ", "", "SHARE UPDATE EXCLUSIVE"},
	{"drop index concurrently ", "", "SHARE UPDATE EXCLUSIVE"},
	{"create index ", "", "SHARE"},
	{"create unique index ", "", "SHARE"},
	{"create trigger ", "", "SHARE ROW EXCLUSIVE"},
	{"create constraint trigger ", "", "SHARE ROW EXCLUSIVE"},
	{"alter table ", " add column ", "ACCESS EXCLUSIVE"},
	{"alter table ", " alter column ", "ACCESS EXCLUSIVE"},
	{"alter table ", " drop ", "ACCESS EXCLUSIVE"},
	{"alter table ", " foreign key ", "SHARE ROW EXCLUSIVE"},
	{"alter table ", " validate constraint ", "SHARE UPDATE EXCLUSIVE"},
	{"alter table ", " set (", "SHARE UPDATE EXCLUSIVE"},
	{"insert ", "", "ROW EXCLUSIVE"},
	{"update ", "", "ROW EXCLUSIVE"},
	{"delete ", "", "ROW EXCLUSIVE"},
	{"with ", "", "ROW EXCLUSIVE"},
	{"select ", "", "ACCESS SHARE"},
};

const char *sql_lock(const struct sql_statement *statement)
{
	char folded[MAX_FOLDED];

	fold(statement, folded);
	for (size_t i = 0; i < ARRAY_LEN(locks); i++)
		if (text_starts(folded, locks[i].begins) && strstr(folded, locks[i].contains))
			return locks[i].lock;
	return "ACCESS EXCLUSIVE";
}

const char *sql_lock_blocks(const char *lock)
{
	static const struct {
		const char *lock, *blocks;
	} rows[] = {
		{"ACCESS EXCLUSIVE", "reads and writes"},
		{"SHARE ROW EXCLUSIVE", "writes"},
		{"SHARE", "writes"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (text_equal(lock, rows[i].lock))
			return rows[i].blocks;
	return "neither reads nor writes";
}

/* ---- names of tables ---- */

/* Copies the word at `at`, which ends with a blank or a bracket. */
static void word_copy(const char *at, char ret_word[SQL_NAME_SIZE])
{
	static const char *const before[] = {"if not exists ", "if exists ", "only "};

	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		if (text_starts(at, before[i]))
			at += strlen(before[i]);
	snprintf(ret_word, SQL_NAME_SIZE, "%.*s", (int)strcspn(at, " ("), at);
}

bool sql_makes_table(const struct sql_statement *statement, char ret_name[SQL_NAME_SIZE])
{
	char folded[MAX_FOLDED];

	fold(statement, folded);
	if (!text_starts(folded, "create table "))
		return false;
	word_copy(folded + strlen("create table "), ret_name);
	return true;
}

void sql_table(const struct sql_statement *statement, char ret_name[SQL_NAME_SIZE])
{
	static const char *const before[] = {"alter table ", "insert into ", "update ", "delete from "};
	char folded[MAX_FOLDED];
	const char *on;

	fold(statement, folded);
	ret_name[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		if (text_starts(folded, before[i])) {
			word_copy(folded + strlen(before[i]), ret_name);
			return;
		}
	on = text_starts(folded, "create ") ? strstr(folded, " on ") : NULL;
	if (on)
		word_copy(on + strlen(" on "), ret_name);
}
