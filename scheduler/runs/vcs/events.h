/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_EVENTS_H
#define SCHEDULER_RUNS_VCS_EVENTS_H

/*
 * Decides events of repositories (store/vcs/events.h): configuration versions, runs, versions of policy sets, and the
 * end of runs of earlier commits. One transaction makes everything of an event. Each head of a workspace is made
 * once (vcs_heads), so an event may be decided again, and a commit may come again in another event.
 *
 * Providers may send deliveries out of order. So an event goes on only if it follows the last known commit of its ref.
 * Any other event waits for a look at the repository. If the look shows a newer commit, this event is superseded: a
 * newer event exists, or the look makes one.
 */

#include "scheduler/store/store.h"

/* Decides the events that are due, at most a batch. *ret_more: others may be due. An event that fails is tried again
 * later, and does not stop the others. */
int vcs_events_decide(struct store *store, bool *ret_more, struct err *err);

/* ---- results of git jobs; each function joins the open transaction ---- */

/* Applies the refs that a look has read: {"refs/heads/main": sha}. Tags have the sha of their commit. `looked_at` of
 * the repository is still that of the previous look. The first look makes no events. */
int vcs_refs_seen(struct store *store, const char *repository_id, const json_t *refs, struct err *err);
/* Applies the failure of a look: a sentence. */
int vcs_look_failed(struct store *store, const char *repository_id, const char *sentence, struct err *err);
/* Applies the paths that an event's commits changed: an array of texts. NULL: git can't list them, and `note` has the
 * reason. */
int vcs_files_known(struct store *store, const char *event_id, const json_t *files, const char *note, struct err *err);

#endif
