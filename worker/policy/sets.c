/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/sets.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/crypto.h"
#include "common/err.h"
#include "worker/exec/beneath.h"
#include "worker/packages/archive.h"
#include "common/hcl/blocks.h"
#include "worker/policy/evaluator.h"

static const struct archive_bounds bounds = {.files = 20 * 1000, .bytes = (size_t)256 << 20};

enum { ARCHIVE_LIMIT = 64 << 20, CONFIGURATION_LIMIT = 4 << 20, MAX_NAME = 100 };

/* ---- the document ---- */

static void set_read(const json_t *source, size_t number, struct policy_set *set)
{
	const char *path = text_or_empty(json_string_at(source, "policies-path"));
	_cleanup_(freep) char *below = archive_path(path);

	set->source = source;
	set->id = text_or_empty(json_string_at(source, "id"));
	set->name = text_or_empty(json_string_at(source, "name"));
	set->tool_version = text_or_empty(json_string_at(source, "tool-version"));
	set->tool_archs = json_at(source, "tool-archs");
	set->parameters = json_at(source, "parameters");
	set->overridable = json_bool_at(source, "overridable", false);
	set->archived = json_is_string(json_at(source, "archive"));
	set->folder = mem_printf("sets/%zu", number);
	set->base = mem_printf("policies%s%s", below && *below ? "/" : "", below ? below : "");
	set->outcomes = json_array();
	if (*path && !below)
		snprintf(set->error, sizeof(set->error), "its policies path \"%.200s\" leaves the archive", path);
}

int policy_sets_read(json_t *document, struct policy_sets *ret_sets, struct err *err)
{
	const json_t *list = json_at(document, "sets"), *item;
	struct policy_sets sets = {.source = document, .run = json_at(document, "run")};
	size_t i;

	if (!json_is_array(list))
		return err_set(err, ERR_MALFORMED, "the list of policies has no sets");
	sets.sets = mem_new(json_array_size(list) + 1, sizeof(*sets.sets));
	json_array_foreach(list, i, item) set_read(item, i, &sets.sets[sets.count++]);
	json_incref(document);
	*ret_sets = sets;
	return 0;
}

void policy_sets_release(struct policy_sets *sets)
{
	for (size_t i = 0; i < sets->count; i++) {
		struct policy_set *set = &sets->sets[i];

		for (size_t n = 0; n < set->count; n++)
			free(set->policies[n].place);
		free(set->policies);
		free(set->program);
		free(set->said);
		free(set->folder);
		free(set->base);
		free(set->text);
		json_decref(set->blocks);
		json_decref(set->outcomes);
	}
	free(sets->sets);
	json_decref(sets->source);
	*sets = (struct policy_sets){.source = NULL};
}

/* ---- a set's policies ---- */

static bool level_known(const struct evaluator *evaluator, const char *level)
{
	for (const char *const *at = evaluator->levels; *at; at++)
		if (text_equal(*at, level))
			return true;
	return false;
}

/* Adds a policy. A missing part is an error of the whole set, because the level at which the policy would fail is
 * unknown. */
static void policy_add(const struct evaluator *evaluator, struct policy_set *set, const struct policy *policy)
{
	if (!level_known(evaluator, policy->enforcement))
		snprintf(set->error, sizeof(set->error),
			"policy \"%.100s\" has the enforcement level \"%.60s\", which is none", policy->name,
			policy->enforcement);
	else if (evaluator->needs_query && (!policy->query || !*policy->query))
		snprintf(set->error, sizeof(set->error), "policy \"%.100s\" has no query", policy->name);
	set->policies = mem_resize(set->policies, set->count + 1, sizeof(*set->policies));
	set->policies[set->count++] = *policy;
}

static bool name_fits(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-", name[i]))
			return false;
	return len > 0 && len <= MAX_NAME;
}

/* Writes each single policy to a file or folder of its own. So one that does not compile, or that has another's package
 * name, does not affect the others. */
static int singles_write(
	int root, const struct evaluator *evaluator, struct policy_set *set, const json_t *list, struct err *err)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *source = text_or_empty(json_string_at(item, "source"));
		struct policy policy = {.name = text_or_empty(json_string_at(item, "name")),
			.query = json_string_at(item, "query"),
			.enforcement = text_or_empty(json_string_at(item, "enforcement")),
			.description = text_or_empty(json_string_at(item, "description"))};
		_cleanup_(freep) char *number = mem_printf("policy-%zu", i);
		_cleanup_(freep) char *below =
			mem_printf("%s%s", name_fits(policy.name) ? policy.name : number, evaluator->single);
		_cleanup_(freep) char *path = mem_printf("%s/%s/%s", set->folder, set->base, below);

		policy.place = evaluator->needs_query
			? mem_printf("%s/%s", set->base, name_fits(policy.name) ? policy.name : number)
			: mem_printf("./%s", below);
		policy_add(evaluator, set, &policy);
		if (beneath_write(root, path, 0644, text_bytes(source), err) < 0)
			return -1;
	}
	return 0;
}

/* ---- archives ---- */

static int archive_open(const char *base64, struct err *err)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(ARCHIVE_LIMIT);
	int fd;

	if (crypto_base64_decode(base64, &bytes) < 0)
		return err_set(err, ERR_INVALID, "its archive can't be read");
	fd = memfd_create("archive", MFD_CLOEXEC);
	if (fd < 0 || write_fully(fd, bytes.data, bytes.len) < 0) {
		closep(&fd);
		return err_errno(err, "the archive's file");
	}
	return fd;
}

/* Reads "policies.hcl" or its JSON form. ERR_NOT_FOUND if there is neither. */
static int configuration_read(int root, const struct evaluator *evaluator, struct policy_set *set, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(CONFIGURATION_LIMIT);
	_cleanup_(freep) char *path = mem_printf("%s/%s/%s", set->folder, set->base, evaluator->configuration);
	_cleanup_(freep) char *json = mem_printf("%.*sjson", (int)strlen(path) - 3, path);
	int status = beneath_read(root, path, &text, err);

	if (status == 0) {
		status = hcl_blocks(buf_str(&text), text.len, &set->blocks, err);
		set->text = buf_take(&text);
		return status < 0 ? err_context(err, "%s can't be read", evaluator->configuration) : 0;
	}
	if (err->kind != ERR_NOT_FOUND || !evaluator->json_too)
		return -1;
	*err = (struct err)ERR_INIT;
	if (beneath_read(root, json, &text, err) < 0)
		return -1;
	if (hcl_blocks_json(buf_str(&text), text.len, &set->blocks, err) < 0)
		return err_context(err, "%s can't be read", strrchr(json, '/') + 1);
	return 0;
}

/* A level that can't be read here must not count as the default. */
static const char *level_of(const json_t *attributes)
{
	const json_t *level = json_object_get(attributes, "enforcement_level");

	if (!level)
		return "advisory";
	return json_is_string(level) ? json_string_value(level) : "(no plain text)";
}

static void policies_from_blocks(const struct evaluator *evaluator, struct policy_set *set)
{
	const json_t *block;
	size_t i;

	json_array_foreach(set->blocks, i, block)
	{
		const json_t *attributes = json_object_get(block, "attributes");
		const char *level = level_of(attributes);
		struct policy policy = {.name = text_or_empty(json_string_at(block, "label")),
			.query = json_string_at(attributes, "query"),
			.enforcement = level,
			.description = text_or_empty(json_string_at(attributes, "description"))};

		if (!text_equal(json_string_at(block, "type"), "policy"))
			continue;
		policy.place = evaluator->place(set, policy.name, json_string_at(attributes, "source"));
		policy_add(evaluator, set, &policy);
	}
	if (set->count == 0 && !*set->error)
		snprintf(set->error, sizeof(set->error), "%s has no policy in it", evaluator->configuration);
}

static int archive_lay_out(
	int root, const struct evaluator *evaluator, struct policy_set *set, const char *base64, struct err *err)
{
	const struct archive_spec spec = {.bounds = bounds};
	_cleanup_(freep) char *path = mem_printf("%s/policies", set->folder);
	_cleanup_(closep) int archive = archive_open(base64, err);
	_cleanup_(closep) int folder = -1;

	if (archive < 0)
		return -1;
	folder = beneath_open(root, path, O_RDONLY | O_DIRECTORY, 0);
	if (folder < 0)
		return err_errno(err, path);
	if (archive_unpack(archive, folder, &spec, err) < 0)
		return err_context(err, "its archive can't be unpacked");
	if (configuration_read(root, evaluator, set, err) < 0) {
		if (err->kind != ERR_NOT_FOUND)
			return -1;
		return err_set(err, ERR_INVALID, "its archive has no %s in %s", evaluator->configuration,
			text_equal(set->base, "policies") ? "its top folder" : set->base + strlen("policies/"));
	}
	policies_from_blocks(evaluator, set);
	return 0;
}

int policy_set_unpack(int root, const struct evaluator *evaluator, struct policy_set *set, struct err *err)
{
	_cleanup_(freep) char *path = mem_printf("%s/policies", set->folder);
	const json_t *source = set->source;
	struct err own = ERR_INIT;

	if (beneath_mkdirs(root, path) < 0)
		return err_errno(err, path);
	if (*set->error)
		return 0;
	if (!set->archived)
		return singles_write(root, evaluator, set, json_at(source, "policies"), err);
	if (archive_lay_out(root, evaluator, set, json_string_at(source, "archive"), &own) == 0)
		return 0;
	if (own.kind == ERR_INTERNAL) {
		*err = own;
		return -1;
	}
	text_copy(set->error, sizeof(set->error), own.message);
	return 0;
}

/* ---- parameters ---- */

json_t *parameter_value(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	if (json_is_number(value) || json_is_array(value) || json_is_object(value))
		return value;
	json_decref(value);
	return json_string(text);
}
