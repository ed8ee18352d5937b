/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_STAGE_SCHEMAS_H
#define WORKER_STAGE_SCHEMAS_H

/*
 * The provider schemas of a plan, `terraform providers schema -json`. They are large and depend only on the engine and
 * the provider packages. So the worker caches them in <data-dir>/schemas/<key>.json by engine version and lock file.
 * It asks the scheduler for the digest first, so that each content is uploaded once.
 */

#include "worker/runtime/job.h"

/* Makes the cache folder. ERR_INTERNAL. */
int schemas_open(const char *data_dir, struct schemas **ret_schemas, struct err *err);
void schemas_free(struct schemas *schemas);

/* Sends the digest of the plan's cached schemas to the scheduler, in the background while `show` runs. */
void schemas_send_known(struct job *job);
/* Makes the schemas if they are not cached, or if the plan uses the built-in provider and the cached ones lack it. */
void step_schemas(struct job *job);

#endif
