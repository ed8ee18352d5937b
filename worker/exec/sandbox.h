/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_SANDBOX_H
#define WORKER_EXEC_SANDBOX_H

/*
 * What a job's program sees of the machine. With bwrap: the system's programs and libraries, the few files of /etc that
 * name resolution and TLS need, the engine and the provider packages that it may use, all read-only; its own folder; a
 * /tmp in memory; and its own processes in a read-only /proc. Not: the worker's environment, files and processes, or
 * other jobs. System calls that no job needs fail (syscall_filter.h). The network is the job's own (worker/network),
 * the machine's, or none.
 *
 * "none" gives a clean environment and no more: the job runs as the worker's user and can read what that user can.
 */

#include "common/buf.h"
#include "worker/exec/variables.h"

struct err;
struct etc;

struct sandbox {
	char *bwrap;        /* the program, or NULL: none; owned */
	const char *binds;  /* more read-only paths, comma separated; may be "" */
	const char *trust;  /* the file of CAs that SSL_CERT_FILE names, or NULL */
	const char *mirror; /* a folder of providers to show as it is, or NULL */
	const char *store;  /* the worker's provider cache */
	struct etc *etc;    /* for bwrap; owned */
	struct buf filter;  /* of system calls, for bwrap (syscall_filter.h); owned */
	long long tmp;      /* bytes that /tmp may hold; 0: half of the machine's memory */
};

/* One job's view. All are paths on the machine. */
struct sandbox_job {
	const char *root;       /* the job's own folder */
	bool read_only;         /* it may not write there */
	const char *cli_config; /* the engine's CLI configuration, or NULL */
	const char *engine;     /* the program */
	const char *packages;   /* the provider packages of its organization, or NULL */
};

/* Where the three stand as the job sees them: fixed inside bwrap, so that a plan made on one worker fits on another;
 * the machine's own paths without it. Borrowed, or to be freed, as said. */
const char *sandbox_store(const struct sandbox *sandbox); /* borrowed */
/* The organization's packages, which the machine has at that path. Borrowed. */
const char *sandbox_packages(const struct sandbox *sandbox, const char *packages);
char *sandbox_path(
	const struct sandbox *sandbox, const struct sandbox_job *job, const char *path);      /* below root; freed */
const char *sandbox_cli_config(const struct sandbox *sandbox, const struct sandbox_job *job); /* borrowed */

struct sandbox_command {
	const char *folder; /* to start in, as the job sees it */
	const struct texts *args;
	const struct texts *env;
	bool offline; /* without a network; bwrap only */
};

struct sandbox_start {
	struct texts argv;
	struct texts env;   /* of argv[0]; for bwrap empty: the job's own stands in the arguments' file */
	const char *folder; /* to start argv[0] in; borrowed */
	int args_fd;        /* to be the child's descriptor 3, or -1; owned */
	int filter_fd;      /* to be the child's descriptor 4, or -1; owned */
};

#define SANDBOX_START_INIT                                                                                             \
	{                                                                                                              \
		.args_fd = -1, .filter_fd = -1                                                                         \
	}

/* How to start it. A job's environment may hold secrets, and may hold LD_PRELOAD: it is handed to bwrap in a file in
 * memory, so that it stands in no command line and changes no program outside the sandbox. ERR_INTERNAL. */
int sandbox_prepare(const struct sandbox *sandbox, const struct sandbox_job *job, const struct sandbox_command *command,
	struct sandbox_start *ret_start, struct err *err);
void sandbox_start_release(struct sandbox_start *start);
/* Finds bwrap in PATH and runs it once, which takes a few milliseconds; without a network if jobs are to have none.
 * ERR_INVALID with what to do if it isn't there or isn't allowed to work; the sandbox is as it was then. */
int sandbox_open(struct sandbox *sandbox, bool offline, struct err *err);
/* Frees what the sandbox owns. */
void sandbox_release(struct sandbox *sandbox);

#endif
