/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_RESCUE_RESCUE_H
#define WORKER_RESCUE_RESCUE_H

/*
 * Uploads what the scheduler lacks of an apply to the object store, encrypted (proto/rescue.h), while no scheduler is
 * reachable. The scheduler reads it there while the workspace is held.
 *
 * The claim brings a presigned URL and a key. Both are only in this process's memory, which no job can read: not in a
 * file, an environment, an argument or a log. So a worker that starts with the folder of an earlier one has neither,
 * and delivers to the scheduler alone. A keeper has neither, too: it is a static program without TLS, and a parent of
 * the job's programs.
 *
 * Each upload replaces the one before. After the final one there is nothing more to upload.
 */

#include "common/buf.h"
#include "common/json/json.h"
#include "proto/messages.h"

struct fetcher;
struct loop;
struct rescue;

/* Borrows all but the texts, which are copied. */
struct rescue_spec {
	struct loop *loop;
	struct fetcher *fetcher; /* not of the scheduler: the object store is another server */
	const char *url, *key;
	const char *job, *run;
	int attempt;
};

/* NULL if the claim brought no URL. All functions accept NULL, and do nothing. */
struct rescue *rescue_new(const struct rescue_spec *spec);
void rescue_free(struct rescue *rescue);

/* Collects the content. `head` (an empty object) gets "final", "result" and "unrecorded"; the state is appended to
 * `state`. Returns false if the scheduler lacks nothing that can be read. */
typedef bool (*rescue_collect_fn)(void *data, json_t *head, struct buf *state);
/* Sets where the content comes from. It is collected only while rescue_wait is in force. */
void rescue_source(struct rescue *rescue, rescue_collect_fn collect, void *data);

/* The scheduler lacks something. If that lasts for some seconds it is uploaded, and again when it has changed, until
 * rescue_rest. Repeated calls change nothing. */
void rescue_wait(struct rescue *rescue);
/* The apply has ended: rescue_wait is in force until the end. */
void rescue_end(struct rescue *rescue);
/* The scheduler has everything for now. */
void rescue_rest(struct rescue *rescue);
/* Uploads at once what rescue_wait would upload later: the worker ends. */
void rescue_hurry(struct rescue *rescue);
/* For rescue_collect_fn: adds the result to the head. */
void rescue_add_result(json_t *head, const struct job_result *result);
/* Whether the object store has everything: the state, the result, and that nothing follows. */
bool rescue_is_final(const struct rescue *rescue);

#endif
