/* SPDX-License-Identifier: MPL-2.0 */
/* Archives that clients upload: configurations, in which the README of their folder is searched. */
#include <stdlib.h>

#include "common/err.h"
#include "scheduler/api/workspaces/archive.h"
#include "tests/fuzz/archive_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	_cleanup_(buf_release) struct buf archive = BUF_INIT(1 << 20);
	_cleanup_(buf_release) struct buf file = BUF_INIT(4096);
	struct err err = ERR_INIT;
	bool found = false;

	archive_input(bytes, len, &archive);
	if (archive_check(archive.data, archive.len, &err) < 0 && err.kind != ERR_INVALID)
		abort();
	archive_file(buf_bytes(&archive), "modules/network", "README.md", &file, &found);
	if (!found && file.len)
		abort();
	return 0;
}
