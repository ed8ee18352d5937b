/* SPDX-License-Identifier: MPL-2.0 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/exec/beneath.h"
#include "worker/policy/evaluator.h"
#include "worker/policy/sets.h"

enum { CHUNK = 1 << 16 };

void judgement_release(struct judgement *judgement)
{
	json_decref(judgement->says);
	judgement->says = NULL;
}

int shared_create(const struct shared *shared, const char *name, struct err *err)
{
	_cleanup_(freep) char *path = mem_printf("shared/%s", name);
	int fd;

	if (beneath_parents(shared->root, path) < 0)
		return err_errno(err, path);
	fd = beneath_open(shared->root, path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	return fd < 0 ? err_errno(err, path) : fd;
}

int shared_copy_plan(const struct shared *shared, int to, struct err *err)
{
	_cleanup_(freep) char *chunk = mem_new(1, CHUNK);
	ssize_t got;
	off_t at = 0;

	while ((got = pread(shared->plan, chunk, CHUNK, at)) > 0) {
		if (write_fully(to, chunk, (size_t)got) < 0)
			return err_errno(err, "a copy of the plan");
		at += got;
	}
	return got < 0 ? err_errno(err, "the plan") : 0;
}

int shared_link(
	const struct shared *shared, const struct policy_set *set, const char *name, const char *path, struct err *err)
{
	_cleanup_(freep) char *from = mem_printf("shared/%s", name);
	_cleanup_(freep) char *to = mem_printf("%s/%s", set->folder, path);
	const char *slash = strrchr(to, '/');
	_cleanup_(freep) char *folder = mem_printf("%.*s", (int)(slash - to), to);
	_cleanup_(closep) int into = -1;

	if (beneath_parents(shared->root, to) < 0 || beneath_remove(shared->root, to) < 0)
		return err_errno(err, to);
	into = beneath_open(shared->root, folder, O_RDONLY | O_DIRECTORY, 0);
	if (into < 0 || linkat(shared->root, from, into, slash + 1, 0) < 0)
		return err_errno(err, to);
	return 0;
}
