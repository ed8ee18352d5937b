/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/stages.h"

const struct step *const stage_steps[STAGE_COUNT] = {
	[STAGE_PLAN] = plan_steps,
	[STAGE_OPA] = opa_steps,
	[STAGE_COST] = cost_steps,
	[STAGE_SENTINEL] = sentinel_steps,
	[STAGE_APPLY] = apply_steps,
};
