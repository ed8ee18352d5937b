/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_SITE_ORGANIZATIONS_H
#define SCHEDULER_STORE_ACCESS_SITE_ORGANIZATIONS_H

/*
 * All organizations, for site admins, and their settings that only site admins can change. A disabled organization is
 * invisible to its members and their tokens. Its current runs continue, and no new run starts automatically.
 */

#include "scheduler/store/store.h"

struct site_organizations {
	const char *search;              /* part of the name or the email, or NULL */
	const char *module_consumers_of; /* only organizations that may use the modules of this one (an id), or NULL */
	long long limit, offset;
};
/* The shape `site_organization`, sorted by name; current_runs counts those that have not ended. */
int site_organizations_list(
	struct store *store, const struct site_organizations *list, struct rows *ret_rows, struct err *err);
/* The same of one organization. ERR_NOT_FOUND. */
int site_organization_read(struct store *store, const char *name, struct rows *ret_rows, struct err *err);
/* Changes the members of `settings`; "is-disabled" is one of them. */
int site_organization_update(struct store *store, const char *id, const json_t *settings, struct err *err);
/* Replaces the list of organizations that may use the organization's modules. ERR_INVALID names one that does not
 * exist. */
int module_consumers_replace(struct store *store, const char *id, const json_t *names, struct err *err);

#endif
