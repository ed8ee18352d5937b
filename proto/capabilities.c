/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/capabilities.h"

#include <string.h>

#include "common/base.h"

const char *const engine_terraform = "terraform", *const engine_tofu = "tofu";
const char *const capability_identity = "identity", *const capability_forward = "forward",
		  *const capability_provider_sets = "provider-sets", *const capability_query = "query",
		  *const capability_test = "test";

const char capability_refusal[] = "no ";

static const char engine_wanted[] = "engine "; /* a plan's needs, before the version */
static const char download[] = "download ";

/* Jobs that stand in for a plan. An engine has their command since a version; "": it has none. Their needs are those of
 * a plan after the name of the command and a space. */
static const struct command_kind {
	const char *command;
	struct version terraform, tofu;
} command_kinds[] = {
	{"query", {.part = {1, 14, 0}, .text = "1.14.0-alpha"}, {.text = ""}},
	{"test", {.part = {1, 6, 0}, .text = "1.6.0-alpha"}, {.part = {1, 6, 0}, .text = "1.6.0-alpha"}},
};

/* The command of the needs. NULL: those of a plan or an apply, or of another stage. */
static const struct command_kind *command_read(const char *needs)
{
	for (size_t i = 0; i < ARRAY_LEN(command_kinds); i++) {
		size_t len = strlen(command_kinds[i].command);

		if (text_starts(needs, command_kinds[i].command) && needs[len] == ' ')
			return &command_kinds[i];
	}
	return NULL;
}

enum { MAX_ENGINES_NAMED = 12 };

/* The text after "WORD ", or NULL. */
static const char *after_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	return text_starts(text, word) && text[len] == ' ' ? text + len + 1 : NULL;
}

/* Returns the engine that a text begins with, and the rest of the text in *ret_rest; NULL if it is none. */
static const char *engine_read(const char *text, const char **ret_rest)
{
	*ret_rest = after_word(text, engine_terraform);
	if (*ret_rest)
		return engine_terraform;
	*ret_rest = after_word(text, engine_tofu);
	return *ret_rest ? engine_tofu : NULL;
}

/* What needs ask of an engine. */
struct engine_need {
	const char *engine;                 /* NULL: either */
	const char *version;                /* exact, or a constraint */
	const struct command_kind *command; /* NULL: plan or apply */
};

/* Returns false if the needs name no engine. */
static bool need_read(const char *needs, struct engine_need *ret_need)
{
	struct engine_need need = {.command = command_read(needs)};

	if (need.command)
		needs += strlen(need.command->command) + 1;
	if (text_starts(needs, engine_wanted))
		need.version = needs + strlen(engine_wanted);
	else if (!(need.engine = engine_read(needs, &need.version)))
		return false;
	*ret_need = need;
	return true;
}

bool needs_engine(const char *needs)
{
	struct engine_need need;

	return need_read(needs, &need);
}

/* Whether the engine can do what the need asks for, apart from the version that it names. */
static bool engine_serves(const char *engine, const struct version *version, const struct engine_need *need)
{
	const struct version *first;

	if (need->engine && need->engine != engine)
		return false;
	if (!need->command)
		return true;
	first = engine == engine_terraform ? &need->command->terraform : &need->command->tofu;
	return *first->text && version_compare(version, first) >= 0;
}

bool version_has_query(const char *wanted)
{
	const struct engine_need need = {.command = &command_kinds[0]};
	struct version version;

	return version_exact(wanted, &version) < 0 || engine_serves(engine_terraform, &version, &need);
}

bool capabilities_engine(const json_t *capabilities)
{
	const json_t *item;
	const char *rest;
	size_t i;

	json_array_foreach((json_t *)capabilities, i, item)
	{
		const char *text = text_or_empty(json_string_value(item));

		if (text_starts(text, download) || engine_read(text, &rest))
			return true;
	}
	return false;
}

bool capabilities_refuse(const json_t *capabilities, const char *stage)
{
	_cleanup_(freep) char *name = mem_printf("%s%s", capability_refusal, stage);

	return json_has_text(capabilities, name);
}

static bool downloads(const json_t *capabilities, const char *engine)
{
	_cleanup_(freep) char *name = mem_printf("%s%s", download, engine);

	return json_has_text(capabilities, name);
}

/* Returns the engine to download: that of the first installed engine that can also be downloaded, else terraform before
 * tofu. NULL: the worker downloads none. */
static const char *downloads_preferred(const json_t *capabilities)
{
	const json_t *item;
	const char *rest, *engine;
	size_t i;

	json_array_foreach((json_t *)capabilities, i, item)
	{
		engine = engine_read(text_or_empty(json_string_value(item)), &rest);
		if (engine && downloads(capabilities, engine))
			return engine;
	}
	if (downloads(capabilities, engine_terraform))
		return engine_terraform;
	return downloads(capabilities, engine_tofu) ? engine_tofu : NULL;
}

static void choose(struct engine_choice *choice, const char *engine, const struct version *version)
{
	choice->engine = engine;
	text_copy(choice->version, sizeof(choice->version), version->text);
}

/* Chooses among the installed engines: the newest that fits, or the first if any version fits. */
static bool choose_present(const json_t *capabilities, const struct engine_need *need, struct engine_choice *ret_choice)
{
	const char *wanted = need->version;
	bool any = !*wanted || text_equal(wanted, "latest");
	struct version version, best = {.text = ""};
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)capabilities, i, item)
	{
		const char *text, *own = engine_read(text_or_empty(json_string_value(item)), &text);

		if (!own || version_parse(text, &version) < 0 || !engine_serves(own, &version, need) ||
			!version_fits(&version, wanted, NULL) ||
			(ret_choice->engine && (any || version_compare(&version, &best) <= 0)))
			continue;
		best = version;
		choose(ret_choice, own, &version);
	}
	return ret_choice->engine;
}

bool capabilities_meet(const json_t *capabilities, const char *needs, struct engine_choice *ret_choice)
{
	struct engine_need need;
	struct version version;
	const char *engine;

	*ret_choice = (struct engine_choice){.engine = NULL};
	if (!json_is_array(capabilities))
		return !command_read(needs);
	if (!*needs)
		return true;
	if (!need_read(needs, &need))
		return json_has_text(capabilities, needs);
	if (need.command && !json_has_text(capabilities, need.command->command))
		return false;
	if (choose_present(capabilities, &need, ret_choice))
		return true;
	if (version_exact(need.version, &version) < 0)
		return false;
	engine = need.engine ? need.engine : downloads_preferred(capabilities);
	if (need.command && !*need.command->tofu.text)
		engine = engine_terraform;
	if (!engine || !downloads(capabilities, engine) || !engine_serves(engine, &version, &need))
		return false;
	choose(ret_choice, engine, &version);
	return true;
}

json_t *capabilities_allowed(const json_t *capabilities, const char *needs, const json_t *disabled)
{
	struct engine_need need;
	struct version exact;
	const char *version;
	json_t *item, *allowed;
	size_t i;

	if (!json_is_array(capabilities) || !json_array_size(disabled) || !need_read(needs, &need) || need.engine ||
		version_exact(need.version, &exact) == 0)
		return json_incref((json_t *)capabilities);
	allowed = json_array();
	json_array_foreach((json_t *)capabilities, i, item)
	{
		if (!engine_read(text_or_empty(json_string_value(item)), &version) || !json_has_text(disabled, version))
			json_array_append(allowed, item);
	}
	return allowed;
}

enum job_fit capabilities_judge(
	const json_t *own, const json_t *others, const char *needs, struct engine_choice *ret_choice)
{
	struct engine_choice theirs;
	const json_t *other;
	size_t i;

	*ret_choice = (struct engine_choice){.engine = NULL};
	if (capabilities_meet(own, needs, ret_choice))
		return JOB_FITS;
	json_array_foreach((json_t *)others, i, other)
	{
		if (capabilities_meet(other, needs, &theirs))
			return JOB_WAITS;
	}
	if (!needs_engine(needs))
		return JOB_FITS;
	return capabilities_engine(own) ? JOB_REFUSED : JOB_WAITS;
}

/* ---- texts for users ---- */

static const char *product_of(const char *engine)
{
	return engine == engine_tofu ? "OpenTofu" : "Terraform";
}

static void engines_name(const json_t *engines, struct buf *out)
{
	size_t i, named = 0;
	const json_t *item;

	json_array_foreach((json_t *)engines, i, item)
	{
		const char *version, *engine = engine_read(text_or_empty(json_string_value(item)), &version);

		if (!engine || named == MAX_ENGINES_NAMED)
			continue;
		buf_printf(out, "%s%s %.40s", named++ ? ", " : "", product_of(engine), version);
	}
	if (!named)
		buf_text(out, "none");
}

/* Returns the end of the message, which follows the list of engines. */
static const char *command_refusal(
	const struct engine_need *need, const char *who, const json_t *engines, struct buf *out)
{
	bool query = text_equal(need->command->command, capability_query);

	if (!json_has_text(engines, need->command->command))
		buf_printf(out, "No worker that takes this job can make %s: upgrade the workers. ",
			query ? "queries" : "module tests");
	else if (need->engine)
		buf_printf(out, "This %s began with %s %s, which %s. ", query ? "query" : "test run",
			product_of(need->engine), need->version, who);
	else if (query)
		buf_printf(out,
			"A query needs Terraform 1.14 or later, and OpenTofu has no queries. The query's Terraform "
			"version is \"%s\", and %s such an engine. ",
			need->version, who);
	else
		buf_printf(out, "A test run needs Terraform or OpenTofu 1.6 or later, which %s. ", who);
	return query ? ". Install one on a worker of the pool, or set another version in the workspace."
		     : ". Install one on a worker of the pool.";
}

void capabilities_refusal(const char *needs, const char *who, const json_t *engines, struct buf *out)
{
	struct engine_need need = {.version = needs};
	const char *engine, *end;

	need_read(needs, &need);
	engine = need.engine;
	if (need.command)
		end = command_refusal(&need, who, engines, out);
	else if (engine) {
		buf_printf(out, "This run was planned with %s %s, which %s. ", product_of(engine), need.version, who);
		end = ". Install that engine on a worker of the pool, or start a new run.";
	} else {
		buf_printf(out, "The run's Terraform version is \"%s\", which %s. ", need.version, who);
		end = ". Set another version in the workspace, or install that one on a worker of the pool.";
	}
	buf_text(out, "There are: ");
	engines_name(engines, out);
	buf_text(out, end);
}
