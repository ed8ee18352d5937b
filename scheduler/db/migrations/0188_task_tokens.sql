-- SPDX-License-Identifier: MPL-2.0
-- Tokens of run tasks, and deadlines that passed, are looked up among the open results: the table keeps those of all runs.
create index task_results_open on task_results (token_hash) where status in ('pending', 'running');
