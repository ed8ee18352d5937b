/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_HTTP_LATE_CURL_H
#define WORKER_POLICY_HTTP_LATE_CURL_H

/*
 * Loads libcurl when it is first needed. Linking it makes a start 3 ms longer (5 instead of 2). runyard-policy starts
 * once for each policy, and few policies send requests. late_curl.c defines libcurl's functions, which call the loaded
 * ones.
 */

struct err;

/* Call it before any function of libcurl. ERR_UNAVAILABLE if libcurl is not installed. */
int late_curl_load(struct err *err);

#endif
