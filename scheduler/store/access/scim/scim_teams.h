/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_SCIM_SCIM_TEAMS_H
#define SCHEDULER_STORE_ACCESS_SCIM_SCIM_TEAMS_H

/* Teams whose members are those of a SCIM group, and the settings of SCIM. All changes are made in the caller's
 * transaction. */

#include "scheduler/store/access/scim/scim_users.h"

/* Columns is_enabled, is_paused, group_id, group_name (of the site-admin group), has_provider, provider_id. */
int scim_settings_read(struct store *store, struct rows *ret_rows, struct err *err);
struct scim_settings {
	bool enabled, paused;
	bool sets_group, sets_provider;
	const char *group_id;    /* of the site-admin group, or NULL */
	const char *provider_id; /* whose sign-ins reach accounts that SCIM made, or NULL */
};
int scim_settings_update(struct store *store, const struct scim_settings *settings, struct err *err);
/* Switches SCIM off and deletes what it made, except accounts, teams and their members. */
int scim_disable(struct store *store, struct err *err);

/* The mapping of the team, which is locked: columns organization_id, kind, group_id (null: none), is_paused.
 * ERR_NOT_FOUND for no such team. */
int scim_mapping_read(struct store *store, const char *team_id, struct rows *ret_rows, struct err *err);
int scim_mapping_create(struct store *store, const char *team_id, const char *group_id, struct err *err);
int scim_mapping_pause(struct store *store, const char *team_id, bool paused, struct err *err);
int scim_mapping_delete(struct store *store, const char *team_id, struct err *err);

/* The changes of teams and site admins that result from changes of groups. Release it. */
struct scim_effects {
	struct rows members; /* columns team_id, organization_id, user_id, joined */
	struct rows admins;  /* columns user_id, granted */
};
void scim_effects_release(struct scim_effects *effects);
/* Makes teams and site admins follow the groups, an array of ids. `users`: only these SCIM users have changed; NULL:
 * anybody may have. */
int scim_teams_follow(struct store *store, struct db_array *groups, struct db_array *users,
	struct scim_effects *ret_effects, struct err *err);
/* Removes the group's people from the teams that follow it, before the group is deleted: columns team_id,
 * organization_id, user_id. */
int scim_teams_release(struct store *store, const char *group_id, struct rows *ret_rows, struct err *err);
/* Site admins by the group only are none any more: columns user_id. */
int scim_site_admins_end(struct store *store, struct rows *ret_rows, struct err *err);

#endif
