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

/* The parsed last state, or NULL if there is none. */
static json_t *state_read(int top)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(MAX_STATE_BYTES);
	struct state_facts facts;

	if (leftover_read(top, &bytes, &facts) < 0)
		return NULL;
	return json_loadb(buf_str(&bytes), bytes.len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
}

json_t *unrecorded_find(int top)
{
	_cleanup_(closep) int fd = beneath_open(top, WORKDIR_OUTPUT, O_RDONLY, 0);
	_cleanup_(applied_freep) struct applied *applied = NULL;
	json_auto_t *state = NULL;

	if (fd < 0)
		return NULL;
	applied = applied_new();
	output_read(fd, applied);
	state = state_read(top);
	return applied_missing(applied, state);
}
