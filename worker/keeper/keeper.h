/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_KEEPER_KEEPER_H
#define WORKER_KEEPER_KEEPER_H

/*
 * runyard-keeper stands between the worker and each program of a job. It is a process of its own, so that what it
 * promises holds while the worker is stopped, killed or busy:
 *
 *  1. When its order to start comes after the lease, it starts nothing.
 *  2. A program that doesn't outlive its lease is interrupted, and then killed, before the lease ends, unless the
 *     worker has renewed it till then. A program with a deadline is interrupted, and then killed, by the deadline. No
 *     order moves a deadline, and neither the worker nor a scheduler is needed to enforce it.
 *  3. It is a child subreaper: whoever loses his parent below it becomes its own child, whatever session or group he
 *     made for himself. When the program has ended, or is killed, so are all of them, and it ends after the last.
 *  4. When the worker is gone (its end of the socket is closed), everything is killed at once if `grace_ms` is 0. Else
 *     a program that stops in order is interrupted, as soon as one of its processes handles SIGINT, and any other
 *     goes on. The keeper kills the rest after `grace_ms`. Meanwhile the keeper reads the program's output.
 *  5. Meeting a limit of the job stops the program: first in order, then for good.
 *
 * The program is interrupted at most once: terraform and tofu take a second interrupt as the order to exit without
 * their state.
 *
 * Should somebody kill the keeper, the program gets a SIGKILL from the kernel (a sandbox's first process takes the rest
 * along), and what is left becomes the worker's child, which kills it (exec/child).
 *
 * Called as `runyard-keeper PROGRAM ARGUMENT...` with its environment, folder and descriptors 0 to 4 being the
 * program's, and KEEPER_FD a SOCK_SEQPACKET socket. The first datagram there is a struct keeper_order of the kind
 * KEEPER_START; more may follow. With the term `network`, KEEPER_USER_FD and KEEPER_NET_FD are a user namespace and a
 * network namespace that it owns: the program starts in both, the keeper itself stays outside. It answers once, with a
 * struct keeper_report, when nothing is left, and ends.
 *
 * Three more descriptors are optional, and the program gets none of them. KEEPER_OUTPUT_FD is the read end of the
 * program's output, which must not block. Once the worker is gone, the keeper appends what it reads there to
 * KEEPER_COPY_FD, KEEPER_COPY_MAX bytes at most. KEEPER_HELD_FD stays open until the keeper ends.
 *
 * All times are milliseconds of CLOCK_BOOTTIME, which goes on while the machine sleeps, as leases do.
 */

#include <stdbool.h>
#include <stdint.h>

/* All but the first are optional; the two namespaces are there if the terms say so. */
enum { KEEPER_FD = 5, KEEPER_USER_FD, KEEPER_NET_FD, KEEPER_OUTPUT_FD, KEEPER_COPY_FD, KEEPER_HELD_FD, KEEPER_FDS_END };
enum { KEEPER_GROUP_SIZE = 1024, KEEPER_COPY_MAX = 16 * 1024 * 1024 };

/* When a program that is not to outlive its lease is told to stop, and when it is dead. Both 0: there is no lease. */
struct keeper_lease {
	int64_t interrupt_ms;
	int64_t kill_ms;
};

/* 0: none. The first two are of all processes together, and looked at a few times a second; the others are the
 * kernel's, for each process. */
struct keeper_limits {
	int64_t memory;    /* bytes of its own memory, in RAM or swapped; files that are mapped don't count */
	int64_t processes; /* at a time */
	int64_t file_size; /* bytes of one file */
	int64_t addresses; /* bytes of address space */
};

/* What a program is started with. */
struct keeper_terms {
	struct keeper_lease lease;
	struct keeper_lease deadline; /* holds for a program that outlives its lease, too; both 0: none */
	struct keeper_limits limits;
	int64_t stop_ms;               /* how long it may take to stop when it met a limit */
	int64_t grace_ms;              /* how long it may go on when the worker is gone; 0: it is killed at once */
	bool in_order;                 /* an interrupt stops it in order; others are killed at once */
	bool outlives;                 /* once started, its lease is nothing to it */
	bool aside;                    /* it leaves the processor to others */
	bool network;                  /* it starts in the given namespaces */
	char group[KEEPER_GROUP_SIZE]; /* its control group's cgroup.procs, or "": it stays in the keeper's */
};

enum keeper_kind {
	KEEPER_START,     /* `terms` */
	KEEPER_RENEW,     /* `terms.lease` */
	KEEPER_INTERRUPT, /* SIGINT to the program's group */
	KEEPER_KILL,
};

struct keeper_order {
	enum keeper_kind kind;
	struct keeper_terms terms;
};

/* Why it was stopped. */
enum keeper_why {
	KEEPER_ENDED, /* by itself, or by order */
	KEEPER_LEASE,
	KEEPER_DEADLINE,
	KEEPER_MEMORY,
	KEEPER_PROCESSES,
};

struct keeper_report {
	int status; /* waitpid's of the program */
	int error;  /* errno, if it could not be started */
	enum keeper_why why;
};

#endif
