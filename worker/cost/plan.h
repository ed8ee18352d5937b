/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_PLAN_H
#define WORKER_COST_PLAN_H

/* A plan as `terraform show -json` writes it, as far as costs depend on it. */

#include "worker/cost/values.h"

struct plan {
	json_t *source;    /* every number in it is a text */
	json_t *providers; /* by the key of a provider's configuration: its arguments that are known */
	json_t *keys;      /* by a resource's address without indexes: the key of its provider's configuration */
};

/* ERR_MALFORMED if it is no plan. */
int plan_read(const char *text, size_t len, struct plan *ret_plan, struct err *err);
void plan_release(struct plan *plan);

/* One object that the plan keeps, makes, changes or removes. All borrowed. */
struct planned {
	const char *address;
	const char *deposed; /* the key of an object that was replaced and is still to be removed; or NULL */
	const char *type;
	const char *provider;        /* "registry.terraform.io/hashicorp/aws" */
	struct values before, after; /* planned is NULL where there is nothing */
};

/* Calls fn for every object of a managed resource, in the plan's order; data sources are left out. */
void plan_each(const struct plan *plan, void (*fn)(void *data, const struct planned *planned), void *data);

#endif
