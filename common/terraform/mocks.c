/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/mocks.h"

#include <string.h>

#include "common/terraform/import_values.h"
#include "common/terraform/literal.h"

/* An instance key may contain any text, even brackets. Of each piece only the text after its last ']' is kept. */
static const char strip_index[] = "import \"strings\"\n\n"
				  "strip_index = func(addr) {\n"
				  "\tpieces = strings.split(addr, \"[\")\n"
				  "\tstripped = pieces[0]\n"
				  "\tfor pieces as i, piece {\n"
				  "\t\ttails = strings.split(piece, \"]\")\n"
				  "\t\tif i > 0 and length(tails) > 1 {\n"
				  "\t\t\tstripped = stripped + tails[length(tails) - 1]\n"
				  "\t\t}\n"
				  "\t}\n"
				  "\treturn stripped\n"
				  "}\n\n";

/* ---- the run ---- */

/* The keys of `variables` are the users' names, which may have a '-'. */
static json_t *renamed(const json_t *value)
{
	json_t *copy, *member;
	const char *key;

	if (!json_is_object(value))
		return json_deep_copy(value);
	copy = json_object();
	json_object_foreach((json_t *)value, key, member)
	{
		_cleanup_(freep) char *name = mem_text(key);

		for (char *at = name; *at; at++)
			if (*at == '-')
				*at = '_';
		json_object_set_new(
			copy, name, text_equal(key, "variables") ? json_deep_copy(member) : renamed(member));
	}
	return copy;
}

json_t *policy_run(const json_t *run)
{
	json_t *told = json_is_object(run) ? renamed(run) : json_object();

	if (json_is_null(json_object_get(told, "cost_estimate")))
		json_object_del(told, "cost_estimate");
	return told;
}

/* ---- the imports ---- */

const struct mock mocks[] = {
	{"tfplan/v2", "mock-tfplan-v2.sentinel", SHAPE_TFPLAN, NULL},
	{"tfconfig/v2", "mock-tfconfig-v2.sentinel", SHAPE_TFCONFIG, strip_index},
	{"tfstate/v2", "mock-tfstate-v2.sentinel", SHAPE_TFSTATE, NULL},
	{"tfrun", "mock-tfrun.sentinel", SHAPE_NONE, NULL},
};
const size_t mock_count = ARRAY_LEN(mocks);

json_t *mock_values(const struct mock *mock, const json_t *plan, const json_t *run)
{
	return mock->shape == SHAPE_NONE ? json_incref((json_t *)run) : import_values(mock->shape, plan);
}

int mock_write(const struct mock *mock, const json_t *plan, const json_t *run, struct buf *out)
{
	json_auto_t *values = mock_values(mock, plan, run);
	const char *name;
	json_t *value;

	if (mock->functions && buf_text(out, mock->functions) < 0)
		return -1;
	json_object_foreach(values, name, value)
	{
		if (buf_printf(out, "%s = ", name) < 0 || literal_write(out, value, LITERAL_SENTINEL) < 0 ||
			buf_text(out, "\n\n") < 0)
			return -1;
	}
	return 0;
}
