-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_wake
-- Wakes the VCS threads of all schedulers when the transaction has committed.
select pg_notify('runyard_vcs', '');
