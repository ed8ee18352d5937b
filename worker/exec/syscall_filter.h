/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_SYSCALL_FILTER_H
#define WORKER_EXEC_SYSCALL_FILTER_H

/*
 * The seccomp filter of a job's programs. System calls that no engine, provider or provisioner needs fail
 * (syscall_filter.def). All calls of foreign ABIs (32-bit and x32) fail too.
 */

#include "common/buf.h"

struct err;

enum { SYSCALL_FILTER_LIMIT = 64 * 1024 };

/* Appends the filter as a BPF program, in the form that bwrap --seccomp reads. ERR_INTERNAL. */
int syscall_filter_build(struct buf *program, struct err *err);

#endif
