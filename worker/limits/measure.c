/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/limits/measure.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "worker/exec/tree.h"

enum { ENTRY_BYTES = 512 };

struct measure {
	dev_t device;
	int64_t bytes, max;
};

static enum tree_step measure_entry(void *data, int folder, const char *name)
{
	struct measure *measure = data;
	struct stat info;

	if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0 || info.st_dev != measure->device)
		return TREE_NEXT;
	measure->bytes += (int64_t)info.st_blocks * 512 + ENTRY_BYTES;
	if (measure->bytes > measure->max)
		return TREE_STOP;
	return S_ISDIR(info.st_mode) ? TREE_ENTER : TREE_NEXT;
}

int64_t measure_folder(int folder, int64_t max)
{
	struct measure measure = {.max = max};
	const struct tree_visit visit = {.entry = measure_entry, .data = &measure};
	struct stat info;

	if (fstat(folder, &info) < 0)
		return 0;
	measure.device = info.st_dev;
	tree_walk(folder, ".", &visit);
	return measure.bytes;
}
