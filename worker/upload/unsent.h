/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_UNSENT_H
#define WORKER_UPLOAD_UNSENT_H

/*
 * Results and states of ended applies that the scheduler does not have yet. They are in <data-dir>/unsent:
 *
 *     <job>-<attempt>.json      {"job":…,"token":…,"run":…,"organization":…,"folder":…,"digest":…}, the "result" if it
 *                               has one, and the resources that are "unrecorded" (upload/unrecorded.h; 0600)
 *     <job>-<attempt>.tfstate   the last state, if the scheduler lacks it
 *     <job>-<attempt>.<organization>.refused
 *                               a last state that the scheduler did not accept at all; for the operator, who removes
 *                               it. Empty if its organization would have more than 1 GiB in these files
 *
 * So refused states take at most 1 GiB for each organization that the worker serves. A note of an earlier version has
 * no organization: its refused state is <job>-<attempt>.refused, and these files have 1 GiB together. A .tfstate file
 * without a .json file is a refused state, too: the worker was killed before it had renamed it.
 *
 * While an apply runs, its note is job.json in the job's folder. After the apply the note is kept here until the
 * scheduler has the result and the last state. If the worker dies, the next worker with this data directory delivers
 * the rest: the result, the state, and then the message that no more states follow. That message releases the
 * workspace (proto/README, last-state).
 *
 * At start, a worker also recovers the folders that a killed worker left in jobs/. The processes of an apply may
 * outlive their worker: the keeper waits for the state that the engine writes at its end. A folder is recovered only
 * after its keeper has ended (upload/record.h).
 *
 * If an apply changed resources but the worker saw no state of it, there is no last state here. The worker then
 * reports no last state, and the scheduler holds the workspace until a person releases it or the apply's deadline
 * passes.
 */

#include "proto/messages.h"
#include "worker/exec/workdir.h"
#include "worker/upload/result_sink.h"

struct loop;
struct fetcher;
struct rescue;
struct unsent;

struct unsent_spec {
	struct loop *loop;
	struct fetcher *fetcher;
	const char *scheduler_url;
	const char *data_dir;
	const char *groups;            /* folder of the jobs' control groups, or NULL */
	void (*settled)(void *data);   /* called when one more apply has nothing left to send */
	bool (*reachable)(void *data); /* whether the last request to the scheduler succeeded */
	void *data;
};

/* Borrows what the spec points to. ERR_INTERNAL. */
int unsent_open(const struct unsent_spec *spec, struct unsent **ret_unsent, struct err *err);
void unsent_free(struct unsent *unsent);

struct unsent_job {
	const char *job, *token, *run;
	const char *organization; /* its id */
	const char *folder;       /* the working directory, below the job's root */
	const char *digest;       /* of the state that the apply starts from; "": none */
};

/* Writes the note of an apply that is about to start into its folder, so that another worker can finish it.
 * ERR_INTERNAL. */
int unsent_note(struct unsent *unsent, const struct workdir *dir, const struct unsent_job *job, struct err *err);
/* Records that the engine has changed a resource. */
void unsent_changed(const struct workdir *dir);
/* The outcome of an ended apply. */
struct unsent_end {
	const struct job_result *result; /* NULL if there is none, because the job was lost */
	bool owed;                       /* the scheduler lacks the apply's last state */
	json_t *unrecorded;              /* its unrecorded resources; borrowed */
	struct rescue *rescue;           /* or NULL; taken if unsent_ended returns 0 */
};

/* Handles the end of an apply that has a note. If it returns 0, everything that the scheduler lacks is on the disk
 * and is being sent. If only the result is missing, results.h sends it; a worker that starts before unsent_confirmed
 * sends it again. Returns -1 if the job's folder must stay. */
int unsent_ended(struct unsent *unsent, const struct workdir *dir, const struct unsent_end *end);
/* Removes the note from the apply's folder. Its last state was kept elsewhere, or is lost: then its workspace stays
 * held. */
void unsent_forget(const struct workdir *dir);
/* The scheduler has the attempt's result, or no longer wants it. `awaited`: the lease had ended before the result
 * arrived, and the scheduler holds the workspace until it hears that no more states follow. This function sends that
 * message. */
void unsent_confirmed(struct unsent *unsent, const char *job, int attempt, bool awaited);
/* Recovers each folder of `jobs` as soon as no process of its job is left: keeps what must still be sent, removes
 * the folder, and starts to send. */
void unsent_recover(struct unsent *unsent, int jobs);
/* The number of applies with data that is being sent. One whose result the scheduler refuses does not count: it is sent
 * again once a minute. */
size_t unsent_sending(const struct unsent *unsent);
/* Uploads the unsent data to the object store at once, where that is possible (rescue/rescue.h). */
void unsent_hurry(struct unsent *unsent);
/* The number of applies whose unsent data the object store has. *ret_results: how many more lack only the confirmation
 * of their result, and the object store has the result. */
size_t unsent_rescued(const struct unsent *unsent, size_t *ret_results);
/* The number of applies with unsent data, and of those of earlier workers that may still run. */
size_t unsent_count(const struct unsent *unsent);
/* Calls `each` for the applies with unsent data, and for those of earlier workers that may still run. Heartbeats
 * list them, since a database that failed over may have lost them. */
void unsent_each(const struct unsent *unsent, listed_fn each, void *data);

#endif
