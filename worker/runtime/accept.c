/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/accept.h"

#include <string.h>

#include "common/base.h"
#include "common/err.h"
#include "proto/capabilities.h"

static const char git[] = "git", none[] = "none";

/* The kinds of jobs, and what a worker that does not take them refuses (proto/capabilities.h). */
static const struct {
	const char *kind, *refused;
} rows[] = {
	{"plan", "plan"},
	{"apply", "apply"},
	{"policy", "opa"},
	{"policy", "sentinel"},
	{"cost", "cost"},
	{"assessment", "assessment"},
	{"query", "query"},
	{"test", "test"},
};

static bool has(const char *list, const char *kind)
{
	_cleanup_(freep) char *copy = mem_text(list);
	char *rest = copy, *item;

	while ((item = strsep(&rest, ",")))
		if (text_equal(item, kind))
			return true;
	return false;
}

static bool is_kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (text_equal(name, rows[i].kind))
			return true;
	return text_equal(name, git);
}

int accept_check(const char *list, struct err *err)
{
	_cleanup_(freep) char *copy = mem_text(list);
	char *rest = copy, *item;

	if (text_equal(list, none))
		return 0;
	while ((item = strsep(&rest, ",")))
		if (!is_kind(item))
			return err_set(err, ERR_INVALID,
				"--accept: there is no kind of job \"%.64s\": name plan, apply, policy, cost, "
				"assessment, query, test and git, separated by commas without spaces, or none",
				item);
	return 0;
}

bool accept_git(const char *list)
{
	return has(list, git);
}

bool accept_stages(const char *list)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (has(list, rows[i].kind))
			return true;
	return false;
}

void accept_refusals(const char *list, json_t *capabilities)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!has(list, rows[i].kind))
			json_array_append_new(capabilities, json_sprintf("%s%s", capability_refusal, rows[i].refused));
}
