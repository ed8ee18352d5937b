/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_EVALUATE_ACTIVATION_H
#define POLICY_EVALUATE_ACTIVATION_H

/* What the parts of the tree walker share. For evaluate/ alone. */

#include "policy/core/run.h"
#include "policy/evaluate/evaluate.h"
#include "policy/syntax/tree.h"
#include "policy/values/value.h"

/* ---- frames ---- */

/* The variables of a scope that is being evaluated. Slots without a value are VALUE_UNSET. */
struct frame {
	struct frame *outer;
	struct value slots[];
};

/* The stack of frames that nothing captures, and of arguments: chunks of the arena that are used again. */
struct stack_chunk;
struct evaluation {
	struct stack_chunk *chunk;
	struct value *free, *end;
};

struct stack_mark {
	struct stack_chunk *chunk;
	struct value *free;
};

/* Everything that is pushed after the mark is taken back by stack_pop. A failure leaves the stack as it is. */
struct stack_mark stack_mark(struct run *run);
struct value *stack_push(struct run *run, size_t count);
void stack_pop(struct run *run, struct stack_mark mark);

/* A frame whose slots are unset: of the arena if the scope is captured, else of the stack. */
struct frame *frame_new(struct run *run, const struct scope *scope, struct frame *outer);
void frame_unset(struct frame *frame, const struct scope *scope, uint32_t from);

/* ---- the walker ---- */

struct unit {
	const struct tree *tree;
	struct import import; /* the unit as a module */
	struct value *imports;
	struct frame *frame; /* of the file's variables */
	enum { UNIT_NEW, UNIT_RUNNING, UNIT_DONE } state;
};

/* The evaluation of a function's, a rule's or a file's nodes. */
struct activation {
	struct run *run;
	struct unit *unit;
	struct frame *frame;   /* of the innermost scope */
	struct value returned; /* by `return` */
};

enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN };

/* The node becomes the place of errors and of new undefined values. */
static inline void activation_at(struct activation *activation, const struct node *node)
{
	activation->run->at = (struct place){.source = activation->unit->tree->source, .offset = node->offset};
}

/* The value of an expression; never a rule, and never an import. */
struct value evaluate(struct activation *activation, const struct node *node);
enum flow execute(struct activation *activation, const struct nodes *block);

/* The table of NODE_OPERATION. */
struct value evaluate_operation(struct activation *activation, const struct node *node);
/* A binary operator but for the logical ones and `else`, at run->at. */
struct value operator_apply(struct run *run, enum operator_kind op, struct value left, struct value right);
struct value evaluate_quantifier(struct activation *activation, const struct node *node);
struct value evaluate_call(struct activation *activation, const struct node *node);
struct value evaluate_function(struct activation *activation, const struct node *node);
struct value evaluate_selector(struct activation *activation, const struct node *node);
struct value evaluate_index(struct activation *activation, const struct node *node);
struct value evaluate_slice(struct activation *activation, const struct node *node);

/* ---- names ---- */

/* A variable's value as it stands there, a rule among them; or an import. Fails if the name has no value yet. */
struct value name_read(struct activation *activation, const struct node *node);
struct value *name_slot_to_assign(struct activation *activation, const struct name *name);

/* ---- rules ---- */

enum rule_state { RULE_NEW, RULE_FORCED, RULE_DONE };

struct rule {
	const struct node *node;
	struct word name; /* of the variable; empty */
	struct unit *unit;
	struct frame *frame;
	enum rule_state state; /* RULE_FORCED: it is being evaluated */
	struct value value;    /* RULE_DONE */
};

struct value rule_new(struct activation *activation, const struct node *node, struct word name);
/* The value of the rule if `value` is one; else `value`. */
struct value rule_force(struct run *run, struct rule *rule);
static inline struct value forced(struct run *run, struct value value)
{
	return value.type == VALUE_RULE ? rule_force(run, value.rule) : value;
}

/* ---- loops ---- */

struct turns {
	struct iterator iterator;
	const struct loop *loop;
	struct frame *frame, *outer;
	bool map;
	struct stack_mark mark;
};

/* Over a list or a map; other types are an error. Each turns_next makes the frame of the next turn the activation's.
 * turns_end must be called, unless the run fails. */
void turns_begin(struct activation *activation, const struct loop *loop, struct value over, struct turns *turns);
bool turns_next(struct activation *activation, struct turns *turns);
void turns_end(struct activation *activation, struct turns *turns);

/* ---- predeclared functions ---- */

/* By the index in builtin_names. */
struct value builtin_function(uint32_t index);
/* int, float, string and bool: undefined for what can't be converted. */
struct value convert_int(struct run *run, struct value value);
struct value convert_float(struct run *run, struct value value);
struct value convert_string(struct run *run, struct value value);
struct value convert_bool(struct run *run, struct value value);

#endif
