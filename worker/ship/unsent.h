/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SHIP_UNSENT_H
#define WORKER_SHIP_UNSENT_H

/*
 * Results and states of ended applies that the scheduler does not have yet, in <data-dir>/unsent:
 *
 *     <job>-<attempt>.json      {"job":…,"token":…,"run":…,"folder":…,"digest":…}, the "result" if it has one, and
 *                               the resources that are "unrecorded" (ship/unrecorded.h; 0600)
 *     <job>-<attempt>.tfstate   the last state, if the scheduler has not got it
 *     <job>-<attempt>.refused   a last state that the scheduler would not take at all; for the operator
 *
 * While an apply runs, its note stands in its folder as job.json. When it has ended, it stands here until the scheduler
 * has its result and its last state: whatever kills the worker, the next one that starts with this folder tells the
 * rest: the result, the state, and then that no more will come, which ends the wait for it (proto/README, last-state).
 * A worker that starts looks through the folders that a killed one left in jobs/, too. The processes of an apply may
 * outlive their worker for a while: its keeper waits for the state that the engine writes at its end. The folder is
 * looked at when the keeper has ended (ship/record.h).
 *
 * An apply that changed resources and wrote no state that this worker saw has no last state here. The worker then says
 * nothing of it: the scheduler holds the workspace until a person decides, or until the apply's deadline.
 */

#include "proto/messages.h"
#include "worker/exec/workdir.h"
#include "worker/ship/results.h"

struct loop;
struct fetcher;
struct unsent;

struct unsent_spec {
	struct loop *loop;
	struct fetcher *fetcher;
	const char *scheduler_url;
	const char *data_dir;
	const char *groups; /* folder of the jobs' control groups, or NULL */
};

/* Borrows what the spec points to. ERR_INTERNAL. */
int unsent_open(const struct unsent_spec *spec, struct unsent **ret_unsent, struct err *err);
void unsent_free(struct unsent *unsent);

struct unsent_job {
	const char *job, *token, *run;
	const char *folder; /* the working directory, below the job's root */
	const char *digest; /* of the state that it begins with; "": none */
};

/* Notes in the folder of an apply that is about to start how another worker would end it. ERR_INTERNAL. */
int unsent_note(struct unsent *unsent, const struct workdir *dir, const struct unsent_job *job, struct err *err);
/* Notes that the engine has changed a resource. */
void unsent_changed(const struct workdir *dir);
/* How an apply has ended. */
struct unsent_end {
	const struct job_result *result; /* NULL if it has none any more (it is lost) */
	bool owed;                       /* the scheduler has not got its last state */
	json_t *unrecorded;              /* its unrecorded resources; borrowed */
};

/* An apply that was noted has ended. When this returns 0, everything that the scheduler does not know is on the disk,
 * and is being sent. A result alone is sent by results.h; a worker that starts before unsent_confirmed sends it again.
 * -1: the job's folder has to stay. */
int unsent_ended(struct unsent *unsent, const struct workdir *dir, const struct unsent_end *end);
/* Takes the note of an apply back whose last state no worker will ever have: its workspace stays held. */
void unsent_forget(const struct workdir *dir);
/* The scheduler has that attempt's result, or wants it no more. `awaited`: the lease had ended before the result came,
 * and the workspace is held until it is told that there is no more: that is told now. */
void unsent_confirmed(struct unsent *unsent, const char *job, int attempt, bool awaited);
/* For each folder of `jobs`, as soon as no process of its job is left: keeps what is left to be told of it, removes it,
 * and begins to tell. */
void unsent_recover(struct unsent *unsent, int jobs);
/* Calls `each` for the applies with something unsent, and for those of earlier workers that may still run. Heartbeats
 * name them, since a database that failed over may not know them. */
void unsent_each(const struct unsent *unsent, listed_fn each, void *data);

#endif
