/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_RESCUES_H
#define SCHEDULER_BACKGROUND_RESCUES_H

/*
 * Looks for the rescue objects of held workspaces (store/content/rescues.h), and takes their content as if the worker
 * had sent it: the result, the unrecorded resources, the state, and then, if the object is the final one, the
 * `last-state`. Everything that a worker sends again later is known already and changes nothing.
 *
 * An object that is not valid changes nothing. It stays where it is, because the worker may still replace it.
 */

#include "scheduler/store/store.h"

struct objects;

/* Looks for a batch of objects. *ret_more: others are due. ERR_UNAVAILABLE: the object store or the database. */
int rescues_look(struct store *store, struct objects *objects, bool *ret_more, struct err *err);

#endif
