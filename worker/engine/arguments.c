/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/engine/arguments.h"

static void add_addresses(struct texts *args, const char *flag, const json_t *addresses)
{
	const json_t *address;
	size_t i;

	json_array_foreach(addresses, i, address)
	{
		if (json_is_string(address))
			texts_add(args, "%s=%s", flag, json_string_value(address));
	}
}

static void add_test_directory(const struct assignment *assignment, struct texts *args)
{
	const char *directory = assignment->test ? json_string_at(assignment->test, "test-directory") : NULL;

	if (directory)
		texts_add(args, "-test-directory=%s", directory);
}

void arguments_get(const struct assignment *assignment, struct texts *args)
{
	TEXTS_ADD(args, "get", "-no-color");
	add_test_directory(assignment, args);
}

void arguments_init(const struct assignment *assignment, struct texts *args)
{
	TEXTS_ADD(args, "init", "-input=false", "-no-color", "-get=false");
	add_test_directory(assignment, args);
}

void arguments_plan(const struct assignment *assignment, const char *var_file, const char *plan, struct texts *args)
{
	TEXTS_ADD(args, "plan", "-input=false", "-no-color", "-detailed-exitcode", "-lock=false");
	if (assignment->json_log)
		texts_add(args, "-json");
	texts_add(args, "-out=%s", plan);
	if (var_file)
		texts_add(args, "-var-file=%s", var_file);
	if (assignment->destroy)
		texts_add(args, "-destroy");
	if (assignment->refresh_only)
		texts_add(args, "-refresh-only");
	else if (!assignment->refresh)
		texts_add(args, "-refresh=false");
	add_addresses(args, "-target", assignment->targets);
	add_addresses(args, "-replace", assignment->replaces);
	add_addresses(args, "-invoke", assignment->invokes);
	if (assignment->generate)
		texts_add(args, "-generate-config-out=%s.tf", plan);
}

void arguments_query(const char *var_file, const char *generated, struct texts *args)
{
	TEXTS_ADD(args, "query", "-no-color", "-json");
	if (var_file)
		texts_add(args, "-var-file=%s", var_file);
	if (generated)
		texts_add(args, "-generate-config-out=%s", generated);
}

void arguments_test(const struct assignment *assignment, const char *var_file, bool parallel, struct texts *args)
{
	long long operations = json_int_at(assignment->test, "parallelism", 0);

	TEXTS_ADD(args, "test", "-no-color", "-json");
	add_test_directory(assignment, args);
	add_addresses(args, "-filter", json_at(assignment->test, "filters"));
	if (var_file)
		texts_add(args, "-var-file=%s", var_file);
	if (json_bool_at(assignment->test, "verbose", false))
		texts_add(args, "-verbose");
	if (parallel && operations > 0)
		texts_add(args, "-parallelism=%lld", operations);
}

void arguments_show(const char *plan, struct texts *args)
{
	TEXTS_ADD(args, "show", "-json", "-no-color", plan);
}

void arguments_schemas(struct texts *args)
{
	TEXTS_ADD(args, "providers", "schema", "-json");
}

void arguments_apply(const struct assignment *assignment, const char *var_file, const char *plan, struct texts *args)
{
	/* No one reads the engine's backup of the state: the scheduler has the state before the apply. */
	TEXTS_ADD(args, "apply", "-input=false", "-no-color", "-lock=false", "-backup=-");
	if (assignment->json_log)
		texts_add(args, "-json");
	if (var_file)
		texts_add(args, "-var-file=%s", var_file);
	TEXTS_ADD(args, plan);
}
