-- SPDX-License-Identifier: MPL-2.0
-- A delivery is stored without a lock of its repository's row, which its foreign key would take: with few repositories,
-- concurrent transactions wrote that row more often than deliveries. The thread that reads the deliveries drops those that
-- were stored while their repository was deleted.
alter table vcs_deliveries drop constraint vcs_deliveries_repository_id_fkey;
create function vcs_deliveries_drop() returns trigger language plpgsql as $$
begin
	delete from vcs_deliveries where repository_id = old.id;
	return null;
end
$$;
create trigger vcs_repositories_deliveries after delete on vcs_repositories for each row execute function vcs_deliveries_drop();
-- Sealed bytes can't be compressed.
alter table vcs_deliveries alter column body_sealed set storage external;
