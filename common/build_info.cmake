# SPDX-License-Identifier: MPL-2.0
#
# cmake -D OUTPUT=file.c -D VERSION=1.2.3 -D REVISION=text -P build_info.cmake, in the sources' folder: writes the
# definitions of common/build_info.h. An empty REVISION means git's. An unchanged file keeps its time, so that only a new
# revision links the programs again.

if(REVISION STREQUAL "")
	execute_process(
		COMMAND git --no-optional-locks describe --always --dirty --abbrev=12 --exclude=*
		OUTPUT_VARIABLE REVISION ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(REVISION STREQUAL "")
	set(REVISION unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "common/build_info.h"

const char build_version[] = "@VERSION@";
const char build_revision[] = "@REVISION@";
]])
