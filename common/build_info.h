/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_BUILD_INFO_H
#define COMMON_BUILD_INFO_H

/* The sources of this program. common/build_info.cmake writes the definitions at each build. */

/* The version of the project in CMakeLists.txt: "1.0.0". */
extern const char build_version[];
/* The commit, with "-dirty" if files differed from it; "unknown" if the sources were not in a repository. */
extern const char build_revision[];

#endif
