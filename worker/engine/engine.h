/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_ENGINE_ENGINE_H
#define WORKER_ENGINE_ENGINE_H

/*
 * Finds the terraform and tofu binaries of this machine: the one that the options name or PATH has, and those of the
 * engine folder, by version. The version of a binary is read once, and again if its file changes.
 *
 * Binaries of OPA are found in the same way, by exact version. They are looked for only when a policy set asks for one.
 * A downloaded one is not asked for its version: it only runs in sandboxes.
 */

#include "common/json/json.h"
#include "common/loop/loop.h"
#include "proto/version.h"

struct downloads;
struct err;
struct engines;

struct engine {
	char *path;          /* absolute, links resolved */
	const char *program; /* engine_terraform, engine_tofu or program_opa */
	struct version version;
};

/* All borrowed. */
struct engines_spec {
	struct loop *loop;
	const char *fixed;  /* a path, or a name that is searched in PATH; "": terraform, then tofu */
	const char *opa;    /* the same for OPA, which may also be in the folder */
	const char *folder; /* holds <terraform|tofu|opa>-<version> or <version>/<terraform|tofu|opa>; or "" */
	struct downloads *downloads;
};

struct engines *engines_new(const struct engines_spec *spec);
void engines_free(struct engines *engines);

struct download_wanted;

/* `engine` is borrowed until the callback returns; NULL with *err: ERR_INVALID with a message that names the available
 * engines; ERR_NOT_FOUND if an OPA is not there and can't be downloaded from anywhere. */
typedef void (*engine_fn)(void *data, const struct engine *engine, const struct err *err);

/* Finds the engine that a job needs (proto/capabilities.h), never another version of it. Calls fn once, possibly before
 * this function returns, or after a download. */
void engines_find(struct engines *engines, const char *needs, engine_fn fn, void *data);
/* The same for the OPA of an exact version. */
void engines_find_opa(struct engines *engines, const struct download_wanted *wanted, engine_fn fn, void *data);
/* Ends the search with that `data` if it waits for a download. Its callback is called. */
void engines_leave(struct engines *engines, const void *data);
/* Looks for new and changed binaries, then calls fn, possibly before this function returns. */
void engines_look(struct engines *engines, loop_work_fn fn, void *data);
/* The engines that the last look found, as an array of capabilities. */
json_t *engines_capabilities(struct engines *engines);

/* The first version in the text of `terraform version` ("Terraform v1.11.4\n..."), and the program that says so. Pure.
 * -1 if there is none. */
int engine_version_read(const char *text, struct version *ret_version, const char **ret_program);

#endif
