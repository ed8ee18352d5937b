/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/syscall_filter.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/err.h"

struct rule {
	int call;  /* libseccomp's number; negative if this architecture has no such call */
	int error; /* errno of the failing call */
	unsigned count;
	struct scmp_arg_cmp condition;
};

static const struct rule rules[] = {
#define DENY(call, error)         {SCMP_SYS(call), error, 0, {.arg = 0}},
#define DENY_IF(call, error, ...) {SCMP_SYS(call), error, 1, {__VA_ARGS__}},
#include "worker/exec/syscall_filter.def"
#undef DENY
#undef DENY_IF
};

static void context_release(scmp_filter_ctx *context)
{
	if (*context)
		seccomp_release(*context);
}

/* Returns 0, or a negative errno as libseccomp does. */
static int rules_add(scmp_filter_ctx context)
{
	int code = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));

	/* A binary tree looks each call up in few steps, which matters because jobs make many calls. */
	if (code == 0)
		code = seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	for (size_t i = 0; i < ARRAY_LEN(rules) && code == 0; i++)
		code = seccomp_rule_add_array(context, SCMP_ACT_ERRNO((uint32_t)rules[i].error), rules[i].call,
			rules[i].count, &rules[i].condition);
	return code;
}

int syscall_filter_build(struct buf *program, struct err *err)
{
	_cleanup_(context_release) scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
	_cleanup_(closep) int fd = memfd_create("filter", MFD_CLOEXEC);
	int code = context ? rules_add(context) : -ENOMEM;

	if (fd < 0)
		return err_errno(err, "memfd_create for the system call filter");
	if (code == 0)
		code = seccomp_export_bpf(context, fd);
	if (code < 0)
		return err_set(err, ERR_INTERNAL, "libseccomp can't build the system call filter: %s", strerror(-code));
	if (lseek(fd, 0, SEEK_SET) < 0 || buf_read(program, fd) < 0)
		return err_errno(err, "reading the system call filter");
	return 0;
}
