/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/library/version.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base.h"

struct part {
	const char *bytes;
	size_t len;
};

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t';
}

static bool is_label(char byte)
{
	return is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '-' ||
		byte == '.';
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

static size_t digits_len(struct part part)
{
	size_t len = 0;

	while (len < part.len && is_digit(part.bytes[len]))
		len++;
	return len;
}

static bool digits_value(struct part digits, int64_t *ret_number)
{
	int64_t number = 0;

	for (size_t i = 0; i < digits.len; i++)
		if (__builtin_mul_overflow(number, 10, &number) ||
			__builtin_add_overflow(number, digits.bytes[i] - '0', &number))
			return false;
	*ret_number = number;
	return digits.len > 0;
}

static bool take_numbers(struct part *part, struct version *version)
{
	do {
		size_t len;

		if (version->given == VERSION_NUMBERS)
			return false;
		if (version->given > 0)
			*part = skip(*part, 1);
		len = digits_len(*part);
		if (!digits_value((struct part){part->bytes, len}, &version->numbers[version->given++]))
			return false;
		*part = skip(*part, len);
	} while (part->len > 0 && part->bytes[0] == '.');
	return true;
}

/* No label between two dots may be empty. */
static bool is_label_list(struct part part)
{
	if (part.len == 0 || part.len >= VERSION_LABEL_SIZE || part.bytes[0] == '.' || part.bytes[part.len - 1] == '.')
		return false;
	for (size_t i = 0; i < part.len; i++)
		if (!is_label(part.bytes[i]) || (part.bytes[i] == '.' && part.bytes[i + 1] == '.'))
			return false;
	return true;
}

static bool keep_label(struct part part, char field[VERSION_LABEL_SIZE])
{
	if (!is_label_list(part))
		return false;
	memcpy(field, part.bytes, part.len);
	field[part.len] = '\0';
	return true;
}

static bool take_labels(struct part part, struct version *version)
{
	const char *plus = memchr(part.bytes, '+', part.len);

	if (plus) {
		size_t before = (size_t)(plus - part.bytes);

		if (!keep_label(skip(part, before + 1), version->metadata))
			return false;
		part.len = before;
	}
	if (part.len == 0)
		return true;
	return part.bytes[0] == '-' && keep_label(skip(part, 1), version->prerelease);
}

bool version_parse(const char *text, size_t len, struct version *ret_version)
{
	struct version version = {0};
	struct part part = trim((struct part){text, len});

	if (part.len > 0 && part.bytes[0] == 'v')
		part = skip(part, 1);
	if (!take_numbers(&part, &version) || !take_labels(part, &version))
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

/* Numbers of any length: the longer one without leading zeros is larger. */
static int compare_digits(struct part a, struct part b)
{
	while (a.len > 1 && a.bytes[0] == '0')
		a = skip(a, 1);
	while (b.len > 1 && b.bytes[0] == '0')
		b = skip(b, 1);
	if (a.len != b.len)
		return a.len < b.len ? -1 : 1;
	return sign(memcmp(a.bytes, b.bytes, a.len));
}

/* Numbers are below words. */
static int compare_label(struct part a, struct part b)
{
	const bool a_number = digits_len(a) == a.len, b_number = digits_len(b) == b.len;
	const size_t shorter = a.len < b.len ? a.len : b.len;
	int order;

	if (a_number && b_number)
		return compare_digits(a, b);
	if (a_number != b_number)
		return a_number ? -1 : 1;
	order = sign(memcmp(a.bytes, b.bytes, shorter));
	if (order == 0)
		order = (a.len > b.len) - (a.len < b.len);
	return order;
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
		int order = compare_label(take_label(&a), take_label(&b));

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
