/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_PLAN_H
#define WORKER_COST_PLAN_H

/* The parts of a plan (`terraform show -json`) that its cost depends on. */

#include "worker/cost/price.h"

struct plan {
	json_t *source;    /* every number in it is a text */
	json_t *providers; /* key of a provider's configuration -> its known arguments */
	json_t *keys;      /* address of a resource without indexes -> key of its provider's configuration */
};

/* ERR_MALFORMED if it is no plan. */
int plan_read(const char *text, size_t len, struct plan *ret_plan, struct err *err);
void plan_release(struct plan *plan);

/* One object that the plan keeps, creates, changes or destroys. All borrowed. */
struct planned {
	const char *address;
	const char *deposed; /* the key of a replaced object that is still to be destroyed; or NULL */
	const char *type;
	const char *provider; /* "registry.terraform.io/hashicorp/aws" */
	struct values before, after;
};

/* Calls fn for every object of a managed resource, in the plan's order. Skips data sources. */
void plan_each(const struct plan *plan, void (*fn)(void *data, const struct planned *planned), void *data);

#endif
