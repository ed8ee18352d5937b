/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/upload/unrecorded.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/json/json.h"
#include "common/terraform/applied.h"
#include "proto/limits.h"
#include "worker/exec/workdir.h"
#include "worker/upload/leftover.h"

/* The engine's reports fit into this length; longer lines are ignored. */
enum { CHUNK = 64 * 1024, LINE_LIMIT = 1024 * 1024 };

static void output_read(int fd, struct applied *applied)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(LINE_LIMIT + CHUNK);
	char chunk[CHUNK];
	ssize_t got;

	while ((got = read(fd, chunk, sizeof(chunk))) > 0) {
		const char *end;

		buf_append(&text, chunk, (size_t)got);
		end = memrchr(text.data, '\n', text.len);
		if (end) {
			size_t len = (size_t)(end + 1 - text.data);

			applied_text(applied, text.data, len);
			buf_consume(&text, len);
		} else if (text.len > LINE_LIMIT) {
			buf_reset(&text);
		}
	}
}

json_t *unrecorded_find(int top)
{
	_cleanup_(closep) int fd = beneath_open(top, WORKDIR_OUTPUT, O_RDONLY, 0);
	_cleanup_(buf_release) struct buf state = BUF_INIT(MAX_STATE_BYTES);
	_cleanup_(applied_freep) struct applied *applied = NULL;
	struct state_facts facts;

	if (fd < 0)
		return NULL;
	applied = applied_new();
	output_read(fd, applied);
	if (leftover_read(top, &state, &facts) < 0)
		buf_reset(&state);
	return applied_missing(applied, (struct json_span){buf_str(&state), state.len});
}
