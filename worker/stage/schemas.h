/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_STAGE_SCHEMAS_H
#define WORKER_STAGE_SCHEMAS_H

/*
 * The provider schemas of a plan, `terraform providers schema -json`. The worker caches them (engine/schema_cache.h).
 * It asks the scheduler for the digest first, so that each content is uploaded once.
 */

#include "worker/runtime/job.h"

/* Makes the key of the schemas. The plan and the apply run the configuration's code, which can write the lock file, so
 * this step is before them. */
void step_schemas_key(struct job *job);
/* Sends the digest of the plan's cached schemas to the scheduler, in the background while `show` runs. */
void schemas_send_known(struct job *job);
/* Makes the schemas if they are not cached, or if the plan uses the built-in provider and the cached ones lack it. */
void step_schemas(struct job *job);

#endif
