/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SHIP_UNSENT_H
#define WORKER_SHIP_UNSENT_H

/*
 * States that could not be delivered while their job lasted (DESIGN rule 7), in <data-dir>/unsent:
 *
 *     <job>-<attempt>.tfstate   the state as terraform wrote it
 *     <job>-<attempt>.json      {"job":…,"token":…}: how to deliver it (0600)
 *     <job>-<attempt>.refused   a state that the scheduler would not take any more; for the operator
 *
 * A worker that starts looks through the folders that a killed one left in jobs/, keeps what terraform wrote there and
 * the scheduler never got, removes the rest, and delivers until nothing is left.
 */

#include "worker/exec/workdir.h"

struct loop;
struct fetcher;
struct unsent;

struct unsent_spec {
	struct loop *loop;
	struct fetcher *fetcher;
	const char *scheduler_url;
	const char *data_dir;
};

/* Borrows what the spec points to. ERR_INTERNAL. */
int unsent_open(const struct unsent_spec *spec, struct unsent **ret_unsent, struct err *err);
void unsent_free(struct unsent *unsent);

/* Notes in the job's folder how a restarted worker would deliver its state. ERR_INTERNAL. */
int unsent_note(const struct workdir *dir, const char *job, const char *token, struct err *err);
/* Moves the state of an ended job here and goes on trying to deliver it. */
void unsent_keep(struct unsent *unsent, const struct workdir *dir);
/* For each folder of `jobs`: keeps an undelivered state, removes the folder. Then begins to deliver. */
void unsent_recover(struct unsent *unsent, int jobs);

#endif
