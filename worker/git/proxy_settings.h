/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_GIT_PROXY_SETTINGS_H
#define WORKER_GIT_PROXY_SETTINGS_H

struct buf;

/* Adds the proxies of the worker's environment to an order, in the form of upstream.h. Reads HTTPS_PROXY, HTTP_PROXY
 * and NO_PROXY, in upper or lower case. -1 if they do not fit. */
int proxy_settings_add(struct buf *order);

#endif
