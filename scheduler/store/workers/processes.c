/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/processes.h"

#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "common/build_info.h"
#include "proto/protocol.h"
#include "scheduler/db/schema.h"
#include "scheduler/store/workers/processes.sql.h"

enum { MAX_NAMED = 5 };

static struct {
	pthread_once_t once;
	struct id id;
	char host[HOST_NAME_MAX + 1];
} self = {.once = PTHREAD_ONCE_INIT};

static void self_name(void)
{
	self.id = id_new("scheduler");
	if (gethostname(self.host, sizeof(self.host)) < 0)
		text_copy(self.host, sizeof(self.host), "localhost");
	self.host[sizeof(self.host) - 1] = '\0';
}

int processes_beat(struct store *store, struct err *err)
{
	pthread_once(&self.once, self_name);
	return db_query(store->db, NULL, err, processes_beat, .id = self.id.text, .host = self.host,
		.version = build_version, .protocol = PROTOCOL_VERSION, .schema = schema_program_version());
}

int processes_leave(struct store *store, struct err *err)
{
	pthread_once(&self.once, self_name);
	return db_query(store->db, NULL, err, processes_leave, .id = self.id.text);
}

int processes_list(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, processes_list, .protocol = PROTOCOL_VERSION,
		.schema = schema_program_version(), .version = build_version);
}

int processes_check_older(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf names = BUF_INIT(4096);
	int count = 0;

	if (processes_list(store, &rows, err) < 0)
		return -1;
	while (count < rows.count && row_of(processes_list, &rows, count)->older)
		count++;
	for (int i = 0; i < count && i < MAX_NAMED; i++) {
		const struct processes_list_row *process = row_of(processes_list, &rows, i);

		buf_printf(&names, "%s%s %s (version %s, %lld s ago)", i ? ", " : "", process->kind, process->name,
			process->version, process->seconds);
	}
	if (count)
		return err_set(err, ERR_CONFLICT,
			"older processes were seen within the last hour (%d): %s%s. Upgrade or stop them, and try "
			"again an hour later",
			count, buf_str(&names), count > MAX_NAMED ? ", ..." : "");
	return 0;
}
