/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_PACKAGES_DOWNLOAD_H
#define WORKER_PACKAGES_DOWNLOAD_H

/*
 * Downloads engines by exact version from a mirror in the layout of the makers' release sites:
 *
 *     <terraform mirror>/1.11.4/terraform_1.11.4_SHA256SUMS, …_SHA256SUMS.sig, …_linux_amd64.zip
 *     <tofu mirror>/v1.10.6/tofu_1.10.6_SHA256SUMS, …_SHA256SUMS.gpgsig, …_linux_amd64.zip
 *     <opa mirror>/v1.4.2/opa_linux_amd64_static.sha256, opa_linux_amd64_static
 *
 * OPA's maker signs nothing. Its checksum is the one that the caller gives, or else that of the mirror.
 *
 * Otherwise gpgv checks the signature of the checksums with the maker's keyring, <keys>/terraform.gpg or
 * <keys>/tofu.gpg. After that, the archive is downloaded and its checksum is compared. The engine is renamed into
 * <data-dir>/engines as one file. That folder holds at most DOWNLOADS_MAX engines: a new one replaces the one that was
 * downloaded first, unless a job uses it.
 *
 * One download runs at a time, with limits on its time and bytes. If a mirror fails, nothing is downloaded from it for
 * five minutes. A missing version is not a failure.
 */

#include "common/loop/loop.h"
#include "proto/capabilities.h"

struct downloads;
struct err;
struct fetcher;

enum { DOWNLOADS_MAX = 16 };

/* OPA's name, beside those of the engines (proto/capabilities.h). */
extern const char *const program_opa;

/* All borrowed. */
struct downloads_spec {
	struct loop *loop;
	struct fetcher *fetcher;
	const char *data_dir;
	const char *terraform_mirror,
		*tofu_mirror; /* URL without a slash at its end; "": that engine is not downloaded */
	const char *opa_mirror;
	const char *keys; /* folder of the keyrings; "": terraform and tofu are not downloaded */
	bool (*in_use)(void *data, const char *path); /* whether a job uses the engine */
	void *data;
};

/* Makes the folder and removes the files of an interrupted download. ERR_INTERNAL. */
int downloads_open(const struct downloads_spec *spec, struct downloads **ret_downloads, struct err *err);
/* Ends the current download without its callback. To be called before the loop is freed. NULL-safe. */
void downloads_stop(struct downloads *downloads);
/* To be called after the loop is freed, because its threads may unpack until then. NULL-safe. */
void downloads_free(struct downloads *downloads);
/* The folder of the engines: <terraform|tofu|opa>-<version>. Borrowed. */
const char *downloads_folder(const struct downloads *downloads);
/* Whether the options name a mirror for that engine. */
bool downloads_named(const struct downloads *downloads, const char *engine);
/* Whether that engine can be downloaded from its mirror now. */
bool downloads_can(const struct downloads *downloads, const char *engine);

/* An engine, or an OPA. `url` and `sha` (SHA-256 in hex) are given together, for OPA alone, or are NULL. Borrowed. */
struct download_wanted {
	struct engine_choice choice;
	const char *url, *sha;
};

/* err NULL: the engine is in the folder. */
typedef void (*download_fn)(void *data, const struct err *err);
/* Starts a download; none may be running. Calls fn once, possibly before this function returns. */
void downloads_get(struct downloads *downloads, const struct download_wanted *wanted, download_fn fn, void *data);

#endif
