/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/library/version.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"

#define DIGITS "0123456789"
#define LABELS DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-."

struct part {
	const char *bytes;
	size_t len;
};

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t';
}

static struct part skip(struct part part, size_t len)
{
	return (struct part){part.bytes + len, part.len - len};
}

static struct part trim(struct part part)
{
	while (part.len > 0 && is_space(part.bytes[0]))
		part = skip(part, 1);
	while (part.len > 0 && is_space(part.bytes[part.len - 1]))
		part.len--;
	return part;
}

/* ---- parsing ---- */

static bool take_numbers(const char **at, struct version *version)
{
	char *end;

	for (;; (*at)++) {
		if (version->given == VERSION_NUMBERS || **at < '0' || **at > '9')
			return false;
		errno = 0;
		version->numbers[version->given++] = strtoll(*at, &end, 10);
		*at = end;
		if (errno != 0 || *end != '.')
			return errno == 0;
	}
}

/* Labels behind the mark, with dots between them. None may be empty. */
static bool take_labels(const char **at, char mark, char field[VERSION_LABEL_SIZE])
{
	size_t len;

	if (**at != mark)
		return true;
	len = strspn(++*at, LABELS);
	if (len == 0 || len >= VERSION_LABEL_SIZE || **at == '.' || (*at)[len - 1] == '.')
		return false;
	memcpy(field, *at, len);
	field[len] = '\0';
	*at += len;
	return !strstr(field, "..");
}

bool version_parse(const char *text, size_t len, struct version *ret_version)
{
	const struct part part = trim((struct part){text, len});
	struct version version = {0};
	char copy[VERSION_TEXT_SIZE];
	const char *at = copy;

	if (part.len >= sizeof(copy) || memchr(part.bytes, '\0', part.len))
		return false;
	memcpy(copy, part.bytes, part.len);
	copy[part.len] = '\0';
	at += *at == 'v';
	if (!take_numbers(&at, &version) || !take_labels(&at, '-', version.prerelease) ||
		!take_labels(&at, '+', version.metadata) || *at != '\0')
		return false;
	*ret_version = version;
	return true;
}

char *version_text(const struct version *version, char text[VERSION_TEXT_SIZE])
{
	const int64_t *numbers = version->numbers;

	snprintf(text, VERSION_TEXT_SIZE, "%" PRId64 ".%" PRId64 ".%" PRId64 "%s%s%s%s", numbers[0], numbers[1],
		numbers[2], version->prerelease[0] ? "-" : "", version->prerelease, version->metadata[0] ? "+" : "",
		version->metadata);
	return text;
}

/* ---- order ---- */

static int compare_numbers(const struct version *a, const struct version *b, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (a->numbers[i] != b->numbers[i])
			return a->numbers[i] < b->numbers[i] ? -1 : 1;
	return 0;
}

static int sign(int order)
{
	return (order > 0) - (order < 0);
}

static struct part without_zeros(struct part digits)
{
	while (digits.len > 1 && digits.bytes[0] == '0')
		digits = skip(digits, 1);
	return digits;
}

/* Numbers are below words, and of numbers the longer one is larger. */
static int compare_label(struct part a, struct part b)
{
	const bool a_number = strspn(a.bytes, DIGITS) >= a.len, b_number = strspn(b.bytes, DIGITS) >= b.len;
	int order;

	if (a_number != b_number)
		return a_number ? -1 : 1;
	if (a_number) {
		a = without_zeros(a);
		b = without_zeros(b);
	}
	order = a_number ? 0 : sign(memcmp(a.bytes, b.bytes, a.len < b.len ? a.len : b.len));
	if (order == 0)
		order = (a.len > b.len) - (a.len < b.len);
	return order != 0 ? order : sign(memcmp(a.bytes, b.bytes, a.len));
}

static struct part take_label(const char **text)
{
	struct part label = {*text, strcspn(*text, ".")};

	*text += label.len + ((*text)[label.len] == '.');
	return label;
}

/* A version without a prerelease is above those with one; of two that begin alike the longer one is above. */
static int compare_prerelease(const char *a, const char *b)
{
	if (!*a || !*b)
		return (*a == '\0') - (*b == '\0');
	while (*a && *b) {
		const int order = compare_label(take_label(&a), take_label(&b));

		if (order != 0)
			return order;
	}
	return (*a != '\0') - (*b != '\0');
}

int version_compare(const struct version *a, const struct version *b)
{
	int order = compare_numbers(a, b, VERSION_NUMBERS);

	return order != 0 ? order : compare_prerelease(a->prerelease, b->prerelease);
}

/* ---- constraints ---- */

/* The last number that is given may grow: ~> 1.2 is at least 1.2 and below 2. */
static bool is_near(const struct version *version, const struct version *limit)
{
	return version_compare(version, limit) >= 0 && compare_numbers(version, limit, limit->given - 1) == 0;
}

enum { BELOW = 1, EQUAL = 2, ABOVE = 4, NEAR = 8 };

/* Longer operators first. */
static const struct {
	const char *text;
	unsigned accepts;
} operators[] = {
	{"!=", BELOW | ABOVE},
	{">=", EQUAL | ABOVE},
	{"<=", BELOW | EQUAL},
	{"~>", NEAR},
	{">", ABOVE},
	{"<", BELOW},
	{"=", EQUAL},
	{"", EQUAL},
};

static unsigned take_operator(struct part *part)
{
	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		size_t len = strlen(operators[i].text);

		if (len > part->len || memcmp(part->bytes, operators[i].text, len) != 0)
			continue;
		*part = trim(skip(*part, len));
		return operators[i].accepts;
	}
	return 0;
}

static bool fits_prerelease(const struct version *version, const struct version *limit)
{
	if (version->prerelease[0] == '\0')
		return true;
	return limit->prerelease[0] != '\0' && compare_numbers(version, limit, VERSION_NUMBERS) == 0;
}

static bool fulfils(const struct version *version, unsigned accepts, const struct version *limit)
{
	static const unsigned orders[] = {BELOW, EQUAL, ABOVE};

	if (!fits_prerelease(version, limit))
		return false;
	if (accepts == NEAR)
		return is_near(version, limit);
	return (accepts & orders[version_compare(version, limit) + 1]) != 0;
}

static int satisfies_one(const struct version *version, struct part part)
{
	struct version limit;
	unsigned accepts;

	part = trim(part);
	accepts = take_operator(&part);
	if (!version_parse(part.bytes, part.len, &limit))
		return -1;
	return fulfils(version, accepts, &limit);
}

int version_satisfies(const struct version *version, const char *constraints, size_t len)
{
	struct part rest = {constraints, len};
	int satisfied = 1;

	for (;;) {
		const char *comma = memchr(rest.bytes, ',', rest.len);
		struct part one = {rest.bytes, comma ? (size_t)(comma - rest.bytes) : rest.len};
		int result = satisfies_one(version, one);

		if (result < 0)
			return -1;
		satisfied &= result;
		if (!comma)
			return satisfied;
		rest = skip(rest, one.len + 1);
	}
}
