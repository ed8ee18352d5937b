-- SPDX-License-Identifier: MPL-2.0
-- Of a release that does not exist: runyard-scheduler-next, the program of tests of upgrades.

alter table comments add column next text not null default 'a;b';
create table nexts (
	id text primary key,
	workspace_id text not null references workspaces on delete cascade
);
create index nexts_workspace on nexts (workspace_id);
create table next_notes (id text primary key); -- refers to nothing; it's new
create index comments_next on comments (next);
create function comment_next() returns trigger language plpgsql as $$
begin
	new.next := 'c;d';
	return new;
end $$;
create trigger comments_next before insert on comments for each row execute function comment_next();
alter table comments add constraint comments_next check (length(next) < 100) not valid;
alter table plan_exports add constraint plan_exports_author foreign key (created_by) references users (id) not valid;
alter table plan_exports validate constraint plan_exports_author;
alter table comments set (fillfactor = 90);
update comments set next = 'e';
delete from plan_exports where id = '';
create view next_comments as select id, next from comments;
