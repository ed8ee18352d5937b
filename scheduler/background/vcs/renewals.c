/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/vcs/renewals.h"

#include "common/log.h"
#include "scheduler/auth/vcs/app.h"
#include "scheduler/auth/vcs/oauth_connection.h"
#include "scheduler/auth/vcs/renewals.h"
#include "scheduler/auth/vcs/renewals.sql.h"
#include "scheduler/store/vcs/installations.sql.h"
#include "scheduler/store/vcs/tokens.h"

/* ---- tokens of OAuth ---- */

struct renewing {
	struct store *store;
	const struct renewal *renewal;
	const struct oauth_connection *connection;
	const struct oauth_result *result;
};

/* If the token was replaced meanwhile, the new one stays. */
static int done_in(void *data, struct err *err)
{
	const struct renewing *r = data;
	bool current;

	if (renewal_is_current(r->store, r->renewal, &current, err) < 0)
		return -1;
	return current ? oauth_store(r->store, r->connection, r->result, err) : 0;
}

static int refused_in(void *data, struct err *err)
{
	const struct renewing *r = data;
	_cleanup_(freep) char *why =
		mem_printf("The token can't be renewed: %s Connect again in a browser.", r->result->why);
	const struct vcs_token_verdict verdict = {
		.state = "refused", .error = why, .generation = r->connection->generation};
	bool current;

	if (renewal_is_current(r->store, r->renewal, &current, err) < 0)
		return -1;
	if (!current)
		return 0;
	if (vcs_token_judge(r->store, r->connection->id.text, &verdict, err) < 0 ||
		renewal_note(r->store, r->connection->id.text, why, err) < 0)
		return -1;
	return renewal_end(r->store, r->renewal, err);
}

static int passing(const struct renewing *r, struct err *err)
{
	log_warn("the provider renews no VCS token for now, and is asked again", "connection", r->connection->id.text,
		"why", r->result->why, NULL);
	return renewal_postpone(r->store, r->renewal, r->result->retry_after, err);
}

static int token_renew(struct store *store, const char *token_id, const struct renewal *renewal, struct err *err)
{
	_cleanup_(oauth_connection_release) struct oauth_connection connection = OAUTH_CONNECTION_INIT;
	_cleanup_(oauth_result_release) struct oauth_result result = {.user = NULL};
	struct renewing renewing = {store, renewal, &connection, &result};

	if (oauth_connection_of_token(store, token_id, &connection, err) < 0)
		return err->kind == ERR_NOT_FOUND ? renewal_end(store, renewal, err) : -1;
	oauth_refresh(store, &connection, &result);
	if (result.outcome == OAUTH_DONE)
		return db_transaction(store->db, done_in, &renewing, err);
	if (result.outcome == OAUTH_REFUSED)
		return db_transaction(store->db, refused_in, &renewing, err);
	return passing(&renewing, err);
}

/* ---- tokens of the App's installations ---- */

/* A suspended installation is tried again, because GitHub's webhook of the suspension's end may be lost. */
enum { SUSPENDED_SECONDS = 900 };

struct installing {
	struct store *store;
	const struct renewal *renewal;
	const char *id;
	const struct app_token *token; /* NULL: a failure */
	const char *why;
	bool removed;
};

static int token_saved_in(void *data, struct err *err)
{
	const struct installing *i = data;
	const struct installation_token token = {i->token->token, i->token->expires_in};
	bool current;

	if (renewal_is_current(i->store, i->renewal, &current, err) < 0)
		return -1;
	if (!current)
		return 0;
	if (installation_token_put(i->store, i->id, &token, err) < 0)
		return -1;
	return renewal_plan_installation(i->store, i->id, token.expires_in * 3 / 4, err);
}

static int failed_in(void *data, struct err *err)
{
	const struct installing *i = data;

	if (installation_fail(i->store, i->id, i->why, i->removed, err) < 0)
		return -1;
	return i->removed ? renewal_end(i->store, i->renewal, err)
			  : renewal_postpone(i->store, i->renewal, SUSPENDED_SECONDS, err);
}

/* GitHub gave no token. Reads the installation, to find out whether it was removed or suspended. */
static int installation_examine(struct installing *i, long long number, int retry_after, struct err *err)
{
	_cleanup_(app_installation_release) struct app_installation found = {.account = NULL};
	char why[APP_WHY_SIZE];
	enum app_outcome outcome = app_installation_ask(i->store, number, &found, why);

	i->removed = outcome == APP_GONE;
	if (i->removed || (outcome == APP_DONE && found.suspended)) {
		i->why = i->removed ? "The installation of the GitHub App was removed at GitHub"
				    : "The installation of the GitHub App is suspended at GitHub";
		return db_transaction(i->store->db, failed_in, i, err);
	}
	log_warn("the token of a GitHub App's installation is not renewed, and is tried again", "installation", i->id,
		"why", i->why, NULL);
	return renewal_postpone(i->store, i->renewal, retry_after, err);
}

static int installation_renew(struct store *store, const char *id, const struct renewal *renewal, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(app_token_release) struct app_token token = {.token = NULL};
	char why[APP_WHY_SIZE];
	struct installing installing = {store, renewal, id, &token, why, false};
	long long number;

	if (installation_read(store, id, &rows, err) < 0)
		return err->kind == ERR_NOT_FOUND ? renewal_end(store, renewal, err) : -1;
	if (!store->settings->github_app)
		return renewal_postpone(store, renewal, SUSPENDED_SECONDS, err);
	number = row_of(vcs_installation, &rows, 0)->installation_id;
	if (app_token_ask(store, number, &token, why) == APP_DONE)
		return db_transaction(store->db, token_saved_in, &installing, err);
	return installation_examine(&installing, number, token.retry_after, err);
}

/* ---- the thread ---- */

static void subject_renew(struct store *store, const struct renewals_take_row *row)
{
	const struct renewal renewal = {
		.subject_id = row->subject_id, .generation = row->generation, .failures = row->failures};
	const char *token = row->token_id, *installation = row->installation_id;
	struct err err = ERR_INIT;
	int result = token ? token_renew(store, token, &renewal, &err)
			   : installation_renew(store, installation, &renewal, &err);

	if (result < 0)
		log_warn("a VCS token is not renewed, and is tried again", "subject", renewal.subject_id, "why",
			err.message, NULL);
}

static int renewal_step(struct store *store, bool *ret_more, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (renewals_take(store, 1, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		subject_renew(store, row_of(renewals_take, &rows, i));
	*ret_more = rows.count > 0;
	return 0;
}

static const struct listener_step steps[] = {{"tokens", renewal_step}};

const struct listener_work vcs_renewal_work = {
	.channel = RENEWALS_CHANNEL,
	.steps = steps,
	.step_count = ARRAY_LEN(steps),
	.next_due = renewals_wait,
	.max_sleep_ms = 600000,
	.retry_ms = 5000,
};
