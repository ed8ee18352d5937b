/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_SYNTAX_TREE_H
#define POLICY_SYNTAX_TREE_H

/*
 * The tree of one file. The parser makes it, the resolver fills in where each name's variable is, the evaluator walks
 * it.
 *
 * Scopes: the file, each function, each turn of `for` and of a quantifier. `if` and `case` have none. A variable is a
 * slot of its scope. A name in the tree says how many scopes outwards (`hops`) and which slot.
 *
 * An assignment writes the nearest scope that has the name, else the current scope gets it. At some places this depends
 * on what ran before: a function assigns x, and the file assigns x later. Such a name is a chain (`outer`), from the
 * nearest scope outwards:
 *   read:   the first one of the chain that has a value; a NAME_BUILTIN or NAME_IMPORT always has one.
 *   assign: the first NAME_VARIABLE of the chain that has a value; without one, the first of the chain.
 * Most names have no `outer`. It is needed too for `keys = keys(m)`.
 */

#include <stdbool.h>
#include <stdint.h>

#include "policy/core/source.h"
#include "policy/values/value.h"

enum node_kind {
	/* expressions */
	NODE_CONSTANT,   /* constant */
	NODE_NAME,       /* name */
	NODE_LIST,       /* items */
	NODE_MAP,        /* items: key, element, key, element, … */
	NODE_FUNCTION,   /* function */
	NODE_RULE,       /* rule */
	NODE_QUANTIFIER, /* quantifier */
	NODE_OPERATION,  /* operation: with one or two operands */
	NODE_SELECTOR,   /* selector: a.name */
	NODE_INDEX,      /* operation: left[right] */
	NODE_SLICE,      /* slice */
	NODE_CALL,       /* call */
	/* statements */
	NODE_EXPRESSION, /* operation.left */
	NODE_ASSIGN,     /* assign */
	NODE_IF,         /* branch */
	NODE_FOR,        /* quantifier, with `block` in place of `body` */
	NODE_CASE,       /* choice */
	NODE_RETURN,     /* operation.left */
	NODE_BREAK,
	NODE_CONTINUE,
};

#define OPERATOR(name, text) OP_##name,
enum operator_kind {
	OP_NONE,
#include "policy/syntax/operators.def"
};
#undef OPERATOR

/* As messages write it: "is not". "" for OP_NONE. */
extern const char *const operator_texts[];

/* Text in the source's bytes. */
struct word {
	const char *bytes;
	uint32_t len;
};

struct node;

struct nodes {
	struct node **items;
	uint32_t count;
};

/* Set by the resolver. */
enum name_kind {
	NAME_VARIABLE, /* hops and slot */
	NAME_IMPORT,   /* slot: the index in file.imports */
	NAME_BUILTIN,  /* slot: the index in the table of built-in functions */
};

struct name {
	struct word text;
	enum name_kind kind;
	uint16_t hops;
	uint32_t slot;
	const struct name *outer; /* where else to look, or NULL */
};

/* A scope's variables. `captured`: a function, or a rule that is not forced yet, can read the scope after it has ended,
 * so its frame is in the arena. */
struct scope {
	struct word *names;
	uint32_t count;
	bool captured;
};

struct function_tree {
	struct word *parameters; /* the first slots of the scope */
	uint32_t parameter_count;
	struct scope scope;
	struct nodes block;
	struct word name; /* of `func name(…)`; empty */
};

struct rule_tree {
	struct node *when; /* or NULL */
	struct node *body;
};

enum quantifier { QUANTIFIER_ANY, QUANTIFIER_ALL, QUANTIFIER_FILTER, QUANTIFIER_MAP };

struct loop {
	enum quantifier quantifier; /* NODE_QUANTIFIER */
	struct node *over;
	struct word first, second; /* second: empty if there is one variable. Slots 0 and 1 */
	struct scope scope;
	struct node *body;  /* NODE_QUANTIFIER */
	struct nodes block; /* NODE_FOR */
};

struct assignment {
	struct node *target;   /* NODE_NAME or NODE_INDEX */
	enum operator_kind op; /* OP_NONE: = */
	struct node *value;
};

struct branch {
	struct node *condition;
	struct nodes then, otherwise; /* `else if` is one statement of otherwise */
};

struct choice_arm {
	struct nodes values; /* empty: else */
	struct nodes block;
};

struct choice {
	struct node *subject; /* NULL: true */
	struct choice_arm *arms;
	uint32_t count;
};

struct slice {
	struct node *of, *from, *to; /* from, to: or NULL */
};

struct call {
	struct node *function;
	struct nodes arguments;
};

struct node {
	uint8_t kind;    /* enum node_kind */
	uint8_t op;      /* NODE_OPERATION */
	uint32_t offset; /* in the source: of an operation its operator, of any other node its first byte */
	union {
		struct value constant;
		struct name name;
		struct nodes items;
		struct function_tree *function;
		struct rule_tree rule;
		struct loop *loop;
		struct {
			struct node *left, *right;
		} operation;
		struct {
			struct node *of;
			struct word field;
		} selector;
		struct slice slice;
		struct call call;
		struct assignment *assign;
		struct branch *branch;
		struct choice *choice;
	};
};

struct import_tree {
	struct word path; /* the string's value: "tfplan/v2" */
	struct word name; /* of `as`; else the path's last segment */
	uint32_t offset;
};

struct param_tree {
	struct word name;
	struct node *otherwise; /* the default, a constant expression; NULL: required */
	uint32_t slot;          /* in the file's scope */
	uint32_t offset;
};

/* A rule that the file assigns to a name, for traces. */
struct rule_note {
	struct word name, description; /* description: the comment right above it, without its marks; may be empty */
	const struct node *rule;
	uint32_t slot;
	uint32_t offset; /* of the assignment */
};

struct tree {
	const struct source *source;
	struct word description; /* the first comment of the file, without its marks; may be empty */
	struct import_tree *imports;
	struct param_tree *params;
	struct rule_note *rules; /* in the order of the file */
	uint32_t import_count, param_count, rule_count;
	struct nodes statements;
	struct scope scope; /* the file's variables, parameters among them */
	/* Names that are read and that nothing assigns: warnings. Each stands here once, with the place of its first
	 * use. Each has a slot of the file, for the values that a configuration gives (`global`). */
	struct name_use {
		struct word name;
		uint32_t slot, offset;
	} * unassigned;
	uint32_t unassigned_count;
	/* Fields that the file reads of its imports by name, in the order of the file. */
	struct field_use {
		uint32_t import; /* the index in `imports` */
		struct word field;
		uint32_t offset;
	} * fields;
	uint32_t field_count;
	/* Allowed code that is probably a mistake, in the order of the file. */
	struct tree_warning {
		const char *message;
		uint32_t offset;
	} * warnings;
	uint32_t warning_count;
};

/* What the file is. A policy must have `main`. Modules and mocks have no `param`. */
enum tree_role { TREE_POLICY, TREE_MODULE };

/* Parses and resolves. Fails (core/run.h, FAILURE_STATIC) at the first error. The tree is the arena's and refers to the
 * source's text. */
struct tree *tree_parse(struct run *run, const struct source *source, enum tree_role role);

/* The slot of a variable of the file. False if there is none of that name. Compares all names: the caller counts a step
 * for NAMES_PER_STEP of tree->scope.count, where a policy can repeat it. */
enum { NAMES_PER_STEP = 16 };
bool tree_variable(const struct tree *tree, const char *name, size_t len, uint32_t *ret_slot);

#endif
