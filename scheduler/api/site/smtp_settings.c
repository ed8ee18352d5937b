/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/api/site/setting_groups.h"
#include "scheduler/api/site/test_mail.h"
#include "scheduler/store/site_settings.h"

#include <string.h>

/* The mail server of the site. Notifiers send all mails through it while it is enabled, in place of the server of their
 * options. */

enum { MAX_PASSWORD = 1000 };

static const struct field fields[] = {
	{"enabled", FIELD_BOOL, "false"},
	{"host", FIELD_TEXT, "\"\""},
	{"port", FIELD_INT, "25"},
	{"sender", FIELD_TEXT, "\"\""},
	{"auth", FIELD_TEXT, "\"none\""},
	{"username", FIELD_TEXT, "\"\""},
};

static const struct setting_group smtp = {
	.id = "smtp", .type = "smtp-settings", .fields = fields, .count = ARRAY_LEN(fields)};

int smtp_settings_read(struct request *req, struct response *res, struct err *err)
{
	return setting_group_show(req, res, &smtp, err);
}

/* A name or an address, without what a URL would take for something else. */
static bool host_valid(const char *host)
{
	return *host && strlen(host) <= 253 && !host[strcspn(host, " \t\r\n/@?#\\%\"<>")];
}

/* Checks the values as they will be. A sent value must be valid in any case. Only an enabled server needs all. */
static int values_check(const json_t *set, bool has_password, struct err *err)
{
	const char *auth = text_or_empty(json_string_at(set, "auth"));
	const char *host = text_or_empty(json_string_at(set, "host"));
	const char *sender = text_or_empty(json_string_at(set, "sender"));
	bool enabled = json_bool_at(set, "enabled", false), login = !text_equal(auth, "none");
	long long port = json_int_at(set, "port", 25);

	if (login && !text_equal(auth, "plain") && !text_equal(auth, "login"))
		return err_at(err, "/data/attributes/auth", "Auth must be none, plain or login");
	if (port < 1 || port > 65535)
		return err_at(err, "/data/attributes/port", "Port must be 1 to 65535");
	if ((enabled || *host) && !host_valid(host))
		return err_at(err, "/data/attributes/host", "Host must be the name or the address of a mail server");
	if ((enabled || *sender) && !mail_address_valid(sender))
		return err_at(err, "/data/attributes/sender", "Sender must be an e-mail address");
	if (enabled && login && !*text_or_empty(json_string_at(set, "username")))
		return err_at(err, "/data/attributes/username", "Username can't be blank with this auth");
	if (enabled && login && !has_password)
		return err_at(err, "/data/attributes/password", "Password can't be blank with this auth");
	return 0;
}

struct smtp_input {
	json_t *changes, *all; /* the changed members, and the group with them */
	char *stored;          /* the password so far, or NULL */
	const char *password;  /* of the body; NULL: not sent */
	const char *recipient; /* of the test mail, or NULL */
	bool moved;            /* to another server: the password so far is not for that one */
};

static void smtp_input_release(struct smtp_input *input)
{
	json_decref(input->changes);
	json_decref(input->all);
	crypto_secret_freep(&input->stored);
}

static const char *password_of(const struct smtp_input *input)
{
	if (input->password)
		return input->password;
	return input->moved ? "" : text_or_empty(input->stored);
}

static bool is_moved(const struct smtp_input *input)
{
	const json_t *host = json_object_get(input->changes, "host");

	return host && !json_equal(host, json_object_get(input->all, "host"));
}

static int input_read(struct request *req, struct smtp_input *input, struct err *err)
{
	json_auto_t *settings = NULL;

	if (setting_group_read(req, &smtp, &input->changes, err) < 0 ||
		body_text(req, "password", &input->password, err) < 0 ||
		body_text(req, "test-email-address", &input->recipient, err) < 0 ||
		length_check("Password", "/data/attributes/password", input->password, MAX_PASSWORD, err) < 0 ||
		site_settings_read(req->store, &settings, err) < 0 ||
		site_secret_read(req->store, SMTP_PASSWORD, &input->stored, err) < 0)
		return -1;
	input->all = setting_group_attributes(&smtp, settings);
	input->moved = is_moved(input);
	json_object_update(input->all, input->changes);
	if (values_check(input->all, *password_of(input) != '\0', err) < 0)
		return -1;
	if (*text_or_empty(input->recipient) && !mail_address_valid(input->recipient))
		return err_at(
			err, "/data/attributes/test-email-address", "Test email address must be an e-mail address");
	return 0;
}

/* A test mail is sent before anything is stored. Without a server to use there is nothing to test. */
static int mail_test(const struct request *req, const struct smtp_input *input, struct err *err)
{
	json_auto_t *server = site_mail_server_of(input->all, password_of(input));

	if (!server || !*text_or_empty(input->recipient))
		return 0;
	return test_mail_send(req->store, server, input->recipient, err);
}

int smtp_settings_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(smtp_input_release) struct smtp_input input = {.changes = NULL};

	if (input_read(req, &input, err) < 0 || mail_test(req, &input, err) < 0 || request_audit_begin(req, err) < 0 ||
		((input.password || input.moved) &&
			site_secret_set(req->store, SMTP_PASSWORD, password_of(&input), err) < 0))
		return -1;
	return setting_group_change(req, res, &smtp, input.changes, err);
}
