/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/engine/variables.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- lists of texts ---- */

static void texts_take(struct texts *texts, char *text)
{
	texts->items = mem_resize(texts->items, texts->count + 2, sizeof(*texts->items));
	texts->items[texts->count++] = text;
	texts->items[texts->count] = NULL;
}

void texts_add(struct texts *texts, const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort(); /* out of memory, handled as in common/base.h */
	va_end(args);
	texts_take(texts, text);
}

void texts_add_list(struct texts *texts, const char *const *items)
{
	for (; items && *items; items++)
		texts_take(texts, mem_text(*items));
}

void texts_set_env(struct texts *texts, const char *name, const char *value)
{
	size_t len = strlen(name);
	char *text = mem_printf("%s=%s", name, value);

	for (size_t i = 0; i < texts->count; i++) {
		if (strncmp(texts->items[i], name, len) == 0 && texts->items[i][len] == '=') {
			free(texts->items[i]);
			texts->items[i] = text;
			return;
		}
	}
	texts_take(texts, text);
}

void texts_release(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
	*texts = (struct texts){.items = NULL};
}

/* ---- the .tfvars file ---- */

static int quote_char(struct buf *out, const char *at)
{
	switch (*at) {
	case '"':
		return buf_text(out, "\\\"");
	case '\\':
		return buf_text(out, "\\\\");
	case '\n':
		return buf_text(out, "\\n");
	case '\r':
		return buf_text(out, "\\r");
	case '\t':
		return buf_text(out, "\\t");
	case '$':
	case '%':
		return buf_printf(out, at[1] == '{' ? "%c%c" : "%c", *at, *at);
	}
	if ((unsigned char)*at < 0x20 || *at == 0x7f)
		return buf_printf(out, "\\u%04x", (unsigned char)*at);
	return buf_append(out, at, 1);
}

int hcl_quote(struct buf *out, const char *text)
{
	if (buf_text(out, "\"") < 0)
		return -1;
	for (; *text; text++)
		if (quote_char(out, text) < 0)
			return -1;
	return buf_text(out, "\"");
}

/* The value of a name with the highest precedence, or NULL if `first` is not the first place of the name. */
static const struct variable *strongest(const struct assignment *assignment, size_t first)
{
	const struct variable *all = assignment->variables, *found = &all[first];

	for (size_t i = 0; i < assignment->variable_count; i++) {
		if (all[i].env || !text_equal(all[i].key, all[first].key))
			continue;
		if (i < first)
			return NULL;
		found = &all[i];
	}
	return found;
}

static int variable_line(struct buf *out, const struct variable *variable)
{
	if (buf_printf(out, "%s = ", variable->key) < 0)
		return -1;
	if ((variable->hcl ? buf_text(out, variable->value) : hcl_quote(out, variable->value)) < 0)
		return -1;
	return buf_text(out, "\n");
}

static bool is_null(const struct variable *variable)
{
	static const char blanks[] = " \t\r\n", null_word[] = "null";
	const char *at = variable->value + strspn(variable->value, blanks);

	return variable->hcl && text_starts(at, null_word) &&
		at[strlen(null_word) + strspn(at + strlen(null_word), blanks)] == '\0';
}

int variables_file(const struct assignment *assignment, struct buf *out)
{
	for (size_t i = 0; i < assignment->variable_count; i++) {
		const struct variable *variable;

		if (assignment->variables[i].env || !(variable = strongest(assignment, i)))
			continue;
		if (variable_line(out, variable) < 0)
			return -1;
	}
	return 0;
}

int variables_file_of(const struct assignment *assignment, const json_t *names, struct buf *out)
{
	for (size_t i = 0; i < assignment->variable_count; i++) {
		const struct variable *variable;

		if (assignment->variables[i].env || !json_object_get(names, assignment->variables[i].key) ||
			!(variable = strongest(assignment, i)) || is_null(variable))
			continue;
		if (variable_line(out, variable) < 0)
			return -1;
	}
	return 0;
}

/* ---- the environment ---- */

const char variables_token[] = "TF_TOKEN_";

static const char *const reserved[] = {
	"CHECKPOINT_DISABLE",
	"HOME",
	"TERRAFORM_CONFIG",
	"TF_CLI_ARGS",
	"TF_CLI_ARGS_get",
	"TF_CLI_ARGS_init",
	"TF_CLI_ARGS_show",
	"TF_CLI_ARGS_providers",
	"TF_CLI_ARGS_providers_schema",
	"TF_CLI_CONFIG_FILE",
	"TF_DATA_DIR",
	"TF_INPUT",
	"TF_IN_AUTOMATION",
	"TF_PLUGIN_CACHE_DIR",
	"TF_REATTACH_PROVIDERS",
	"TF_STATE_PERSIST_INTERVAL",
	"TF_WORKSPACE",
};

bool variables_reserved(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
		if (text_equal(name, reserved[i]))
			return true;
	return false;
}

bool variables_name_valid(const char *name)
{
	if (!*name || isdigit((unsigned char)*name))
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' && *name != '-')
			return false;
	return true;
}

static void add_chosen(
	const struct assignment *assignment, bool (*chosen)(const struct variable *variable), struct texts *env)
{
	for (size_t i = 0; i < assignment->variable_count; i++) {
		const struct variable *variable = &assignment->variables[i];

		if (variable->env && variables_name_valid(variable->key) && chosen(variable))
			texts_set_env(env, variable->key, variable->value);
	}
}

static bool is_free(const struct variable *variable)
{
	return !variables_reserved(variable->key);
}

static bool is_token(const struct variable *variable)
{
	return text_starts(variable->key, variables_token);
}

static bool is_identity(const struct variable *variable)
{
	return variable->identity;
}

void variables_environment(const struct assignment *assignment, struct texts *env)
{
	add_chosen(assignment, is_free, env);
}

void variables_tokens(const struct assignment *assignment, struct texts *env)
{
	add_chosen(assignment, is_token, env);
}

void variables_identity(const struct assignment *assignment, struct texts *env)
{
	add_chosen(assignment, is_identity, env);
}

static const char *env_value(const struct texts *env, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < env->count; i++)
		if (strncmp(env->items[i], name, len) == 0 && env->items[i][len] == '=')
			return env->items[i] + len + 1;
	return NULL;
}

bool variables_move_state(const struct texts *env)
{
	return strstr(text_or_empty(env_value(env, "TF_CLI_ARGS_apply")), "-state") != NULL;
}

/* Adds a setting after those that the job's variables define. If the job's count is no number, git fails, as it does
 * elsewhere. */
static void add_git_setting(struct texts *env, const char *key, const char *value)
{
	enum { MAX_PAIRS = 1000 };
	const char *count = env_value(env, "GIT_CONFIG_COUNT");
	char *end = NULL;
	long pairs = count ? strtol(count, &end, 10) : 0;
	_cleanup_(freep) char *key_name = mem_printf("GIT_CONFIG_KEY_%ld", pairs);
	_cleanup_(freep) char *value_name = mem_printf("GIT_CONFIG_VALUE_%ld", pairs);
	_cleanup_(freep) char *more = mem_printf("%ld", pairs + 1);

	if (pairs < 0 || pairs > MAX_PAIRS || (count && (!*count || *end)))
		return;
	texts_set_env(env, key_name, key);
	texts_set_env(env, value_name, value);
	texts_set_env(env, "GIT_CONFIG_COUNT", more);
}

void variables_git(const char *root, const char *folder, struct texts *env)
{
	_cleanup_(freep) char *ceilings = mem_printf("%s:%s", root, folder);
	const char *const defaults[][2] = {{"GIT_CONFIG_NOSYSTEM", "1"}, {"GIT_CONFIG_GLOBAL", "/dev/null"},
		{"GIT_CEILING_DIRECTORIES", ceilings}};

	for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
		if (!env_value(env, defaults[i][0]))
			texts_set_env(env, defaults[i][0], defaults[i][1]);
	add_git_setting(env, "safe.bareRepository", "explicit");
}
