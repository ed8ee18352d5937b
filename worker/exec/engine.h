/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_ENGINE_H
#define WORKER_EXEC_ENGINE_H

/*
 * The terraform and tofu binaries of this machine: the one of PATH (or the one the options name), and the engine
 * folder's, by version. Each is asked for its version once, as long as its file stays the same.
 */

#include "common/json.h"
#include "common/loop.h"
#include "proto/version.h"

struct downloads;
struct err;
struct engines;

struct engine {
	char *path; /* absolute, links resolved */
	bool tofu;
	struct version version;
};

/* All borrowed. */
struct engines_spec {
	struct loop *loop;
	const char *fixed;  /* a path, or a name to be found in PATH; "": terraform, then tofu */
	const char *folder; /* holds <terraform|tofu>-<version> or <version>/<terraform|tofu>; or "" */
	struct downloads *downloads;
};

struct engines *engines_new(const struct engines_spec *spec);
void engines_free(struct engines *engines);

/* `engine` is borrowed until the callback returns; NULL with *err: ERR_INVALID with a sentence that names what is
 * there. */
typedef void (*engine_fn)(void *data, const struct engine *engine, const struct err *err);

/* Finds the engine that a job needs (proto/capabilities.h): never another version of it. fn is called once, perhaps
 * before this returns, or after a download. */
void engines_find(struct engines *engines, const char *needs, engine_fn fn, void *data);
/* Ends the search of that data that waits for a download, if there is one: its callback is called. */
void engines_leave(struct engines *engines, const void *data);
/* Looks for binaries that are new or have changed, then calls fn; perhaps before this returns. */
void engines_look(struct engines *engines, loop_work_fn fn, void *data);
/* The engines that the last look has found, as capabilities: an array. */
json_t *engines_capabilities(struct engines *engines);

/* "Terraform" or "OpenTofu". */
const char *engine_product(const struct engine *engine);

/* The first version in the text of `terraform version` ("Terraform v1.11.4\n..."). Pure. -1: there is none. */
int engine_version_read(const char *text, struct version *ret_version, bool *ret_tofu);

#endif
