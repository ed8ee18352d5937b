-- SPDX-License-Identifier: MPL-2.0

-- shape: policy_set_parameter
-- total bigint optional, id text, policy_set_id text, key text, value_sealed bytea, sensitive boolean,
-- created_at timestamptz

-- statement: policy_set_parameters_list
-- One page by key, with the total in each row; one row without a parameter if the page is empty.
-- index: policy_set_parameters_policy_set_id_key_key
-- takes: policy_set_id text, limit bigint, offset bigint
-- gives: policy_set_parameter
select c.total, p.*
from (select count(*) as total from policy_set_parameters where policy_set_id = :policy_set_id) c
left join (
    select *
    from policy_set_parameters
    where policy_set_id = :policy_set_id
    order by key
    limit :limit
    offset :offset
) p on true
order by p.key;

-- statement: policy_set_parameter_read
-- One parameter of the set.
-- index: policy_set_parameters_policy_set_id_key_key
-- takes: policy_set_id text, id text
-- gives: policy_set_parameter
select * from policy_set_parameters where policy_set_id = :policy_set_id and id = :id;

-- statement: policy_set_parameter_create
-- Adds no row if the set has the maximum number of parameters.
-- index: policy_set_parameters_policy_set_id_key_key
-- takes: id text, policy_set_id text, key text, value_sealed bytea, sensitive boolean, max bigint
insert into policy_set_parameters (id, policy_set_id, key, value_sealed, sensitive)
select :id, :policy_set_id, :key, :value_sealed, :sensitive
where (select count(*) from policy_set_parameters where policy_set_id = :policy_set_id) < :max::bigint;

-- statement: policy_set_parameter_update
-- A sensitive parameter stays one.
-- index: policy_set_parameters_pkey
-- takes: id text, key text, sensitive boolean, sets_value boolean, value_sealed bytea
update policy_set_parameters
set key = :key, sensitive = sensitive or :sensitive,
    value_sealed = case when :sets_value then :value_sealed::bytea else value_sealed end
where id = :id;

-- statement: policy_set_parameter_delete
-- Deletes a parameter.
-- index: policy_set_parameters_pkey
-- takes: id text
delete from policy_set_parameters where id = :id;
