/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_HTTP_LATE_CURL_H
#define WORKER_POLICY_HTTP_LATE_CURL_H

/*
 * Loads libcurl when it is first needed. A program that links it needs 3 ms more for each start, and runyard-policy
 * starts for each policy, of which few send requests. late_curl.c has libcurl's functions, which call the loaded ones.
 */

struct err;

/* Call it before any function of libcurl. ERR_UNAVAILABLE if libcurl is not installed. */
int late_curl_load(struct err *err);

#endif
