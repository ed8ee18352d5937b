/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs/run_create_params.h"

#include <string.h>

#include "scheduler/api/workspaces/workspaces.h"
#include "scheduler/store/registry/test_beds.h"

enum { MAX_MESSAGE = 65536, MAX_ADDRESS = 1024, MAX_ADDRESSES = 1000, MAX_KEY = 255, MAX_VALUE = 262144 };

/* null counts as unset. */
static int read_choice(const struct request *req, const char *name, enum choice *ret_choice, struct err *err)
{
	bool yes = true, no = false;

	if (body_bool(req, name, &yes, err) < 0 || body_bool(req, name, &no, err) < 0)
		return -1;
	*ret_choice = CHOICE_UNSET;
	if (body_has(req, name) && yes == no)
		*ret_choice = yes ? CHOICE_YES : CHOICE_NO;
	return 0;
}

static int read_flags(const struct request *req, struct run_create_params *order, struct err *err)
{
	const struct {
		const char *name;
		bool *value;
	} flags[] = {
		{"is-destroy", &order->is_destroy},
		{"refresh-only", &order->refresh_only},
		{"save-plan", &order->save_plan},
		{"allow-empty-apply", &order->allow_empty_apply},
		{"allow-config-generation", &order->allow_config_generation},
		{"debugging-mode", &order->debugging_mode},
	};
	bool refresh = true;

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (body_bool(req, flags[i].name, flags[i].value, err) < 0)
			return -1;
	if (body_bool(req, "refresh", &refresh, err) < 0 || read_choice(req, "plan-only", &order->plan_only, err) < 0)
		return -1;
	order->no_refresh = !refresh;
	return read_choice(req, "auto-apply", &order->auto_apply, err);
}

/* ---- lists ---- */

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

/* Each item must be one line of text. The lists hold addresses of resources and actions, and paths. */
static int list_check(const json_t *list, const char *pointer, const char *what, struct err *err)
{
	const json_t *item;
	size_t i;

	if (json_array_size(list) > MAX_ADDRESSES)
		return err_at(err, pointer, "%s may have at most %d members", what, MAX_ADDRESSES);
	json_array_foreach(list, i, item)
	{
		const char *text = json_string_value(item);

		if (!*text || json_string_length(item) != strlen(text) || strlen(text) > MAX_ADDRESS ||
			!is_printable(text))
			return err_at(err, pointer, "%s must each be one line of 1 to %d bytes", what, MAX_ADDRESS);
	}
	return 0;
}

static int read_lists(const struct request *req, struct run_create_params *order, struct err *err)
{
	const struct {
		const char *name, *pointer, *what;
		const json_t **list;
	} lists[] = {
		{"target-addrs", "/data/attributes/target-addrs", "Target addrs", &order->target_addrs},
		{"replace-addrs", "/data/attributes/replace-addrs", "Replace addrs", &order->replace_addrs},
		{"policy-paths", "/data/attributes/policy-paths", "Policy paths", &order->policy_paths},
		{"invoke-action-addrs", "/data/attributes/invoke-action-addrs", "Invoke action addrs",
			&order->invoke_action_addrs},
	};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (body_texts(req, lists[i].name, lists[i].list, err) < 0 ||
			list_check(*lists[i].list, lists[i].pointer, lists[i].what, err) < 0)
			return -1;
	return 0;
}

/* ---- variables ---- */

static bool variable_is_fine(const json_t *variable)
{
	const char *key = json_string_at(variable, "key"), *value = json_string_at(variable, "value");

	return key && value && *key && strlen(key) <= MAX_KEY && strlen(value) <= MAX_VALUE && is_printable(key) &&
		!strpbrk(key, " =\"$%{}");
}

static int read_variables(const struct request *req, struct run_create_params *order, struct err *err)
{
	static const char pointer[] = "/data/attributes/variables";
	const json_t *variables = json_at(req->body, "data.attributes.variables"), *variable;
	size_t i;

	if (!variables || json_is_null(variables))
		return 0;
	if (!json_is_array(variables) || json_array_size(variables) > MAX_ADDRESSES)
		return err_at(err, pointer, "Variables must be an array of at most %d {key, value}", MAX_ADDRESSES);
	json_array_foreach(variables, i, variable)
	{
		if (!variable_is_fine(variable))
			return err_at(err, pointer,
				"Variables must each have a key that is a name and a value that is a string");
	}
	order->variables = variables;
	return 0;
}

/* ---- texts ---- */

static int read_version(const struct request *req, struct run_create_params *order, struct err *err)
{
	if (body_text(req, "terraform-version", &order->terraform_version, err) < 0)
		return -1;
	return order->terraform_version ? engine_version_check(req, order->terraform_version, err) : 0;
}

static int read_texts(const struct request *req, struct run_create_params *order, struct err *err)
{
	const char *message = NULL;

	if (body_long_text(req, "message", &message, err) < 0)
		return -1;
	if (message)
		order->message = message;
	if (message && strlen(message) > MAX_MESSAGE)
		return err_at(
			err, "/data/attributes/message", "Message is too long (maximum is %d bytes)", MAX_MESSAGE);
	return read_version(req, order, err);
}

/* Only the CLI's cloud integration renders JSON lines. The older remote backend sends a version but no integration
 * header. */
static bool client_is_plain(const struct request *req)
{
	return http_header(req->http, "Terraform-Version") &&
		!text_equal(http_header(req->http, "X-Terraform-Integration"), "cloud");
}

static const char *source_of(const struct request *req, bool from_cli)
{
	if (from_cli)
		return "terraform+cloud";
	return req->bearer ? "tfe-api" : "tfe-ui";
}

int run_create_params_read(const struct request *req, struct run_create_params *ret_order, struct err *err)
{
	bool from_cli = http_header(req->http, "Terraform-Version");

	*ret_order = (struct run_create_params){
		.actor = req->actor.user.text,
		.source = source_of(req, from_cli),
		.message = from_cli ? "Queued manually using Terraform" : NULL,
		.plain_log = client_is_plain(req),
	};
	if (body_to_one(req, "configuration-version", "configuration-versions", &ret_order->configuration_version_id,
		    err) < 0 ||
		read_flags(req, ret_order, err) < 0 || read_texts(req, ret_order, err) < 0 ||
		read_lists(req, ret_order, err) < 0)
		return -1;
	return read_variables(req, ret_order, err);
}

int query_create_params_read(const struct request *req, struct run_create_params *ret_order, struct err *err)
{
	enum { MAX_SOURCE = 255 };

	*ret_order = (struct run_create_params){.actor = req->actor.user.text,
		.source = req->bearer ? "tfe-api" : "tfe-ui",
		.message = "Query",
		.plan_only = CHOICE_YES,
		.auto_apply = CHOICE_NO,
		.allow_config_generation = true,
		.query = true};
	if (body_to_one(req, "configuration-version", "configuration-versions", &ret_order->configuration_version_id,
		    err) < 0 ||
		body_text(req, "source", &ret_order->source, err) < 0 ||
		body_bool(req, "generate-config-out", &ret_order->allow_config_generation, err) < 0 ||
		read_version(req, ret_order, err) < 0)
		return -1;
	if (!ret_order->source || !*ret_order->source || strlen(ret_order->source) > MAX_SOURCE)
		return err_at(err, "/data/attributes/source", "Source must be a text of 1 to %d bytes", MAX_SOURCE);
	return read_variables(req, ret_order, err);
}

/* ---- test runs ---- */

/* A path below the configuration, as an argument of the engine. */
static int test_directory_check(const char *path, struct err *err)
{
	_cleanup_(freep) char *copy = mem_text(path);
	char *rest = copy, *part;
	bool leaves = *path == '/' || *path == '-';

	while ((part = strsep(&rest, "/")))
		leaves |= text_equal(part, "..");
	if (!*path || strlen(path) > MAX_ADDRESS || leaves || !is_printable(path))
		return err_at(err, "/data/attributes/test-directory",
			"Test directory must be a path in the configuration of 1 to %d bytes", MAX_ADDRESS);
	return 0;
}

static int test_options_read(const struct request *req, json_t **ret_options, struct err *err)
{
	enum { MAX_PARALLELISM = 256 };
	const char *directory = NULL;
	const json_t *filters = NULL;
	long long parallelism = 0;
	bool verbose = false;

	if (body_text(req, "test-directory", &directory, err) < 0 || body_bool(req, "verbose", &verbose, err) < 0 ||
		body_texts(req, "filters", &filters, err) < 0 || body_int(req, "parallelism", &parallelism, err) < 0 ||
		list_check(filters, "/data/attributes/filters", "Filters", err) < 0)
		return -1;
	if (directory && *directory && test_directory_check(directory, err) < 0)
		return -1;
	if (body_has(req, "parallelism") && (parallelism < 1 || parallelism > MAX_PARALLELISM))
		return err_at(err, "/data/attributes/parallelism", "Parallelism must be a number from 1 to %d",
			MAX_PARALLELISM);
	*ret_options = test_bed_options();
	json_object_set_new(*ret_options, "verbose", json_boolean(verbose));
	if (directory && *directory)
		json_object_set_new(*ret_options, "test-directory", json_string(directory));
	if (json_is_array(filters))
		json_object_set(*ret_options, "filters", (json_t *)filters);
	if (parallelism)
		json_object_set_new(*ret_options, "parallelism", json_integer(parallelism));
	return 0;
}

int test_run_create_params_read(
	const struct request *req, struct run_create_params *ret_order, json_t **ret_options, struct err *err)
{
	bool from_cli = http_header(req->http, "Terraform-Version");

	*ret_order = (struct run_create_params){.actor = req->actor.user.text,
		.source = from_cli    ? "terraform"
			: req->bearer ? "tfe-api"
				      : "tfe-ui",
		.message = from_cli ? "Queued manually using Terraform" : NULL,
		.plan_only = CHOICE_YES,
		.auto_apply = CHOICE_NO};
	if (body_to_one(req, "configuration-version", "configuration-versions", &ret_order->configuration_version_id,
		    err) < 0)
		return -1;
	if (!ret_order->configuration_version_id)
		return err_at(err, "/data/relationships/configuration-version", "Configuration version must be given");
	if (read_variables(req, ret_order, err) < 0 || test_options_read(req, ret_options, err) < 0)
		return -1;
	ret_order->test = *ret_options;
	return 0;
}
