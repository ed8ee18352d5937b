/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_STAGE_SCHEMAS_H
#define WORKER_STAGE_SCHEMAS_H

/*
 * `terraform providers schema -json` of a plan. It depends on the engine and the provider packages alone, and is large,
 * so the worker keeps it in <data-dir>/schemas/<key>.json by engine version and lock file, and the scheduler gets its
 * content once: it is asked for the digest first.
 */

#include "worker/job.h"

/* Makes the folder. ERR_INTERNAL. */
int schemas_open(const char *data_dir, struct schemas **ret_schemas, struct err *err);
void schemas_free(struct schemas *schemas);

/* Tells the scheduler, in the background, which of the kept schemas are the plan's. While `show` runs. */
void schemas_send_known(struct job *job);
/* Makes them if they are not kept, or if the built-in provider is missing in them. */
void step_schemas(struct job *job);

#endif
