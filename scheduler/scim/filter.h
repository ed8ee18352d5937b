/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SCIM_FILTER_H
#define SCHEDULER_SCIM_FILTER_H

/*
 * Filters of SCIM (RFC 7644, section 3.4.2.2) and the paths of its PATCH (section 3.5.2). Pure.
 *
 * A filter is a tree of at most SCIM_MAX_NODES nodes and SCIM_MAX_DEPTH levels. A statement gets it as the alternatives
 * of scim_filter_alternatives: their values are parameters.
 */

#include "common/err.h"
#include "common/json/json.h"

enum {
	SCIM_MAX_NODES = 64,
	SCIM_MAX_DEPTH = 10,
	SCIM_MAX_FILTER = 4096,
	SCIM_MAX_CONDITIONS = 128,
	SCIM_NAME_SIZE = 64
};

enum scim_comparison { SCIM_PR, SCIM_EQ, SCIM_NE, SCIM_CO, SCIM_SW, SCIM_EW, SCIM_GT, SCIM_GE, SCIM_LT, SCIM_LE };
/* "eq". Static. */
const char *scim_comparison_name(enum scim_comparison comparison);

/* "emails.type", without the URN of a core schema. */
struct scim_attribute {
	char urn[SCIM_NAME_SIZE * 2]; /* of an extension, or "" */
	char name[SCIM_NAME_SIZE];
	char sub[SCIM_NAME_SIZE]; /* "": none */
};

struct scim_node {
	enum scim_node_kind { SCIM_CONDITION, SCIM_AND, SCIM_OR, SCIM_NOT, SCIM_VALUE_PATH } kind;
	size_t left, right; /* nodes of AND and OR; `left` of NOT and of a value path, whose filter it is */
	struct scim_attribute attribute; /* of a condition, or of a value path */
	enum scim_comparison comparison;
	json_t *value; /* a text, a number, a boolean or null; NULL for SCIM_PR */
};

struct scim_filter {
	struct scim_node nodes[SCIM_MAX_NODES];
	size_t count, root;
};

/* Parses a filter. ERR_MALFORMED with the title "invalidFilter". Always release it, also after a failure. */
int scim_filter_parse(const char *text, struct scim_filter *ret_filter, struct err *err);
void scim_filter_release(struct scim_filter *filter);
/* Whether the element of a multi-valued attribute matches. An element that is no object is its own `value`. */
bool scim_filter_matches(const struct scim_filter *filter, const json_t *element);

/* One condition of an alternative. Borrowed from the filter. */
struct scim_condition {
	size_t alternative;
	const struct scim_attribute *of; /* the attribute of the value path around the condition, or NULL */
	const struct scim_node *node;
	bool negated;
};
struct scim_alternatives {
	struct scim_condition conditions[SCIM_MAX_CONDITIONS];
	size_t count, alternatives;
};
/* The filter as alternatives, each of which is a list of conditions: it matches if all conditions of one alternative
 * do. ERR_MALFORMED "invalidFilter" if there are too many, or if a value path has more than one condition. */
int scim_filter_alternatives(
	const struct scim_filter *filter, struct scim_alternatives *ret_alternatives, struct err *err);

/* The path of a PATCH operation: `emails[type eq "work"].value`. */
struct scim_path {
	struct scim_attribute attribute; /* `sub` follows the bracket, if there is one */
	bool has_filter;
	struct scim_filter filter;
};
/* ERR_MALFORMED with the title "invalidPath". Release its filter, also after a failure. */
int scim_path_parse(const char *text, struct scim_path *ret_path, struct err *err);

#endif
