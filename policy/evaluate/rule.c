/* SPDX-License-Identifier: MPL-2.0 */
/* Rules: evaluated at first use, once, in the scope that defines them. */
#include "policy/evaluate/activation.h"

struct value rule_new(struct activation *activation, const struct node *node, struct word name)
{
	struct rule *rule = run_alloc(activation->run, 1, sizeof(*rule));

	*rule = (struct rule){.node = node, .name = name, .unit = activation->unit, .frame = activation->frame};
	return (struct value){.type = VALUE_RULE, .rule = rule};
}

/* True if the rule has no condition or its condition is true. Else *ret_value is the rule's value. */
static bool applies(struct activation *activation, const struct rule_tree *rule, struct value *ret_value)
{
	struct value when;

	if (!rule->when)
		return true;
	when = evaluate(activation, rule->when);
	if (when.type == VALUE_BOOL && when.truth)
		return true;
	if (when.type != VALUE_BOOL && when.type != VALUE_UNDEFINED) {
		activation_at(activation, rule->when);
		run_fail(activation->run, "the condition of a rule is a bool, not %s", value_type_name(when));
	}
	*ret_value = when.type == VALUE_BOOL ? value_bool(true) : when;
	return false;
}

static struct value evaluate_body(struct activation *activation, const struct rule *rule)
{
	struct value value;

	if (!applies(activation, &rule->node->rule, &value))
		return value;
	value = evaluate(activation, rule->node->rule.body);
	if (value.type != VALUE_NULL && value.type != VALUE_FUNCTION)
		return value;
	activation_at(activation, rule->node);
	run_fail(activation->run, "a rule's value can't be %s", value_type_name(value));
}

static struct value evaluate_once(struct run *run, struct rule *rule)
{
	struct activation activation = {.run = run, .unit = rule->unit, .frame = rule->frame};
	struct place user = run->at;

	run_enter(run);
	rule->state = RULE_FORCED;
	rule->value = evaluate_body(&activation, rule);
	rule->state = RULE_DONE;
	run_leave(run);
	run->at = user;
	return rule->value;
}

struct value rule_force(struct run *run, struct rule *rule)
{
	if (rule->state == RULE_DONE)
		return rule->value;
	if (rule->state == RULE_NEW)
		return evaluate_once(run, rule);
	run_fail_at(run, (struct place){.source = rule->unit->tree->source, .offset = rule->node->offset},
		"the rule \"%.*s\" needs its own value", (int)rule->name.len, rule->name.len ? rule->name.bytes : "");
}
