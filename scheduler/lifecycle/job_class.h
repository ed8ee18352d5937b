/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_JOB_CLASS_H
#define SCHEDULER_LIFECYCLE_JOB_CLASS_H

/*
 * The order in which waiting jobs are handed out, the smallest first: applies, then plans, then speculative plans, then
 * assessments. An apply holds a workspace, a speculative plan does not. A query is a speculative plan here. No user
 * waits for an assessment.
 */
enum job_class { CLASS_APPLY, CLASS_PLAN, CLASS_SPECULATIVE, CLASS_ASSESSMENT, CLASS_COUNT };

#endif
