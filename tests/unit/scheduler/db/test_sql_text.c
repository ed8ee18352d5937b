/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "scheduler/db/sql_text.h"

static void statement_is(const char **at, const char *text)
{
	struct sql_statement statement;

	assert_true(sql_next(at, &statement));
	assert_int_equal(statement.len, strlen(text));
	assert_memory_equal(statement.text, text, statement.len);
}

static void semicolons_in_texts_end_no_statement(void **state)
{
	const char *at = "-- one; two\n\nupdate a set b = ';''', \"c;\" = 1; -- it's\n"
			 "create function f() returns void as $body$ begin; '$$' end $body$; select $1 -- ;\n, 2";
	struct sql_statement statement;

	(void)state;
	statement_is(&at, "update a set b = ';''', \"c;\" = 1;");
	statement_is(&at, "create function f() returns void as $body$ begin; '$$' end $body$;");
	statement_is(&at, "select $1 -- ;\n, 2");
	assert_false(sql_next(&at, &statement));
}

static void unclosed_texts_end_with_the_script(void **state)
{
	static const char *const scripts[] = {
		"select 'x", "select \"", "select $a$ $b$", "-- x", "", " \n", "select $"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		const char *at = scripts[i];
		struct sql_statement statement;

		for (int count = 0; sql_next(&at, &statement); count++) {
			assert_true(statement.len > 0);
			assert_int_equal(count, 0);
		}
	}
}

static void lock_is(const char *sql, const char *lock, const char *table)
{
	const struct sql_statement statement = {sql, strlen(sql)};
	char name[SQL_NAME_SIZE];

	assert_string_equal(sql_lock(&statement), lock);
	sql_table(&statement, name);
	assert_string_equal(name, table);
}

static void locks_follow_from_the_words(void **state)
{
	(void)state;
	lock_is("ALTER TABLE only runs\n\tadd column x text references y;", "ACCESS EXCLUSIVE", "runs");
	lock_is("alter table if exists runs set (fillfactor = 50)", "SHARE UPDATE EXCLUSIVE", "runs");
	lock_is("alter table runs add check (x = ' drop ')", "ACCESS EXCLUSIVE", "runs");
	lock_is("create index concurrently i on jobs (id)", "SHARE UPDATE EXCLUSIVE", "jobs");
	lock_is("create unique index i on jobs(id)", "SHARE", "jobs");
	lock_is("create table t (a text)", "none", "");
	lock_is("create table t (a text references u)", "SHARE ROW EXCLUSIVE", "");
	lock_is("truncate jobs", "ACCESS EXCLUSIVE", "");
	lock_is("insert into jobs(id) values ('a')", "ROW EXCLUSIVE", "jobs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(semicolons_in_texts_end_no_statement),
		cmocka_unit_test(unclosed_texts_end_with_the_script),
		cmocka_unit_test(locks_follow_from_the_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
