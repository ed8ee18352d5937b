/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/core/output.h"

#include <string.h>

static void grow(struct run *run, struct output *output, size_t needed)
{
	size_t capacity = output->capacity ? output->capacity : 64;
	char *grown;

	while (capacity < needed)
		capacity *= 2;
	grown = run_alloc(run, capacity, 1);
	if (output->len > 0)
		memcpy(grown, output->bytes, output->len);
	output->bytes = grown;
	output->capacity = capacity;
}

void output_add(struct run *run, struct output *output, const char *bytes, size_t len)
{
	if (len > MAX_STRING - output->len)
		run_fail_limit(run, "a string's length, 256 MiB,", NULL);
	run_step_bytes(run, len);
	if (output->len + len > output->capacity)
		grow(run, output, output->len + len);
	if (len > 0)
		memcpy(output->bytes + output->len, bytes, len);
	output->len += len;
}

void output_text(struct run *run, struct output *output, const char *text)
{
	output_add(run, output, text, strlen(text));
}

void run_print(struct run *run, const char *bytes, size_t len)
{
	if (len > MAX_PRINTED - run->printed.len)
		run_fail_limit(run, "printed output, 512 KiB,", NULL);
	output_add(run, &run->printed, bytes, len);
}
