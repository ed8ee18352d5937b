/* SPDX-License-Identifier: MPL-2.0 */
#include "common/process.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include "common/err.h"

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

void process_protect(void)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
}
