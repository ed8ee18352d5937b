/* SPDX-License-Identifier: MPL-2.0 */
/* db_check. */
#include <poll.h>
#include <string.h>

#include "common/clock.h"
#include "scheduler/db/connection.h"

/* Like connection_open, but messages contain the error codes. */
static PGconn *connection_try(const char *url)
{
	static const char *const names[] = {"dbname", NULL};
	const char *const values[] = {url, NULL};
	PGconn *conn = PQconnectStartParams(names, values, 1);
	PostgresPollingStatusType status = PGRES_POLLING_WRITING;
	int64_t give_up = clock_mono_ms() + CHECK_MS;

	if (!conn || PQstatus(conn) == CONNECTION_BAD)
		return conn;
	PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
	while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED) {
		struct pollfd fd = {.fd = PQsocket(conn), .events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT};
		int64_t left = give_up - clock_mono_ms();

		if (left <= 0 || poll(&fd, 1, (int)left) == 0)
			break;
		status = PQconnectPoll(conn);
	}
	return conn;
}

/* Errors that persist until the connection string or the server is changed: invalid_password,
 * invalid_authorization_specification, invalid_catalog_name, and the errors that libpq detects itself. */
static bool is_refused(const char *message)
{
	static const char *const marks[] = {" 28P01: ", " 28000: ", " 3D000: ", "no password supplied"};

	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (strstr(message, marks[i]))
			return true;
	return text_starts(message, "invalid ");
}

/* An unescaped password with @, / or : is parsed as host and port. Error messages name these, and would reveal the
 * password. */
static bool is_place(const PQconninfoOption *option)
{
	const char *value = text_or_empty(option->val);

	if (text_equal(option->keyword, "host"))
		return !strchr(value, '@');
	return !text_equal(option->keyword, "port") || value[strspn(value, "0123456789,")] == '\0';
}

static int url_check(const char *url, struct err *err)
{
	PQconninfoOption *options = *url ? PQconninfoParse(url, NULL) : NULL;
	bool placed = true;

	for (const PQconninfoOption *option = options; option && option->keyword; option++)
		placed = placed && is_place(option);
	PQconninfoFree(options);
	if (!options)
		return err_set(err, ERR_INVALID,
			"--database-url is no connection string of PostgreSQL: "
			"postgresql://user:password@host:5432/database "
			"is needed");
	if (!placed)
		return err_set(err, ERR_INVALID,
			"--database-url has no valid host or port: in a password @ is written %%40, / is %%2F and : is "
			"%%3A");
	return 0;
}

int db_check(const char *url, struct err *err)
{
	_cleanup_(freep) char *said = NULL;
	PGconn *conn;
	bool connected;

	if (url_check(url, err) < 0)
		return -1;
	conn = connection_try(url);
	connected = conn && PQstatus(conn) == CONNECTION_OK;
	said = mem_text(conn ? PQerrorMessage(conn) : "no memory");
	PQfinish(conn);
	if (connected)
		return 0;
	said[strcspn(said, "\n")] = '\0';
	if (is_refused(said))
		return err_set(err, ERR_INVALID, "PostgreSQL does not take --database-url: %s", said);
	return err_set(
		err, ERR_UNAVAILABLE, "PostgreSQL: service unavailable: %s", *said ? said : "it does not answer");
}
