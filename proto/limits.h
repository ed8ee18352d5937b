/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_LIMITS_H
#define PROTO_LIMITS_H

/* Bounds that a worker or notifier and the scheduler must agree on (README.md in this folder). */

enum {
	MAX_STATE_BYTES = 256 << 20, /* of a state as terraform wrote it; a larger state is neither sent nor accepted */
	MAX_ANNOUNCED_JOBS = 2048,   /* of a heartbeat: jobs of messages that the worker has read */
	MAX_TASK_OUTCOMES = 250,     /* of a task result, in all reports about it together */
	MAX_RESCUE_HEAD = 16 << 20,  /* of what is in a rescue object beside the state */
};

#endif
