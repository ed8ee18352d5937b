/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_KEEPER_KEEPER_H
#define WORKER_KEEPER_KEEPER_H

/*
 * runyard-keeper supervises one program of a job on behalf of the worker. It is a separate process, so its guarantees
 * hold while the worker is stopped, killed or busy:
 *
 *  1. If the order to start arrives after the lease has ended, the keeper starts nothing.
 *  2. A program that does not outlive its lease is interrupted, and then killed, before the lease ends, unless the
 *     worker renews the lease. A program with a deadline is interrupted, and then killed, by the deadline. No order
 *     moves a deadline, and the keeper enforces it without the worker or a scheduler.
 *  3. The keeper is a child subreaper: orphaned processes below it become its children, in whatever session or group
 *     they are. When the program ends or is killed, the keeper kills all of them. It ends after the last one.
 *  4. When the worker is gone (its end of the socket is closed) and `grace_ms` is 0, the keeper kills everything at
 *     once. Otherwise it interrupts a program that stops in order, as soon as one of its processes handles SIGINT. Any
 *     other program goes on. The keeper kills all remaining processes after `grace_ms`, and reads the program's output
 * until then.
 *  5. A program that exceeds a limit of the job is stopped in order, and then killed.
 *
 * The keeper interrupts the program at most once: terraform and tofu exit without writing their state at a second
 * interrupt.
 *
 * If the keeper itself is killed, the kernel sends the program a SIGKILL. The death of a sandbox's first process ends
 * the sandbox's other processes. Remaining processes become the worker's children, and the worker kills them
 * (exec/child).
 *
 * Usage: `runyard-keeper PROGRAM ARGUMENT...`. Environment, folder and descriptors 0 to 4 are the program's. KEEPER_FD
 * is a SOCK_SEQPACKET socket. Its first datagram is a struct keeper_order of the kind KEEPER_START; more may follow.
 * With the term `network`, KEEPER_USER_FD and KEEPER_NET_FD are a user namespace and a network namespace that it owns:
 * the program starts in both, the keeper itself stays outside. When no process is left, the keeper sends one struct
 * keeper_report and ends.
 *
 * Three more descriptors are optional, and the program gets none of them:
 *
 *  - KEEPER_OUTPUT_FD is the read end of the program's output, in non-blocking mode.
 *  - KEEPER_COPY_FD: once the worker is gone, the keeper appends the rest of the output to it, KEEPER_COPY_MAX bytes
 *    at most.
 *  - KEEPER_HELD_FD stays open until the keeper ends.
 *
 * All times are milliseconds of CLOCK_BOOTTIME. Like leases, this clock goes on while the machine sleeps.
 */

#include <stdbool.h>
#include <stdint.h>

/* All but the first are optional; the two namespaces are present if the terms have `network`. */
enum { KEEPER_FD = 5, KEEPER_USER_FD, KEEPER_NET_FD, KEEPER_OUTPUT_FD, KEEPER_COPY_FD, KEEPER_HELD_FD, KEEPER_FDS_END };
enum { KEEPER_GROUP_SIZE = 1024, KEEPER_COPY_MAX = 16 * 1024 * 1024 };

/* When a program that does not outlive its lease is interrupted, and when it is killed. Both 0: there is no lease. */
struct keeper_lease {
	int64_t interrupt_ms;
	int64_t kill_ms;
};

/* 0: no limit. The keeper measures the first two a few times a second, over all processes together. The kernel
 * enforces the others for each process. */
struct keeper_limits {
	int64_t memory;    /* bytes of its own memory, in RAM or swapped; mapped files don't count */
	int64_t processes; /* at the same time */
	int64_t file_size; /* bytes of one file */
	int64_t addresses; /* bytes of address space */
};

/* The terms on which a program is started. */
struct keeper_terms {
	struct keeper_lease lease;
	struct keeper_lease deadline; /* also holds for a program that outlives its lease; both 0: none */
	struct keeper_limits limits;
	int64_t stop_ms;               /* time to stop in order after it exceeded a limit */
	int64_t grace_ms;              /* time that it may go on when the worker is gone; 0: it is killed at once */
	bool in_order;                 /* an interrupt stops it in order; otherwise it is killed at once */
	bool outlives;                 /* once it is started, the lease does not stop it */
	bool low_priority;             /* of the CPU */
	bool network;                  /* it starts in the given namespaces */
	char group[KEEPER_GROUP_SIZE]; /* cgroup.procs of its control group, or "": it stays in the keeper's */
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

/* Why the program was stopped. */
enum keeper_why {
	KEEPER_ENDED, /* it ended by itself, or an order ended it */
	KEEPER_LEASE,
	KEEPER_DEADLINE,
	KEEPER_MEMORY,
	KEEPER_PROCESSES,
};

struct keeper_report {
	int status; /* the program's status of waitpid */
	int error;  /* errno, if it could not be started */
	enum keeper_why why;
};

#endif
