/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/invitations.h"

#include "scheduler/api/api.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/store/access/invitations.sql.h"

/* Invitations to the address of the user who sends the request, and the user's answers to them. */

static json_t *invitation_resource(const struct invitation_row *row)
{
	return resource_new("invitations", row->id,
		json_pack("{so so so}", "email", json_string_or_null(row->email), "created-at",
			time_shown(row->created_at), "expires-at", time_shown(row->expires_at)),
		json_pack("{so}", "organization", to_one("organizations", row->organization_name)));
}

int invitations_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *data;

	if (invitations_of_user(req->store, req->actor.user.text, &rows, err) < 0)
		return -1;
	data = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(data, invitation_resource(row_of(invitation, &rows, i)));
	return respond_resource(res, 200, data);
}

static struct invited invited_in_path(const struct request *req)
{
	return (struct invited){.membership_id = param(req, "membership"), .user_id = req->actor.user.text};
}

/* The organization's audit trail records a user who joins. It does not record one who declines: the organization does
 * not learn who that is. */
int invitations_accept(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct invited invited = invited_in_path(req);

	if (invitation_read(req->store, &invited, &rows, err) < 0 || invitation_accept(req->store, &invited, err) < 0)
		return -1;
	audit_note_place(req->audit, &(struct place){.organization = row_of(invitation, &rows, 0)->organization_id});
	return respond_empty(res, 204);
}

int invitations_decline(struct request *req, struct response *res, struct err *err)
{
	const struct invited invited = invited_in_path(req);

	if (invitation_decline(req->store, &invited, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
