/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_HOOKS_HOOKS_H
#define WORKER_HOOKS_HOOKS_H

/*
 * The operator's programs around the plans and applies of jobs: files of --hooks-dir with fixed names. The worker looks
 * for them once, when it starts. Each must be executable. Only root and the worker's account may write it and the
 * folders above it, because a trusted hook runs outside of the sandbox.
 */

#include <stdint.h>

#include "common/base.h"

struct err;

enum hook_kind { HOOK_PRE_PLAN, HOOK_POST_PLAN, HOOK_PRE_APPLY, HOOK_POST_APPLY, HOOK_COUNT };

struct hooks {
	const char *folder;       /* absolute; "": there are no hooks. Borrowed */
	bool trusted;             /* they run outside of the sandbox, as the worker's account */
	int64_t seconds;          /* time limit of each */
	bool present[HOOK_COUNT]; /* set by hooks_find */
};

/* "pre-plan". */
const char *hook_name(enum hook_kind kind);
/* The name of the hook's file. */
const char *hook_file(enum hook_kind kind);
/* Finds the hooks of the folder and checks them. ERR_INVALID, which says what to do. */
int hooks_find(struct hooks *hooks, struct err *err);
/* Checks a present hook again, before it is started. ERR_INVALID. */
int hook_check(const struct hooks *hooks, enum hook_kind kind, struct err *err);
/* Names of the present hooks, separated by commas, or "none". The caller frees it. */
char *hooks_text(const struct hooks *hooks);

#endif
