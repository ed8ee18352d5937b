/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/scim/filter.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "scheduler/scim/schema.h"

static const char *const operators[] = {
	[SCIM_PR] = "pr",
	[SCIM_EQ] = "eq",
	[SCIM_NE] = "ne",
	[SCIM_CO] = "co",
	[SCIM_SW] = "sw",
	[SCIM_EW] = "ew",
	[SCIM_GT] = "gt",
	[SCIM_GE] = "ge",
	[SCIM_LT] = "lt",
	[SCIM_LE] = "le",
};

const char *scim_comparison_name(enum scim_comparison comparison)
{
	return operators[comparison];
}

/* ---- reading ---- */

struct parser {
	const char *at;
	struct scim_filter *filter;
	int depth;
	bool in_bracket; /* of a value path: none may be inside of it */
	struct err *err;
};

static int wrong(struct parser *p, const char *what)
{
	return scim_wrong(p->err, "invalidFilter", "the filter can't be read: %s", what);
}

static void blanks_skip(struct parser *p)
{
	p->at += strspn(p->at, " ");
}

/* Takes the word, in any case, if it is next and ends there. */
static bool word_take(struct parser *p, const char *word)
{
	size_t len = strlen(word);

	if (strncasecmp(p->at, word, len) != 0 || isalnum((unsigned char)p->at[len]))
		return false;
	p->at += len;
	blanks_skip(p);
	return true;
}

static int node_new(struct parser *p, enum scim_node_kind kind, size_t *ret_node)
{
	struct scim_filter *filter = p->filter;

	if (filter->count == SCIM_MAX_NODES)
		return wrong(p, "it has too many parts");
	filter->nodes[filter->count] = (struct scim_node){.kind = kind};
	*ret_node = filter->count++;
	return 0;
}

static bool name_letter(char letter)
{
	return isalnum((unsigned char)letter) || letter == '-' || letter == '_' || letter == '$';
}

/* One segment of a name. False if there is none, or if it is too long. */
static bool segment_take(const char **at, char ret_name[SCIM_NAME_SIZE])
{
	size_t len = 0;

	while (name_letter((*at)[len]))
		len++;
	if (!len || len >= SCIM_NAME_SIZE)
		return false;
	text_copy(ret_name, len + 1, *at);
	*at += len;
	return true;
}

/* The length of the URN before the attribute, with its last colon; 0: there is none. A URN has dots and digits, so the
 * attribute begins after the last colon. */
static size_t urn_length(const char *at)
{
	size_t end = strcspn(at, " []\"()"), len = 0;

	if (strncasecmp(at, "urn:", 4) != 0)
		return 0;
	for (size_t i = 0; i < end; i++)
		if (at[i] == ':')
			len = i + 1;
	return len;
}

static bool attribute_take(const char **at, struct scim_attribute *ret_attribute)
{
	size_t urn = urn_length(*at);

	*ret_attribute = (struct scim_attribute){.urn = ""};
	if (urn > sizeof(ret_attribute->urn))
		return false;
	if (urn)
		text_copy(ret_attribute->urn, urn, *at);
	if (scim_is_core(ret_attribute->urn))
		ret_attribute->urn[0] = '\0';
	*at += urn;
	if (!segment_take(at, ret_attribute->name))
		return false;
	if (**at != '.')
		return true;
	++*at;
	return segment_take(at, ret_attribute->sub);
}

/* The length of a JSON text with its quotes; 0 if it does not end. */
static size_t quoted_length(const char *at)
{
	size_t len = 1;

	while (at[len] && at[len] != '"')
		len += at[len] == '\\' && at[len + 1] ? 2 : 1;
	return at[len] ? len + 1 : 0;
}

static int value_take(struct parser *p, json_t **ret_value)
{
	size_t len = *p->at == '"' ? quoted_length(p->at) : strcspn(p->at, " )]");
	json_t *value = len ? json_loadb(p->at, len, JSON_DECODE_ANY, NULL) : NULL;

	if (!value || json_is_object(value) || json_is_array(value)) {
		json_decref(value);
		return wrong(p, "a value must be a text in quotes, a number, true, false or null");
	}
	p->at += len;
	blanks_skip(p);
	*ret_value = value;
	return 0;
}

static int operator_take(struct parser *p, enum scim_comparison *ret_comparison)
{
	for (size_t i = 0; i < ARRAY_LEN(operators); i++)
		if (word_take(p, operators[i])) {
			*ret_comparison = (enum scim_comparison)i;
			return 0;
		}
	return wrong(p, "an operator is missing (eq, ne, co, sw, ew, gt, ge, lt, le, pr)");
}

static int either_take(struct parser *p, size_t *ret_node);

/* The filter in brackets. The bracket that opens it has been read. */
static int bracket_take(struct parser *p, char end, size_t *ret_node)
{
	blanks_skip(p);
	if (either_take(p, ret_node) < 0)
		return -1;
	if (*p->at != end)
		return wrong(p, "a bracket is not closed");
	p->at++;
	blanks_skip(p);
	return 0;
}

static int value_path_take(struct parser *p, const struct scim_attribute *attribute, size_t *ret_node)
{
	size_t node = 0, inner = 0;

	if (p->in_bracket || *attribute->sub)
		return wrong(p, "[ stands after an attribute, and not within brackets");
	p->at++;
	p->in_bracket = true;
	if (node_new(p, SCIM_VALUE_PATH, &node) < 0 || bracket_take(p, ']', &inner) < 0)
		return -1;
	p->in_bracket = false;
	p->filter->nodes[node].attribute = *attribute;
	p->filter->nodes[node].left = inner;
	*ret_node = node;
	return 0;
}

static int condition_take(struct parser *p, size_t *ret_node)
{
	struct scim_attribute attribute;
	struct scim_node *node;

	if (!attribute_take(&p->at, &attribute))
		return wrong(p, "the name of an attribute is missing");
	if (*p->at == '[')
		return value_path_take(p, &attribute, ret_node);
	if (*p->at != ' ')
		return wrong(p, "a blank must follow the name of an attribute");
	blanks_skip(p);
	if (node_new(p, SCIM_CONDITION, ret_node) < 0)
		return -1;
	node = &p->filter->nodes[*ret_node];
	node->attribute = attribute;
	if (operator_take(p, &node->comparison) < 0)
		return -1;
	return node->comparison == SCIM_PR ? 0 : value_take(p, &node->value);
}

static int term_take(struct parser *p, size_t *ret_node)
{
	size_t inner;

	if (word_take(p, "not")) {
		if (*p->at++ != '(')
			return wrong(p, "( must follow not");
		if (bracket_take(p, ')', &inner) < 0 || node_new(p, SCIM_NOT, ret_node) < 0)
			return -1;
		p->filter->nodes[*ret_node].left = inner;
		return 0;
	}
	if (*p->at != '(')
		return condition_take(p, ret_node);
	p->at++;
	return bracket_take(p, ')', ret_node);
}

static int pair_make(struct parser *p, enum scim_node_kind kind, size_t right, size_t *node)
{
	size_t left = *node;

	if (node_new(p, kind, node) < 0)
		return -1;
	p->filter->nodes[*node].left = left;
	p->filter->nodes[*node].right = right;
	return 0;
}

static int both_take(struct parser *p, size_t *ret_node)
{
	size_t right = 0;

	if (term_take(p, ret_node) < 0)
		return -1;
	while (word_take(p, "and"))
		if (term_take(p, &right) < 0 || pair_make(p, SCIM_AND, right, ret_node) < 0)
			return -1;
	return 0;
}

static int either_take(struct parser *p, size_t *ret_node)
{
	size_t right = 0;

	if (++p->depth > SCIM_MAX_DEPTH)
		return wrong(p, "its brackets are nested too deeply");
	if (both_take(p, ret_node) < 0)
		return -1;
	while (word_take(p, "or"))
		if (both_take(p, &right) < 0 || pair_make(p, SCIM_OR, right, ret_node) < 0)
			return -1;
	p->depth--;
	return 0;
}

int scim_filter_parse(const char *text, struct scim_filter *ret_filter, struct err *err)
{
	struct parser p = {.at = text, .filter = ret_filter, .err = err};

	ret_filter->count = 0;
	if (strlen(text) > SCIM_MAX_FILTER)
		return wrong(&p, "it is too long");
	blanks_skip(&p);
	if (either_take(&p, &ret_filter->root) < 0)
		return -1;
	return *p.at ? wrong(&p, "something follows its end") : 0;
}

void scim_filter_release(struct scim_filter *filter)
{
	for (size_t i = 0; i < filter->count; i++)
		json_decref(filter->nodes[i].value);
	filter->count = 0;
}

/* ---- matching ---- */

static int text_compare(const char *a, const char *b, bool exact)
{
	return exact ? strcmp(a, b) : strcasecmp(a, b);
}

static bool text_holds(const char *text, const char *part, bool exact)
{
	return exact ? strstr(text, part) != NULL : strcasestr(text, part) != NULL;
}

static bool text_ends(const char *text, const char *end, bool exact)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && text_compare(text + len - end_len, end, exact) == 0;
}

static bool texts_match(enum scim_comparison comparison, const char *found, const char *wanted, bool exact)
{
	int order = text_compare(found, wanted, exact);

	switch (comparison) {
	case SCIM_EQ:
		return order == 0;
	case SCIM_NE:
		return order != 0;
	case SCIM_CO:
		return text_holds(found, wanted, exact);
	case SCIM_SW:
		return exact ? text_starts(found, wanted) : strncasecmp(found, wanted, strlen(wanted)) == 0;
	case SCIM_EW:
		return text_ends(found, wanted, exact);
	case SCIM_GT:
		return order > 0;
	case SCIM_GE:
		return order >= 0;
	case SCIM_LT:
		return order < 0;
	case SCIM_LE:
		return order <= 0;
	default:
		return false;
	}
}

static bool value_present(const json_t *value)
{
	return value && !json_is_null(value) && !(json_is_string(value) && !json_string_length(value)) &&
		!(json_is_array(value) && !json_array_size(value));
}

static bool condition_matches(const struct scim_node *node, const json_t *element)
{
	const json_t *value = json_is_object(element)            ? scim_member(element, node->attribute.name)
		: strcasecmp(node->attribute.name, "value") == 0 ? element
								 : NULL;

	if (*node->attribute.sub)
		value = scim_member(value, node->attribute.sub);
	if (node->comparison == SCIM_PR)
		return value_present(value);
	if (json_is_string(value) && json_is_string(node->value))
		return texts_match(node->comparison, json_string_value(value), json_string_value(node->value),
			scim_is_exact(node->attribute.name));
	if (node->comparison == SCIM_NE)
		return !json_equal(value, node->value);
	return node->comparison == SCIM_EQ && value && json_equal(value, node->value);
}

static bool node_matches(const struct scim_filter *filter, size_t at, const json_t *element)
{
	const struct scim_node *node = &filter->nodes[at];

	switch (node->kind) {
	case SCIM_CONDITION:
		return condition_matches(node, element);
	case SCIM_AND:
		return node_matches(filter, node->left, element) && node_matches(filter, node->right, element);
	case SCIM_OR:
		return node_matches(filter, node->left, element) || node_matches(filter, node->right, element);
	case SCIM_NOT:
		return !node_matches(filter, node->left, element);
	default:
		return false; /* a path has no value path inside of its brackets */
	}
}

bool scim_filter_matches(const struct scim_filter *filter, const json_t *element)
{
	return node_matches(filter, filter->root, element);
}

/* ---- alternatives ---- */

struct spread {
	const struct scim_filter *filter;
	const struct scim_attribute *of; /* the value path around the node */
	bool negated;
	struct err *err;
};

static int node_spread(struct spread s, size_t at, struct scim_alternatives *ret);

static int condition_append(struct scim_alternatives *list, struct scim_condition condition, struct err *err)
{
	if (list->count == SCIM_MAX_CONDITIONS)
		return scim_wrong(err, "invalidFilter", "the filter has more than %d conditions", SCIM_MAX_CONDITIONS);
	list->conditions[list->count++] = condition;
	return 0;
}

static int either_spread(struct spread s, const struct scim_node *node, struct scim_alternatives *ret)
{
	struct scim_alternatives *right = mem_new(1, sizeof(*right));
	int result = -1;

	if (node_spread(s, node->left, ret) == 0 && node_spread(s, node->right, right) == 0) {
		result = 0;
		for (size_t i = 0; i < right->count && result == 0; i++) {
			right->conditions[i].alternative += ret->alternatives;
			result = condition_append(ret, right->conditions[i], s.err);
		}
		ret->alternatives += right->alternatives;
	}
	free(right);
	return result;
}

static int alternative_copy(
	const struct scim_alternatives *from, size_t which, struct scim_alternatives *to, struct err *err)
{
	for (size_t i = 0; i < from->count; i++) {
		struct scim_condition condition = from->conditions[i];

		if (condition.alternative != which)
			continue;
		condition.alternative = to->alternatives;
		if (condition_append(to, condition, err) < 0)
			return -1;
	}
	return 0;
}

/* Each alternative of the left side with each of the right side. */
static int both_spread(struct spread s, const struct scim_node *node, struct scim_alternatives *ret)
{
	struct scim_alternatives *sides = mem_new(2, sizeof(*sides));
	int result = -1;

	if (node_spread(s, node->left, &sides[0]) == 0 && node_spread(s, node->right, &sides[1]) == 0) {
		result = 0;
		for (size_t i = 0; i < sides[0].alternatives * sides[1].alternatives && result == 0; i++) {
			result = alternative_copy(&sides[0], i / sides[1].alternatives, ret, s.err);
			if (result == 0)
				result = alternative_copy(&sides[1], i % sides[1].alternatives, ret, s.err);
			ret->alternatives++;
		}
	}
	free(sides);
	return result;
}

/* Elements of one attribute that match several conditions at once are not looked for. */
static int value_path_spread(struct spread s, const struct scim_node *node, struct scim_alternatives *ret)
{
	if (s.filter->nodes[node->left].kind != SCIM_CONDITION)
		return scim_wrong(s.err, "invalidFilter", "the filter has more than one condition in [ ]");
	s.of = &node->attribute;
	return node_spread(s, node->left, ret);
}

/* `ret` is empty. A negation turns `and` into `or`. */
static int node_spread(struct spread s, size_t at, struct scim_alternatives *ret)
{
	const struct scim_node *node = &s.filter->nodes[at];

	switch (node->kind) {
	case SCIM_NOT:
		s.negated = !s.negated;
		return node_spread(s, node->left, ret);
	case SCIM_AND:
		return s.negated ? either_spread(s, node, ret) : both_spread(s, node, ret);
	case SCIM_OR:
		return s.negated ? both_spread(s, node, ret) : either_spread(s, node, ret);
	case SCIM_VALUE_PATH:
		return value_path_spread(s, node, ret);
	default:
		ret->alternatives = 1;
		return condition_append(ret, (struct scim_condition){0, s.of, node, s.negated}, s.err);
	}
}

int scim_filter_alternatives(const struct scim_filter *filter, struct scim_alternatives *ret, struct err *err)
{
	*ret = (struct scim_alternatives){.count = 0};
	return node_spread((struct spread){.filter = filter, .err = err}, filter->root, ret);
}

/* ---- paths ---- */

static int path_wrong(const char *text, struct err *err)
{
	char shown[128];

	text_copy(shown, sizeof(shown), text);
	return scim_wrong(err, "invalidPath", "the path '%s' can't be read", shown);
}

int scim_path_parse(const char *text, struct scim_path *ret_path, struct err *err)
{
	struct parser p = {.at = text, .filter = &ret_path->filter, .in_bracket = true, .err = err};

	ret_path->filter.count = 0;
	ret_path->has_filter = false;
	if (strlen(text) > SCIM_MAX_FILTER || !attribute_take(&p.at, &ret_path->attribute))
		return path_wrong(text, err);
	if (*p.at == '[' && !*ret_path->attribute.sub) {
		p.at++;
		ret_path->has_filter = true;
		if (bracket_take(&p, ']', &ret_path->filter.root) < 0)
			return path_wrong(text, err);
		if (*p.at == '.') {
			p.at++;
			if (!segment_take(&p.at, ret_path->attribute.sub))
				return path_wrong(text, err);
		}
	}
	return *p.at ? path_wrong(text, err) : 0;
}
