-- SPDX-License-Identifier: MPL-2.0

-- statement: varset_globals_lock
-- Serializes checks of an organization's global sets, so that each check sees all committed variables.
-- index: organizations_pkey
-- takes: organization_id text
select 1 from organizations where id = :organization_id for no key update;

-- statement: varset_globals_conflict
-- A key of the set that another global set has, and that set's name.
-- index: variables_varset_key, varsets_name
-- takes: id text, organization_id text
-- gives: key text, name text
select v.key, o.name
from variables v
join varsets o on o.organization_id = :organization_id and o.global and o.id <> :id
join variables x on x.varset_id = o.id and x.key = v.key and x.category = v.category
where v.varset_id = :id
order by v.key
limit 1;

-- statement: varset_touch
-- Sets the time of the set's last change.
-- index: varsets_pkey
-- takes: id text
-- gives: organization_id text, global boolean
update varsets set updated_at = now() where id = :id returning organization_id, global;
