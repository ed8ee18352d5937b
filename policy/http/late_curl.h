/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_HTTP_LATE_CURL_H
#define POLICY_HTTP_LATE_CURL_H

/*
 * Loads libcurl when it is first needed. Linking it would add 3 ms to each start of runyard-policy, which starts
 * once for each policy. Few policies send requests. late_curl.c defines libcurl's functions, which call the loaded
 * ones.
 */

struct err;

/* Call it before any function of libcurl. ERR_UNAVAILABLE if libcurl is not installed. */
int late_curl_load(struct err *err);

#endif
