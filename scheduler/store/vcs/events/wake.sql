-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_wake
select pg_notify('runyard_vcs', '');
