/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/capabilities.h"

#include <string.h>

#include "common/base.h"

const char *const engine_terraform = "terraform", *const engine_tofu = "tofu";
const char *const capability_identity = "identity", *const capability_forward = "forward";

const char capability_refusal[] = "no ";

static const char engine_wanted[] = "engine "; /* a plan's needs, before the version */
static const char download[] = "download ";

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

bool needs_engine(const char *needs)
{
	const char *version;

	return text_starts(needs, engine_wanted) || engine_read(needs, &version);
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

/* Chooses among the installed engines: the newest that fits, or the first if any version fits. `engine`: only that
 * engine; may be NULL. */
static bool choose_present(
	const json_t *capabilities, const char *engine, const char *wanted, struct engine_choice *ret_choice)
{
	bool any = !*wanted || text_equal(wanted, "latest");
	struct version version, best = {.text = ""};
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)capabilities, i, item)
	{
		const char *text, *own = engine_read(text_or_empty(json_string_value(item)), &text);

		if (!own || (engine && own != engine) || version_parse(text, &version) < 0 ||
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
	const char *wanted = needs + strlen(engine_wanted), *engine = NULL;
	struct version version;

	*ret_choice = (struct engine_choice){.engine = NULL};
	if (!*needs)
		return true;
	if (!text_starts(needs, engine_wanted) && !(engine = engine_read(needs, &wanted)))
		return json_has_text(capabilities, needs);
	if (choose_present(capabilities, engine, wanted, ret_choice))
		return true;
	if (version_exact(wanted, &version) < 0)
		return false;
	if (!engine)
		engine = downloads_preferred(capabilities);
	if (!engine || !downloads(capabilities, engine))
		return false;
	choose(ret_choice, engine, &version);
	return true;
}

json_t *capabilities_allowed(const json_t *capabilities, const char *needs, const json_t *disabled)
{
	struct version exact;
	const char *version;
	json_t *item, *allowed;
	size_t i;

	if (!json_is_array(capabilities) || !json_array_size(disabled) || !text_starts(needs, engine_wanted) ||
		version_exact(needs + strlen(engine_wanted), &exact) == 0)
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
	if (!own || capabilities_meet(own, needs, ret_choice))
		return JOB_FITS;
	json_array_foreach((json_t *)others, i, other)
	{
		if (!json_is_array(other) || capabilities_meet(other, needs, &theirs))
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

void capabilities_refusal(const char *needs, const char *who, const json_t *engines, struct buf *out)
{
	const char *version, *engine = engine_read(needs, &version);

	if (engine)
		buf_printf(out, "This run was planned with %s %s, which %s. ", product_of(engine), version, who);
	else
		buf_printf(out, "The run's Terraform version is \"%s\", which %s. ",
			text_starts(needs, engine_wanted) ? needs + strlen(engine_wanted) : needs, who);
	buf_text(out, "There are: ");
	engines_name(engines, out);
	buf_text(out,
		engine ? ". Install that engine on a worker of the pool, or start a new run."
		       : ". Set another version in the workspace, or install that one on a worker of the pool.");
}
