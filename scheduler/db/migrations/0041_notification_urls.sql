-- SPDX-License-Identifier: MPL-2.0
-- URLs of notifications rest sealed: a chat's URL is all that somebody needs to write there. A scheduler seals at its start
-- those that are not (store/notifications/notification_urls.h), so `url` is empty from then on.
alter table notification_configurations add column url_sealed bytea;
alter table notification_configurations drop constraint notification_configurations_url;
alter table notification_configurations add constraint notification_configurations_url
	check (num_nonnulls(url, url_sealed) = (destination_type <> 'email')::int);
create index notification_configurations_unsealed on notification_configurations (id) where url is not null;

-- Without either: the answer of a mail server.
alter table notification_responses add column url_sealed bytea;
alter table notification_responses alter column url drop not null;
create index notification_responses_unsealed on notification_responses (id) where url is not null;
