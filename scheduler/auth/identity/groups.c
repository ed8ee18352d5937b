/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/identity/groups.h"

#include "common/log.h"
#include "scheduler/auth/identity/groups.sql.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/access/identity_providers.h"
#include "scheduler/store/access/identity_providers.sql.h"
#include "scheduler/store/access/users.sql.h"

/* The groups of one person, and where they lead. */
struct applying {
	struct store *store;
	const struct external_person *person;
	const char *user_id, *kind;                    /* kind: of the provider */
	struct db_array teams, organizations, new_ids; /* of each team: its organization, and a membership's new id */
	struct audit_batch audit;
};

static void applying_release(struct applying *a)
{
	db_array_release(&a->teams);
	db_array_release(&a->organizations);
	db_array_release(&a->new_ids);
	audit_batch_release(&a->audit);
}

static int goal_read(struct applying *a, struct err *err)
{
	_cleanup_(db_array_release) struct db_array groups = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&groups, a->person->groups);
	if (db_query(a->store->db, &rows, err, groups_teams, .kind = a->kind, .provider_id = a->person->provider_id,
		    .groups = &groups) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		db_array_add(&a->teams, row_of(groups_teams, &rows, i)->team_id);
		db_array_add(&a->organizations, row_of(groups_teams, &rows, i)->organization_id);
		db_array_add(&a->new_ids, id_new("ou").text);
	}
	return 0;
}

/* The actor is the provider: no person has decided it. */
static void changes_audit(struct applying *a, const char *action, const struct rows *changed)
{
	char request[AUDIT_UUID_SIZE];

	audit_uuid(request);
	for (int i = 0; i < changed->count; i++) {
		const struct changed_membership_row *row = row_of(changed_membership, changed, i);
		json_auto_t *details = json_pack("{ss}", "user", a->user_id);

		audit_add(&a->audit,
			&(struct audit_event){.organization = row->organization_id,
				.actor_type = "identity-provider",
				.actor_id = a->person->provider_id,
				.actor_name = a->person->issuer,
				.request = request,
				.action = action,
				.resource_type = "team",
				.resource_id = row->team_id,
				.details = details});
	}
}

static int goal_join(struct applying *a, struct err *err)
{
	_cleanup_(rows_release) struct rows joined = ROWS_INIT;
	struct db *db = a->store->db;

	if (db_query(db, NULL, err, groups_organizations_join, .user_id = a->user_id,
		    .organizations = &a->organizations, .new_ids = &a->new_ids) < 0 ||
		db_query(db, &joined, err, groups_teams_join, .user_id = a->user_id,
			.provider_id = a->person->provider_id, .teams = &a->teams,
			.organizations = &a->organizations) < 0)
		return -1;
	changes_audit(a, "add_member", &joined);
	return 0;
}

static int goal_leave(struct applying *a, struct err *err)
{
	_cleanup_(rows_release) struct rows left = ROWS_INIT, kept = ROWS_INIT;
	struct db *db = a->store->db;

	if (db_query(db, NULL, err, user_owned_lock, .id = a->user_id) < 0 ||
		db_query(db, &left, err, groups_teams_leave, .kind = a->kind, .provider_id = a->person->provider_id,
			.user_id = a->user_id, .teams = &a->teams) < 0 ||
		db_query(db, &kept, err, groups_owners_kept, .kind = a->kind, .provider_id = a->person->provider_id,
			.user_id = a->user_id, .teams = &a->teams) < 0)
		return -1;
	changes_audit(a, "remove_member", &left);
	for (int i = 0; i < kept.count; i++)
		log_warn("the last owner of an organization stays, though no group of the identity provider leads "
			 "there",
			"user", a->user_id, "organization", row_of(groups_owners_kept, &kept, i)->organization_id,
			NULL);
	return db_query(db, NULL, err, groups_organizations_leave, .user_id = a->user_id);
}

int groups_apply(struct store *store, const struct external_person *person, const char *user_id, struct err *err)
{
	_cleanup_(applying_release) struct applying a = {.store = store,
		.person = person,
		.user_id = user_id,
		.teams = DB_ARRAY_INIT,
		.organizations = DB_ARRAY_INIT,
		.new_ids = DB_ARRAY_INIT};
	_cleanup_(rows_release) struct rows provider = ROWS_INIT;

	audit_batch_init(&a.audit);
	if (identity_provider_read(store, person->provider_id, &provider, err) < 0)
		return -1;
	a.kind = row_of(identity_provider, &provider, 0)->kind;
	if (goal_read(&a, err) < 0 || goal_join(&a, err) < 0 || goal_leave(&a, err) < 0)
		return -1;
	return audit_insert(store, &a.audit, err);
}
