/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/helper/confine.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base.h"
#include "common/err.h"
#include "common/process.h"

enum { MEMORY_MAX = 512 << 20, NOBODY = 65534 };

/* ---- what the system may not offer ---- */

/* A process of root changes to the account, or to nobody. */
static int account_change(const char *name, struct err *err)
{
	const struct passwd *account;
	uid_t uid = NOBODY;
	gid_t gid = NOBODY;

	if (geteuid() != 0)
		return 0;
	account = getpwnam(name);
	if (account) {
		uid = account->pw_uid;
		gid = account->pw_gid;
	}
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return err_errno(err, "changing the account of the helper");
	return 0;
}

/* Without the right to make namespaces, the system call filter alone keeps this process from the network. */
static void network_leave(void)
{
	if (unshare(geteuid() == 0 ? CLONE_NEWNET | CLONE_NEWIPC : CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) < 0)
		errno = 0;
}

/* ---- limits ---- */

static int limit(int resource, rlim_t max, const char *what, struct err *err)
{
	const struct rlimit value = {max, max};

	return setrlimit(resource, &value) < 0 ? err_errno(err, what) : 0;
}

static int limits_set(struct err *err)
{
#ifndef __SANITIZE_ADDRESS__
	/* The address sanitizer reserves terabytes. */
	if (limit(RLIMIT_AS, MEMORY_MAX, "RLIMIT_AS", err) < 0)
		return -1;
#endif
	signal(SIGXFSZ, SIG_IGN); /* a message to a log file fails, and does not end the process */
	return limit(RLIMIT_FSIZE, 0, "RLIMIT_FSIZE", err) < 0 ? -1 : limit(RLIMIT_CORE, 0, "RLIMIT_CORE", err);
}

/* ---- system calls ---- */

static void context_release(scmp_filter_ctx *context)
{
	if (*context)
		seccomp_release(*context);
}

static int rules_add(scmp_filter_ctx context)
{
	const struct {
		int call;
		unsigned count;
		struct scmp_arg_cmp condition;
	} rules[] = {
#define ALLOW(call)         {SCMP_SYS(call), 0, {.arg = 0}},
#define ALLOW_IF(call, ...) {SCMP_SYS(call), 1, __VA_ARGS__},
#include "scheduler/helper/syscalls.def"
#undef ALLOW
#undef ALLOW_IF
	};
	int code = 0;

	for (size_t i = 0; i < ARRAY_LEN(rules) && code == 0; i++)
		code = seccomp_rule_add_array(
			context, SCMP_ACT_ALLOW, rules[i].call, rules[i].count, &rules[i].condition);
	return code;
}

static int calls_filter(struct err *err)
{
	_cleanup_(context_release) scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int code = context ? rules_add(context) : -ENOMEM;

	if (code == 0)
		code = seccomp_load(context);
	return code == 0 ? 0
			 : err_set(err, ERR_INTERNAL, "the system call filter can't be loaded: %s", strerror(-code));
}

int confine(const char *account, struct err *err)
{
	network_leave();
	if (account_change(account, err) < 0)
		return -1;
	process_protect(); /* after the change of the account, which undoes it */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_errno(err, "PR_SET_NO_NEW_PRIVS");
	return limits_set(err) < 0 ? -1 : calls_filter(err);
}
