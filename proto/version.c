/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/version.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { PARTS = 3 };

/* Parses the numbers that a text begins with, "1.11" or "1.11.4". Returns how many there are, or -1. *ret_rest is the
 * rest. */
static int numbers_read(const char *text, int numbers[PARTS], const char **ret_rest)
{
	int count = 0;

	for (;;) {
		long value = 0;

		if (!isdigit((unsigned char)*text))
			return -1;
		for (; isdigit((unsigned char)*text) && value < 1000000; text++)
			value = value * 10 + (*text - '0');
		numbers[count++] = (int)value;
		if (*text != '.' || count == PARTS)
			break;
		text++;
	}
	*ret_rest = text;
	return count;
}

int version_parse(const char *text, struct version *ret_version)
{
	struct version version = {.text = ""};
	const char *rest;

	text += *text == 'v';
	if (numbers_read(text, version.part, &rest) != PARTS || (*rest && *rest != '-' && *rest != '+'))
		return -1;
	text_copy(version.text, sizeof(version.text), text);
	*ret_version = version;
	return 0;
}

static int parts_compare(const int *a, const int *b, int count)
{
	for (int i = 0; i < count; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

int version_compare(const struct version *a, const struct version *b)
{
	int order = parts_compare(a->part, b->part, PARTS);
	const char *pre_a = strchr(a->text, '-'), *pre_b = strchr(b->text, '-');

	if (order)
		return order;
	if (!pre_a || !pre_b)
		return (pre_b != NULL) - (pre_a != NULL);
	return strcmp(pre_a, pre_b);
}

enum relation { REL_EQUAL, REL_NOT, REL_AT_LEAST, REL_ABOVE, MAX_REL_AT, REL_BELOW, REL_ABOUT };

static const struct {
	const char *sign;
	enum relation relation;
} relations[] = {
	{"~>", REL_ABOUT},
	{">=", REL_AT_LEAST},
	{"<=", MAX_REL_AT},
	{"!=", REL_NOT},
	{">", REL_ABOVE},
	{"<", REL_BELOW},
	{"=", REL_EQUAL},
	{"", REL_EQUAL},
};

static bool relation_holds(
	enum relation relation, int order, const struct version *version, const int *bound, int count)
{
	switch (relation) {
	case REL_EQUAL:
		return order == 0;
	case REL_NOT:
		return order != 0;
	case REL_AT_LEAST:
		return order >= 0;
	case REL_ABOVE:
		return order > 0;
	case MAX_REL_AT:
		return order <= 0;
	case REL_BELOW:
		return order < 0;
	case REL_ABOUT:
		return order >= 0 && parts_compare(version->part, bound, count - 1) == 0;
	}
	return false;
}

/* Checks one term of a constraint: 1 if it holds, 0 if not, -1 if it cannot be parsed. */
static int term_holds(const struct version *version, const char *term)
{
	struct version bound = {.text = ""};
	const char *rest;
	size_t i = 0;
	int count;

	term += strspn(term, " ");
	while (!text_starts(term, relations[i].sign))
		i++;
	term += strlen(relations[i].sign);
	term += strspn(term, " ");
	term += *term == 'v';
	count = numbers_read(term, bound.part, &rest);
	if (count < 0 || (*rest && *rest != ' ' && *rest != '-' && *rest != '+') ||
		(relations[i].relation == REL_ABOUT && count < 2))
		return -1;
	text_copy(bound.text, sizeof(bound.text), term);
	bound.text[strcspn(bound.text, " ")] = '\0';
	return relation_holds(relations[i].relation, version_compare(version, &bound), version, bound.part, count);
}

bool version_fits(const struct version *version, const char *constraint, bool *ret_valid)
{
	_cleanup_(freep) char *copy = mem_text(constraint);
	char *rest = copy, *term;
	bool fits = true, valid = true;

	if (*constraint && !text_equal(constraint, "latest")) {
		while ((term = strsep(&rest, ","))) {
			int holds = term_holds(version, term);

			valid = valid && holds >= 0;
			fits = fits && holds > 0;
		}
	}
	if (ret_valid)
		*ret_valid = valid;
	return fits;
}

int version_exact(const char *text, struct version *ret_version)
{
	static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-+";

	text += *text == '=';
	text += strspn(text, " ");
	if (strspn(text, plain) != strlen(text) || strlen(text) >= sizeof(ret_version->text))
		return -1;
	return version_parse(text, ret_version);
}
