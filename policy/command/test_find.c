/* SPDX-License-Identifier: MPL-2.0 */
/* Finding policies and their cases. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base.h"
#include "policy/command/folder.h"
#include "policy/command/test.h"
#include "policy/core/regex.h"

static int is_policy(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && name_ends(entry->d_name, ".sentinel");
}

static int is_case(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && (name_ends(entry->d_name, ".hcl") || name_ends(entry->d_name, ".json"));
}

/* ---- cases ---- */

/* The length of a name without its ending. */
static int stem_len(const char *name)
{
	return (int)(strrchr(name, '.') - name);
}

static bool find_cases(struct test_policy *policy)
{
	const char *slash = strrchr(policy->path, '/');
	const char *name = slash ? slash + 1 : policy->path;
	_cleanup_(freep) char *folder = mem_printf("%.*stest/%.*s", (int)(name - policy->path), policy->path,
		name_ends(name, ".sentinel") ? stem_len(name) : (int)strlen(name), name);
	struct dirent **entries;
	bool listed = folder_list(folder, is_case, &entries, &policy->case_count);

	policy->cases = mem_new(policy->case_count + 1, sizeof(*policy->cases));
	for (size_t i = 0; i < policy->case_count; i++) {
		const char *file = entries[i]->d_name;

		policy->cases[i] = (struct test_case){
			.path = mem_printf("%s/%s", folder, file),
			.name = mem_printf("%s/%.*s", strrchr(folder, '/') + 1, stem_len(file), file),
			.chosen = true,
		};
		free(entries[i]);
	}
	free(entries);
	return listed;
}

/* ---- policies ---- */

static bool add_policy(struct tests *tests, char *path)
{
	tests->policies = mem_resize(tests->policies, tests->count + 1, sizeof(*tests->policies));
	tests->policies[tests->count] = (struct test_policy){.path = path};
	return find_cases(&tests->policies[tests->count++]);
}

static bool add_folder(struct tests *tests, const char *folder)
{
	size_t len = strlen(folder), count;
	struct dirent **entries;
	bool listed = folder_list(folder, is_policy, &entries, &count);

	while (len > 1 && folder[len - 1] == '/')
		len--;
	for (size_t i = 0; i < count; i++) {
		char *path = strcmp(folder, ".") == 0 ? mem_text(entries[i]->d_name)
						      : mem_printf("%.*s/%s", (int)len, folder, entries[i]->d_name);

		listed = add_policy(tests, path) && listed;
		free(entries[i]);
	}
	free(entries);
	return listed;
}

static bool add_path(struct tests *tests, const char *path)
{
	size_t before = tests->count;
	struct stat info;

	if (stat(path, &info) < 0) {
		perror(path);
		return false;
	}
	if (!S_ISDIR(info.st_mode))
		return add_policy(tests, mem_text(path));
	if (!add_folder(tests, path))
		return false;
	if (tests->count == before)
		fprintf(stderr, "%s: there are no policies (*.sentinel) in the folder\n", path);
	return tests->count > before;
}

bool tests_find(struct tests *tests, const char *const *paths, size_t path_count)
{
	*tests = (struct tests){0};
	if (path_count == 0)
		return add_path(tests, ".");
	for (size_t i = 0; i < path_count; i++)
		if (!add_path(tests, paths[i]))
			return false;
	return true;
}

void tests_release(struct tests *tests)
{
	for (size_t i = 0; i < tests->count; i++) {
		struct test_policy *policy = &tests->policies[i];

		for (size_t j = 0; j < policy->case_count; j++) {
			free(policy->cases[j].path);
			free(policy->cases[j].name);
			free(policy->cases[j].text);
		}
		free(policy->cases);
		free(policy->path);
	}
	free(tests->policies);
}

/* ---- -run ---- */

struct choosing {
	struct tests *tests;
	const char *pattern;
};

/* A pattern with a slash is one for the policy and one for the case. */
static bool is_chosen(struct run *run, const char *pattern, const char *name)
{
	const char *slash = strchr(pattern, '/'), *name_slash = strrchr(name, '/');

	if (!slash)
		return regex_match(run, pattern, strlen(pattern), name, strlen(name));
	return regex_match(run, pattern, (size_t)(slash - pattern), name, (size_t)(name_slash - name)) &&
		regex_match(run, slash + 1, strlen(slash + 1), name_slash + 1, strlen(name_slash + 1));
}

static void choose(struct run *run, void *data)
{
	const struct choosing *choosing = data;

	is_chosen(run, choosing->pattern, "/"); /* fails if the pattern is wrong, also without cases */
	for (size_t i = 0; i < choosing->tests->count; i++)
		for (size_t j = 0; j < choosing->tests->policies[i].case_count; j++) {
			struct test_case *test = &choosing->tests->policies[i].cases[j];

			test->chosen = is_chosen(run, choosing->pattern, test->name);
		}
}

bool tests_choose(struct tests *tests, const char *pattern)
{
	struct choosing choosing = {tests, pattern};
	struct run run;
	bool chosen;

	if (!pattern)
		return true;
	run_init(&run, &run_limits_default);
	chosen = run_protected(&run, choose, &choosing) == 0;
	if (!chosen)
		fprintf(stderr, "-run: %s\n", run.failure.message);
	run_release(&run);
	return chosen;
}
