/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_RETURN_PATH_H
#define SCHEDULER_UI_RETURN_PATH_H

/* Accepts only paths of this server: browsers read "//host" and "/\host" as other hosts. */
const char *return_path(const char *wanted);

#endif
