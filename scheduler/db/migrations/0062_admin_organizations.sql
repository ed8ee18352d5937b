-- SPDX-License-Identifier: MPL-2.0
-- What site admins set for an organization. A disabled one is there for nobody but them; its rows stay.

alter table organizations add column is_disabled boolean not null default false,
	add column admin_settings jsonb not null default '{}';

drop trigger rights_changed on organizations;
create constraint trigger rights_changed after update on organizations
	deferrable initially deferred for each row when ((old.settings->'user-tokens-enabled', old.is_disabled)
		is distinct from (new.settings->'user-tokens-enabled', new.is_disabled)) execute function rights_changed();

create table module_consumers (
	organization_id text not null references organizations on delete cascade,
	consumer_id text not null references organizations on delete cascade,
	primary key (organization_id, consumer_id)
);
create index module_consumers_consumer on module_consumers (consumer_id);
