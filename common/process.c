/* SPDX-License-Identifier: MPL-2.0 */
#include "common/process.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base.h"
#include "common/err.h"

/* Of an installation, from the folder of its programs (deploy/install.cmake). */
#define HELPERS "../libexec/runyard"

int descriptors_raise(
	unsigned long long least, unsigned long long wanted, unsigned long long *ret_limit, struct err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return err_errno(err, "RLIMIT_NOFILE");
	if (limit.rlim_cur < wanted) {
		limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur < least)
		return err_set(err, ERR_INVALID,
			"too few descriptors: this process may open %llu and needs %llu; raise the limit "
			"(ulimit -n, LimitNOFILE= of systemd, --ulimit nofile of a container)",
			(unsigned long long)limit.rlim_cur, least);
	*ret_limit = limit.rlim_cur;
	return 0;
}

int port_file_write(const char *path, int port, struct err *err)
{
	_cleanup_(freep) char *draft = mem_printf("%s.new", path);
	FILE *file = *path ? fopen(draft, "we") : NULL;
	bool written;

	if (!*path)
		return 0;
	if (!file)
		return err_errno(err, draft);
	written = fprintf(file, "%d\n", port) > 0;
	written = fclose(file) == 0 && written;
	return written && rename(draft, path) == 0 ? 0 : err_errno(err, path);
}

char *process_helper(const char *name)
{
	char folder[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	char *beside;

	folder[len > 0 ? len : 0] = '\0';
	if (strrchr(folder, '/'))
		strrchr(folder, '/')[1] = '\0';
	beside = mem_printf("%s%s", folder, name);
	if (access(beside, X_OK) == 0)
		return beside;
	free(beside);
	return mem_printf("%s" HELPERS "/%s", folder, name);
}

void process_protect(void)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
}
