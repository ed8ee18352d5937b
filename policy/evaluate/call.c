/* SPDX-License-Identifier: MPL-2.0 */
/* Functions of the policy, and calls. */
#include <string.h>

#include "policy/evaluate/activation.h"

struct closure {
	struct function function; /* the first member: a function without `native` is one */
	const struct function_tree *tree;
	struct unit *unit;
	struct frame *outer;
};

/* Evaluates the body. The frame has the arguments. The caller pops the frame. */
static struct value invoke(struct run *run, const struct closure *closure, struct frame *frame)
{
	struct activation activation = {.run = run, .unit = closure->unit, .frame = frame};
	struct place caller = run->at;
	enum flow flow;

	if (++run->calls > MAX_CALLS)
		run_fail_limit(run, "calls, 1000 deep,", NULL);
	run_enter(run);
	flow = execute(&activation, &closure->tree->block);
	run_leave(run);
	run->calls--;
	run->at = caller;
	return flow == FLOW_RETURN ? activation.returned : value_undefined(run);
}

static struct value call_closure(
	struct run *run, const struct function *function, const struct value *args, size_t count)
{
	const struct closure *closure = (const struct closure *)function;
	struct stack_mark mark = stack_mark(run);
	struct frame *frame = frame_new(run, &closure->tree->scope, closure->outer);
	struct value result;

	if (count > 0)
		memcpy(frame->slots, args, count * sizeof(args[0]));
	result = invoke(run, closure, frame);
	stack_pop(run, mark);
	return result;
}

struct value evaluate_function(struct activation *activation, const struct node *node)
{
	struct closure *closure = run_alloc(activation->run, 1, sizeof(*closure));

	*closure = (struct closure){
		.function = {.call = call_closure, .arity = node->function->parameter_count},
		.tree = node->function,
		.unit = activation->unit,
		.outer = activation->frame,
	};
	return (struct value){.type = VALUE_FUNCTION, .function = &closure->function};
}

/* ---- calls ---- */

static void evaluate_arguments(struct activation *activation, const struct call *call, struct value *args)
{
	for (uint32_t i = 0; i < call->arguments.count; i++)
		args[i] = evaluate(activation, call->arguments.items[i]);
}

static void check_count(struct activation *activation, const struct closure *closure, size_t count)
{
	const struct word *name = &closure->tree->name;

	if (count == closure->function.arity)
		return;
	call_check(activation->run, run_text(activation->run, "%.*s", (int)name->len, name->len ? name->bytes : ""),
		closure->function.arity, closure->function.arity, count);
}

/* The arguments are evaluated into the frame. */
static struct value call_policy_function(
	struct activation *activation, const struct node *node, const struct closure *closure)
{
	struct frame *frame;

	check_count(activation, closure, node->call.arguments.count);
	frame = frame_new(activation->run, &closure->tree->scope, closure->outer);
	evaluate_arguments(activation, &node->call, frame->slots);
	activation_at(activation, node);
	return invoke(activation->run, closure, frame);
}

static struct value call_native(
	struct activation *activation, const struct node *node, const struct native *native, const void *data)
{
	const size_t count = node->call.arguments.count;
	struct value *args = stack_push(activation->run, count);

	evaluate_arguments(activation, &node->call, args);
	activation_at(activation, node);
	return native_call(activation->run, native, data, args, count);
}

/* The import whose function is called by name, as in strings.join(…); or NULL. */
static const struct import *called_import(struct activation *activation, const struct node *called)
{
	struct value base;

	if (called->kind != NODE_SELECTOR || called->selector.of->kind != NODE_NAME)
		return NULL;
	base = name_read(activation, called->selector.of);
	return base.type == VALUE_IMPORT ? base.import : NULL;
}

/* Calls of imported functions are the most common ones: no value is made for the function. */
static bool call_imported(struct activation *activation, const struct node *node, struct value *ret_result)
{
	const struct node *called = node->call.function;
	const struct import *import = called_import(activation, called);
	const struct native *native = NULL;
	struct stack_mark mark;

	if (import)
		native = import_function(import, called->selector.field.bytes, called->selector.field.len);
	if (!native)
		return false;
	mark = stack_mark(activation->run);
	*ret_result = call_native(activation, node, native, import->data);
	stack_pop(activation->run, mark);
	return true;
}

static struct value call_value(struct activation *activation, const struct node *node, const struct function *function)
{
	struct stack_mark mark = stack_mark(activation->run);
	struct value result = function->native
		? call_native(activation, node, function->native, function->data)
		: call_policy_function(activation, node, (const struct closure *)function);

	stack_pop(activation->run, mark);
	return result;
}

struct value evaluate_call(struct activation *activation, const struct node *node)
{
	struct value called, result;

	if (call_imported(activation, node, &result))
		return result;
	called = evaluate(activation, node->call.function);
	if (called.type == VALUE_UNDEFINED)
		return called;
	activation_at(activation, node);
	if (called.type != VALUE_FUNCTION)
		run_fail(activation->run, "only a function can be called, not %s", value_type_name(called));
	return call_value(activation, node, called.function);
}
