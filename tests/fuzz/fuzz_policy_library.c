/* SPDX-License-Identifier: MPL-2.0 */
/* The readers of the standard imports. The first digit chooses one of them. Two parts, separated by a line end, are its
 * input. Each value that is read and written must be read again as the same. */
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "policy/library/decimal.h"
#include "policy/library/instant.h"
#include "policy/library/json.h"
#include "policy/library/version.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const struct run_limits limits = {.steps = 1000000, .timeout_ms = 20000, .memory_bytes = 64 << 20};

struct input {
	const char *first, *second;
	size_t first_len, second_len;
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void read_json(struct run *run, const struct input *input)
{
	struct output output = {0};
	struct json_error error;
	struct value value, again;

	if (!json_read(run, input->first, input->first_len, &value, &error)) {
		check(error.message && error.offset <= input->first_len);
		return;
	}
	check(json_write(run, &output, value));
	check(json_read(run, output.bytes, output.len, &again, &error));
	run_step(run, 1);
	output = (struct output){0};
	json_write(run, &output, again);
	check(json_read(run, output.bytes, output.len, &value, &error) && value_equal(run, value, again));
}

static void check_decimal(const struct decimal *decimal)
{
	char text[DECIMAL_TEXT_SIZE];
	struct decimal again;

	decimal_text(decimal, text);
	check(decimal_parse(text, strlen(text), &again));
	check(again.kind == decimal->kind && (decimal->kind == DECIMAL_NAN || decimal_compare(&again, decimal) == 0));
}

/* A float's shortest decimal reads back as that float, and an int as itself. */
static void check_conversions(const struct decimal *decimal)
{
	const double real = decimal_float(decimal);
	const struct decimal shortest = decimal_of_float(real);
	int64_t number, coefficient;

	check(decimal_float(&shortest) == real || decimal->kind == DECIMAL_NAN);
	if (decimal_int(decimal, &number)) {
		const struct decimal whole = decimal_of_int(number);
		int64_t again;

		check(decimal_int(&whole, &again) && again == number);
	}
	if (decimal_coefficient(decimal, &coefficient))
		check((coefficient != 0) == (decimal_sign(decimal) != 0));
}

static void read_decimals(struct run *run, const struct input *input)
{
	static struct decimal (*const binary[])(const struct decimal *, const struct decimal *) = {
		decimal_add, decimal_subtract, decimal_multiply, decimal_divide, decimal_remainder, decimal_power};
	static struct decimal (*const unary[])(const struct decimal *) = {decimal_exp, decimal_ln, decimal_log10,
		decimal_sqrt, decimal_ceiling, decimal_floor, decimal_absolute, decimal_negate};
	struct decimal a, b, result;

	(void)run;
	if (!decimal_parse(input->first, input->first_len, &a) || !decimal_parse(input->second, input->second_len, &b))
		return;
	check(decimal_compare(&a, &b) == 2 || decimal_compare(&a, &b) == -decimal_compare(&b, &a));
	for (size_t i = 0; i < ARRAY_LEN(binary); i++) {
		result = binary[i](&a, &b);
		check_decimal(&result);
	}
	for (size_t i = 0; i < ARRAY_LEN(unary); i++) {
		result = unary[i](&a);
		check_decimal(&result);
	}
	check_conversions(&a);
}

static void read_versions(struct run *run, const struct input *input)
{
	char text[VERSION_TEXT_SIZE];
	struct version version, again;

	(void)run;
	if (!version_parse(input->first, input->first_len, &version))
		return;
	version_text(&version, text);
	check(version_parse(text, strlen(text), &again) && version_compare(&version, &again) == 0);
	version_satisfies(&version, input->second, input->second_len);
}

static void check_local(struct tm local)
{
	check(local.tm_mon >= 0 && local.tm_mon < 12 && local.tm_mday >= 1 && local.tm_mday <= 31);
	check(local.tm_hour < 24 && local.tm_min < 60 && local.tm_sec < 60 && local.tm_wday >= 0 && local.tm_wday < 7);
}

static void read_times(struct run *run, const struct input *input)
{
	struct instant a, b, sum;
	int64_t difference;

	(void)run;
	if (!instant_parse(input->first, input->first_len, &a))
		return;
	check_local(instant_local(&a));
	if (!instant_parse(input->second, input->second_len, &b))
		return;
	check(instant_compare(&a, &b) == -instant_compare(&b, &a));
	difference = instant_sub(&a, &b);
	if (difference != INT64_MIN && difference != INT64_MAX)
		check(instant_add(&b, difference, &sum) && instant_compare(&sum, &a) == 0);
}

static void (*const readers[])(struct run *run, const struct input *input) = {
	read_json, read_decimals, read_versions, read_times};

struct call {
	struct input input;
	uint8_t reader;
};

static void read_input(struct run *run, void *data)
{
	const struct call *call = data;

	readers[call->reader % ARRAY_LEN(readers)](run, &call->input);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *text = (const char *)bytes + 1;
	const char *end;
	struct call call;
	struct run run;

	if (len == 0)
		return 0;
	end = memchr(text, '\n', len - 1);
	call.reader = (uint8_t)(bytes[0] - '0');
	call.input.first = text;
	call.input.first_len = end ? (size_t)(end - text) : len - 1;
	call.input.second = end ? end + 1 : text + len - 1;
	call.input.second_len = (size_t)((const char *)bytes + len - call.input.second);
	run_init(&run, &limits);
	run_protected(&run, read_input, &call);
	run_release(&run);
	return 0;
}
