/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/evaluator.h"
#include "worker/policy/sets.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/engine/variables.h"
#include "worker/exec/beneath.h"
#include "worker/policy/opa_answer.h"
#include "worker/policy/opa_network.h"
#include "worker/policy/report.h"

#define INPUT        "input.json"
#define CAPABILITIES "capabilities.json"

/* The bundle's folder: the archive's, or that of the single policy. */
static char *place(const struct policy_set *set, const char *name, const char *source)
{
	(void)name;
	(void)source;
	return mem_text(set->base);
}

/* ---- shared data ---- */

/* Copies the plan into the input as text, because parsing a large one here is not worthwhile. */
static int share(const struct shared *shared, struct err *err)
{
	_cleanup_(freep) char *run = json_text(shared->run);
	_cleanup_(freep) char *tail = mem_printf(",\"run\":%s}", run);
	_cleanup_(closep) int fd = shared_create(shared, INPUT, err);

	if (fd < 0)
		return -1;
	if (write_fully(fd, "{\"plan\":", 8) < 0)
		return err_errno(err, INPUT);
	if (shared_copy_plan(shared, fd, err) < 0)
		return -1;
	return write_fully(fd, tail, strlen(tail)) < 0 ? err_errno(err, INPUT) : 0;
}

/* ---- a set ---- */

/* Writes the set's parameters into a file of the bundle, because the bundle owns all of `data`. */
static int write_parameters(
	const struct shared *shared, const struct policy_set *set, const char *bundle, struct err *err)
{
	_cleanup_(freep) char *path = mem_printf("%s/%s/parameters/data.json", set->folder, bundle);
	_cleanup_(closep) int there = beneath_open(shared->root, path, O_RDONLY, 0);
	json_auto_t *values = json_object();
	_cleanup_(freep) char *text = NULL;
	const json_t *parameter;
	size_t i;

	json_array_foreach(set->parameters, i, parameter)
	{
		const char *value = text_or_empty(json_string_at(parameter, "value"));

		json_object_set_new(values, text_or_empty(json_string_at(parameter, "key")), parameter_value(value));
	}
	if (json_object_size(values) == 0)
		return 0;
	if (there >= 0)
		return err_set(
			err, ERR_INVALID, "it has parameters, and a parameters/data.json of its own in their place");
	text = json_text(values);
	return beneath_write(shared->root, path, 0644, text_bytes(text), err);
}

static int lay_out(const struct shared *shared, struct policy_set *set, struct err *err)
{
	if (shared_link(shared, set, INPUT, INPUT, err) < 0)
		return -1;
	set->limited = shared->offline && opa_wants_network(shared->root, set->folder);
	if (set->archived)
		return write_parameters(shared, set, set->base, err);
	for (size_t i = 0; i < set->count; i++)
		if (write_parameters(shared, set, set->policies[i].place, err) < 0)
			return -1;
	return 0;
}

static void ask(struct texts *args)
{
	TEXTS_ADD(args, "capabilities", "--current");
}

static int limit(const struct shared *shared, const struct policy_set *set, struct err *err)
{
	_cleanup_(freep) char *path = mem_printf("%s/" CAPABILITIES, set->folder);
	_cleanup_(freep) char *text = opa_capabilities_offline(set->said, err);

	return text ? beneath_write(shared->root, path, 0644, text_bytes(text), err) : -1;
}

/* ---- a policy ---- */

static bool is_old(const struct policy_set *set)
{
	return set->old || text_starts(set->tool_version, "0.");
}

static const char *arguments(const struct evaluation *evaluation, struct texts *args)
{
	const struct policy_set *set = evaluation->set;
	const struct policy *policy = evaluation->policy;

	TEXTS_ADD(args, "eval", "--format=json");
	if (is_old(set) && !set->early)
		texts_add(args, "--v0-compatible");
	texts_add(args, "--bundle=%s", policy->place);
	texts_add(args, "--input=" INPUT);
	if (set->limited)
		texts_add(args, "--capabilities=" CAPABILITIES);
	TEXTS_ADD(args, "--", policy->query);
	return "";
}

/* Most existing policies were written before OPA 1 changed the language. If a set does not state its version, both
 * are tried. If neither parses, the error has both messages. */
static bool try_old(struct policy_set *set, const struct evaluated *evaluated)
{
	_cleanup_(judgement_release) struct judgement judgement = {.says = NULL};

	if (is_old(set) || set->early || text_starts(set->tool_version, "1.") || !opa_answer_unparsed(evaluated))
		return false;
	opa_answer_read(evaluated, &judgement);
	text_copy(set->unparsed, sizeof(set->unparsed), judgement.reason);
	set->old = true;
	return true;
}

static void tell_both(const struct policy_set *set, struct judgement *judgement)
{
	_cleanup_(freep) char *both =
		mem_printf("As OPA 1: %.400s. As OPA 0: %.400s", set->unparsed, judgement->reason);

	text_copy(judgement->reason, sizeof(judgement->reason), both);
}

static void judge(struct policy_set *set, const struct policy *policy, const struct evaluated *evaluated,
	struct judgement *ret_judgement)
{
	json_t *printed;

	(void)policy;
	if (try_old(set, evaluated)) {
		ret_judgement->verdict = VERDICT_AGAIN;
		return;
	}
	opa_answer_read(evaluated, ret_judgement);
	if (set->old && opa_answer_unparsed(evaluated))
		tell_both(set, ret_judgement);
	printed = text_trimmed(evaluated->errors);
	if (printed)
		json_array_append_new(ret_judgement->says, printed);
	if (!set->archived)
		set->old = false;
}

const struct evaluator evaluator_opa = {
	.name = "opa",
	.configuration = "policies.hcl",
	.json_too = true,
	.single = "/policy.rego",
	.max_out = (size_t)16 << 20,
	.needs_query = true,
	.levels = (const char *const[]){"advisory", "mandatory", NULL},
	.place = place,
	.share = share,
	.lay_out = lay_out,
	.ask = ask,
	.limit = limit,
	.arguments = arguments,
	.judge = judge,
};
