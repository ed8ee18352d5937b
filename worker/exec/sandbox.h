/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_SANDBOX_H
#define WORKER_EXEC_SANDBOX_H

/*
 * The sandbox of a job's programs. With bwrap, a program sees:
 *
 *  - the system's programs and libraries, a few files of /etc for name resolution and TLS, the engine, and the
 *    provider packages that it may use, all read-only;
 *  - its own folder, and a /tmp in memory;
 *  - its own processes in a read-only /proc.
 *
 * It does not see the worker's environment, files and processes, or other jobs. System calls that no job needs fail
 * (syscall_filter.h). The network is the job's own (worker/network), the machine's, or none.
 *
 * "none" only gives a clean environment: the job runs as the worker's user and can read what that user can.
 */

#include "common/buf.h"
#include "worker/engine/variables.h"

struct err;
struct etc;

struct sandbox {
	char *bwrap;          /* path of the program, or NULL: no sandbox; owned */
	char *program;        /* path of runyard-sandbox, if there is bwrap; owned */
	const char *binds;    /* more read-only paths, comma separated; may be "" */
	const char *trust;    /* the CA file that SSL_CERT_FILE names, or NULL */
	const char *mirror;   /* a folder of providers to mount at its own path, or NULL */
	const char *data_dir; /* the worker's; all folders of struct sandbox_job are below it */
	const char *store;    /* the worker's provider cache */
	const char *hooks;    /* folder of hooks that run in the sandbox, or NULL; they alone see it, read-only */
	struct etc *etc;      /* for bwrap; owned */
	struct buf filter;    /* seccomp filter for bwrap (syscall_filter.h); owned */
	long long tmp;        /* limit of /tmp in bytes; 0: half of the machine's memory */
};

/* The view of one job. All are paths on the machine. */
struct sandbox_job {
	const char *root;       /* the job's own folder */
	bool read_only;         /* the job may not write to its folder */
	const char *cli_config; /* the engine's CLI configuration, or NULL */
	const char *engine;     /* the program */
	const char *packages;   /* the provider packages of its organization, or NULL */
	const char *cache;      /* a folder that the job may write and that outlives it, or NULL */
};

/* Paths as the job sees them. They are fixed inside bwrap, so that a plan that was made on one worker fits on
 * another. Without bwrap they are the machine's own paths. */
const char *sandbox_store(const struct sandbox *sandbox); /* borrowed */
/* The organization's packages. `packages` is their path on the machine. Borrowed. */
const char *sandbox_packages(const struct sandbox *sandbox, const char *packages);
char *sandbox_path(
	const struct sandbox *sandbox, const struct sandbox_job *job, const char *path); /* below root; freed */
/* The cache. `cache` is its path on the machine. Borrowed. */
const char *sandbox_cache(const struct sandbox *sandbox, const char *cache);
const char *sandbox_cli_config(const struct sandbox *sandbox, const struct sandbox_job *job); /* borrowed */

enum { SANDBOX_NO_BASE = 0 };

struct sandbox_command {
	const char *hook;   /* file of the folder of hooks that is started instead of the engine, or NULL */
	const char *folder; /* working directory, as the job sees it */
	const struct texts *args;
	const struct texts *env;
	bool offline; /* without a network; bwrap only */
	int base;     /* the base to start it in (sandbox/base.h; borrowed), or SANDBOX_NO_BASE: bwrap starts it */
};

struct sandbox_start {
	struct texts argv;
	struct texts env;   /* of argv[0]; empty with a sandbox: the job's environment is in args_fd */
	const char *folder; /* working directory of argv[0]; borrowed */
	int args_fd;        /* becomes the child's descriptor 3, or -1: bwrap's arguments, or the view; owned */
	int second_fd;      /* becomes the child's descriptor 4, or -1: the system call filter, or the base; owned */
};

#define SANDBOX_START_INIT                                                                                             \
	{                                                                                                              \
		.args_fd = -1, .second_fd = -1                                                                         \
	}

/* Prepares the start of a program. A job's environment may hold secrets and LD_PRELOAD. So it is passed in a memory
 * file: it is in no command line and affects no program outside of the sandbox. ERR_INTERNAL, ERR_TOO_LARGE. */
int sandbox_prepare(const struct sandbox *sandbox, const struct sandbox_job *job, const struct sandbox_command *command,
	struct sandbox_start *ret_start, struct err *err);
void sandbox_start_release(struct sandbox_start *start);
/* Makes a memory file with these bytes, positioned at its start. ERR_INTERNAL. */
int memory_file(const char *name, const struct buf *bytes, int *ret_fd, struct err *err);
/* Adds the command line of bwrap that makes a base for an engine. */
void sandbox_base_arguments(const struct sandbox *sandbox, const char *engine, struct texts *args);
/* Finds bwrap in PATH and runs it once, which takes a few milliseconds. `offline`: runs it without a network,
 * because jobs have none. ERR_INVALID with advice if bwrap is missing or may not run; the sandbox is unchanged then. */
int sandbox_open(struct sandbox *sandbox, bool offline, struct err *err);
/* Frees the members that the sandbox owns. */
void sandbox_release(struct sandbox *sandbox);

#endif
