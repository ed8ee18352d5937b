/* SPDX-License-Identifier: MPL-2.0 */
/* A configuration whose blocks are found. Each block is read again by itself, and must be the same. */
#include <stdint.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/hcl/blocks.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_block(const char *text, size_t len, const json_t *block)
{
	const size_t begin = (size_t)json_int_at(block, "begin", -1), end = (size_t)json_int_at(block, "end", -1);
	json_auto_t *again = NULL;
	struct err err = ERR_INIT;

	if (begin >= end || end > len || text[end - 1] != '}')
		abort();
	if (hcl_blocks(text + begin, end - begin, &again, &err) < 0 || json_array_size(again) != 1 ||
		!json_equal(json_at(json_array_get(again, 0), "attributes"), json_at(block, "attributes")))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *text = (const char *)bytes;
	json_auto_t *blocks = NULL;
	struct err err = ERR_INIT;
	const json_t *block;
	size_t i;

	if (hcl_blocks(text, len, &blocks, &err) < 0 && (err.kind != ERR_INVALID || !*err.message))
		abort();
	json_array_foreach(blocks, i, block)
	{
		check_block(text, len, block);
	}
	return 0;
}
