/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_RUNTIME_ACCEPT_H
#define WORKER_RUNTIME_ACCEPT_H

/* The kinds of jobs that a worker takes (--accept): plan, apply, policy, cost and git. A list is their names, separated
 * by commas, or "none". */

#include "common/json/json.h"

struct err;

/* Checks the list. ERR_INVALID, which names the unknown kind. */
int accept_check(const char *list, struct err *err);
/* Whether the list has jobs with git. */
bool accept_git(const char *list);
/* Whether the list has a stage of runs. */
bool accept_stages(const char *list);
/* Appends a capability such as "no apply" for each stage that the list lacks (proto/capabilities.h). */
void accept_refusals(const char *list, json_t *capabilities);

#endif
