/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_RESCUES_H
#define SCHEDULER_BACKGROUND_RESCUES_H

/*
 * Looks for the rescue objects of held workspaces (store/content/rescues.h). Takes their content as if the worker had
 * sent it: the result, the unrecorded resources, the state, and with a final object `last-state`. If the worker sends
 * the same again later, that changes nothing.
 *
 * An object that is not valid changes nothing. It stays where it is, because the worker may still replace it.
 */

#include "scheduler/store/store.h"

struct objects;

/* Looks for a batch of objects. *ret_more: others are due. ERR_UNAVAILABLE: the object store or the database. */
int rescues_look(struct store *store, struct objects *objects, bool *ret_more, struct err *err);

#endif
