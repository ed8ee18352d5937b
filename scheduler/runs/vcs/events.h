/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_EVENTS_H
#define SCHEDULER_RUNS_VCS_EVENTS_H

/*
 * Decides events of repositories (store/vcs/events.h): configuration versions, runs, versions of policy sets, and the
 * end of runs of earlier commits. One transaction makes everything of an event. Each head of a workspace is made
 * once (vcs_heads), so an event may be decided again, and a commit may come again in another event.
 *
 * Providers do not keep the order of what they send. So an event goes on only if it follows what was seen last of its
 * ref. Any other waits for a look at the repository, which shows whether it tells of the newest commit. If not, a newer
 * event is there or is made of the look, and this one is superseded.
 */

#include "scheduler/store/store.h"

/* Decides the events that are due, at most a batch. *ret_more: others may be due. An event that fails is tried again
 * later, and does not stop the others. */
int vcs_events_decide(struct store *store, bool *ret_more, struct err *err);

/* ---- what git jobs tell of a repository; each joins the open transaction ---- */

/* The refs that the repository has now: {"refs/heads/main": sha}. Tags name commits. `looked_at` of the repository is
 * still that of the last look: the first one makes no events. */
int vcs_refs_seen(struct store *store, const char *repository_id, const json_t *refs, struct err *err);
/* The repository could not be looked at: a sentence. */
int vcs_look_failed(struct store *store, const char *repository_id, const char *sentence, struct err *err);
/* The paths that an event's commits changed: an array of texts. NULL: they can't be had, `note` says why. */
int vcs_files_known(struct store *store, const char *event_id, const json_t *files, const char *note, struct err *err);

#endif
