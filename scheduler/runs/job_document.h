/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_JOB_DOCUMENT_H
#define SCHEDULER_RUNS_JOB_DOCUMENT_H

/* The document of a claimed job that the worker receives (proto/README.md). */

#include "scheduler/store/store.h"

struct job_document_row;
struct rescue_grant;

/* All borrowed. */
struct job_tokens {
	const char *token;                 /* the worker's for the job */
	const char *run_token;             /* of the processes in the run */
	const struct rescue_grant *rescue; /* its object is NULL: none */
	bool credentials;                  /* the worker can use dynamic credentials */
	bool provider_sets;                /* the worker can use provider sets */
};

/* Asks for one row per job, in any order: job_document_row. The rows are available later (db_ask). */
int job_documents_ask(struct store *store, struct db_array *job_ids, struct rows *ret_rows, struct err *err);
/* Returns the document of such a row as a new reference; NULL: *err. */
json_t *job_document(
	struct store *store, const struct job_document_row *row, const struct job_tokens *tokens, struct err *err);

#endif
