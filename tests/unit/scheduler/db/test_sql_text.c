/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "scheduler/db/sql_text.h"

static void check_next_statement(const char **at, const char *text)
{
	struct sql_statement statement;

	assert_true(sql_next(at, &statement));
	assert_int_equal(statement.len, strlen(text));
	assert_memory_equal(statement.text, text, statement.len);
}

static void semicolons_inside_literals_do_not_end_statements(void **state)
{
	const char *at = "-- one; two\n\nupdate a set b = ';''', \"c;\" = 1; -- it's\n"
			 "create function f() returns void as $body$ begin; '$$' end $body$; select $1 -- ;\n, 2";
	struct sql_statement statement;

	(void)state;
	check_next_statement(&at, "update a set b = ';''', \"c;\" = 1;");
	check_next_statement(&at, "create function f() returns void as $body$ begin; '$$' end $body$;");
	check_next_statement(&at, "select $1 -- ;\n, 2");
	assert_false(sql_next(&at, &statement));
}

static void unclosed_literals_end_with_the_script(void **state)
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

static void check_lock(const char *sql, const char *lock, const char *table)
{
	const struct sql_statement statement = {sql, strlen(sql)};
	char name[SQL_NAME_SIZE];

	assert_string_equal(sql_lock(&statement), lock);
	sql_table(&statement, name);
	assert_string_equal(name, table);
}

static void lock_follows_from_statement_keywords(void **state)
{
	(void)state;
	check_lock("ALTER TABLE only runs\n\tadd column x text references y;", "ACCESS EXCLUSIVE", "runs");
	check_lock("alter table if exists runs set (fillfactor = 50)", "SHARE UPDATE EXCLUSIVE", "runs");
	check_lock("alter table runs add check (x = ' drop ')", "ACCESS EXCLUSIVE", "runs");
	check_lock("create index concurrently i on jobs (id)", "SHARE UPDATE EXCLUSIVE", "jobs");
	check_lock("create unique index i on jobs(id)", "SHARE", "jobs");
	check_lock("create table t (a text)", "none", "");
	check_lock("create table t (a text references u)", "SHARE ROW EXCLUSIVE", "");
	check_lock("truncate jobs", "ACCESS EXCLUSIVE", "");
	check_lock("insert into jobs(id) values ('a')", "ROW EXCLUSIVE", "jobs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(semicolons_inside_literals_do_not_end_statements),
		cmocka_unit_test(unclosed_literals_end_with_the_script),
		cmocka_unit_test(lock_follows_from_statement_keywords),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
