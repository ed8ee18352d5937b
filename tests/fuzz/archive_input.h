/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_FUZZ_ARCHIVE_INPUT_H
#define TESTS_FUZZ_ARCHIVE_INPUT_H

/*
 * An input that begins with 'z' is a tar that is wrapped in gzip, so that changed bytes reach the tar reader and do
 * not fail at a checksum. Other inputs are used as they are.
 */

#include <stdint.h>
#include <zlib.h>

#include "common/buf.h"

static inline void archive_input(const uint8_t *bytes, size_t len, struct buf *out)
{
	z_stream stream = {.next_in = (Bytef *)(len ? bytes + 1 : bytes), .avail_in = len ? (uInt)len - 1 : 0};
	uint8_t packed[64 * 1024];

	if (!len || *bytes != 'z' || deflateInit2(&stream, 0, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		buf_append(out, bytes, len);
		return;
	}
	stream.next_out = packed;
	stream.avail_out = sizeof(packed);
	deflate(&stream, Z_FINISH);
	buf_append(out, packed, sizeof(packed) - stream.avail_out);
	deflateEnd(&stream);
}

#endif
