-- SPDX-License-Identifier: MPL-2.0
-- contract: 9001

drop view next_comments;
alter table comments drop column next;
