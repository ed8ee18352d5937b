# SPDX-License-Identifier: MPL-2.0
# shellcheck shell=bash
#
# Starts the servers of the local stack, in the order of their dependencies. The functions do nothing if the server is
# running.

# ---- PostgreSQL ----

# PostgreSQL refuses to run as root, so root starts it with the package's account. If that account has no access to the
# data directory (below /root, say), it gets the one capability that permits searching directories. Its own files keep
# their owner.
postgres_account() {
	as_postgres=()
	((EUID == 0)) || return 0
	local account=postgres capability
	id -u "$account" >/dev/null 2>&1 || die "there is no account '$account'" "The distribution's postgresql package makes one."
	as_postgres=(setpriv --reuid "$account" --regid "$account" --init-groups)
	chown "$account": "$data/postgres"
	postgres_reaches && return
	for capability in dac_read_search dac_override; do
		as_postgres=(setpriv --reuid "$account" --regid "$account" --init-groups
			--inh-caps "+$capability" --ambient-caps "+$capability")
		postgres_reaches && return
	done
	die "the account '$account' can't reach $data/postgres" "Set RUNYARD_HOME to a folder that every account may look through, such as /var/lib/runyard."
}

# Lists the directory. access() would ignore capabilities.
postgres_reaches() {
	"${as_postgres[@]}" ls "$data/postgres" >/dev/null 2>&1
}

# Prints the folder with initdb and postgres: the distribution's newest version, or the one in PATH.
postgres_programs() {
	local found
	found=$(find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1)
	[[ -n $found ]] || found=$(command -v initdb) || die "PostgreSQL's initdb is not there" "apt-get install postgresql"
	dirname "$found"
}

postgres_init() {
	[[ -s $data/postgres/data/PG_VERSION ]] && return
	say "Making the database"
	secret postgres >/dev/null
	(umask 077 && secret postgres >"$data/postgres/password")
	((EUID != 0)) || chown postgres: "$data/postgres/password"
	rm -rf "$data/postgres/data"
	(cd / && "${as_postgres[@]}" "$programs/initdb" -D "$data/postgres/data" -U runyard --auth=scram-sha-256 \
		--pwfile="$data/postgres/password" -E UTF8 --locale=C.UTF-8) >"$data/log/postgres.log" 2>&1 || died postgres
	rm -f "$data/postgres/password"
}

postgres_url() {
	say "postgresql://runyard:$(secret postgres)@127.0.0.1:$(port_of postgres)/$1"
}

# psql reads the password from its environment, which other accounts can't read.
postgres_sql() {
	PGPASSWORD=$(secret postgres) psql -X -q -A -t -h 127.0.0.1 -p "$(port_of postgres)" -U runyard -d "$1" -c "$2"
}

postgres_ready() {
	postgres_sql postgres 'select 1' >/dev/null 2>&1
}

# The path of a Unix socket has at most 107 bytes. If the folder's path is too long, PostgreSQL listens on TCP only.
postgres_socket_folder() {
	local path=$data/postgres/.s.PGSQL.65535
	((${#path} > 107)) || say "$data/postgres"
}

# After PostgreSQL was killed, its processes need a moment to exit. It does not start while they run.
postgres_deserted() {
	local process
	for process in /proc/[0-9]*; do
		[[ $(readlink "$process/cwd" 2>/dev/null) != "$data/postgres/data" ]] || return 1
	done
}

# PostgreSQL's lock names a pid. A killed process that is not reaped yet counts as running.
postgres_unlock() {
	local lock=$data/postgres/data/postmaster.pid
	[[ -s $lock ]] || return 0
	if until_true 20 postgres_deserted && ! process_start_time "$(head -n 1 "$lock")" >/dev/null; then
		rm -f "$lock" "$data"/postgres/.s.PGSQL.*
	fi
}

postgres_settings() {
	say listen_addresses=127.0.0.1 shared_buffers=128MB max_connections=200 wal_level=minimal max_wal_senders=0 max_wal_size=512MB
}

postgres_up() {
	local programs port settings
	mkdir -p "$data/postgres"
	chmod 700 "$data/postgres"
	postgres_account
	programs=$(postgres_programs)
	postgres_init
	port=$(port_of postgres)
	process_runs postgres || postgres_unlock
	read -ra settings < <(postgres_settings)
	process_ensure postgres postgres_ready -- "${as_postgres[@]}" "$programs/postgres" -D "$data/postgres/data" \
		-p "$port" -c "unix_socket_directories=$(postgres_socket_folder)" "${settings[@]/#/--}"
	[[ $(postgres_sql postgres "select 1 from pg_database where datname = 'runyard'") == 1 ]] ||
		postgres_sql postgres 'create database runyard'
	address_put database-url "$(postgres_url runyard)" runyard-scheduler
}

# address_put SECRET URL PROCESS: stores the URL with its password for the process. Stops the process if the URL
# differs, so that it is started again with the new one.
address_put() {
	[[ -s $data/secrets/$1 && $(<"$data/secrets/$1") == "$2" ]] && return
	process_stop "$3"
	secret_put "$1" "$2"
}

# ---- Redis ----

redis_ready() {
	[[ $(REDISCLI_AUTH=$(secret redis) redis-cli -h 127.0.0.1 -p "$(port_of redis)" ping 2>/dev/null) == PONG ]]
}

redis_up() {
	local port
	port=$(port_of redis)
	mkdir -p "$data/redis"
	(umask 077 && cat >"$data/redis/redis.conf" <<-END
		bind 127.0.0.1
		port $port
		requirepass $(secret redis)
		dir "$data/redis"
		appendonly yes
		daemonize no
		hz 1
	END
	)
	process_ensure redis redis_ready -- redis-server "$data/redis/redis.conf"
	address_put redis-url "redis://:$(secret redis)@127.0.0.1:$port/0" runyard-notifier
}

# ---- the broker ----

# broker_up embedded|kafka: starts one broker and stops the other. Sets brokers, fetch_wait_ms and broker_options, the option
# with the properties of its clients.
broker_up() {
	case $1 in
	embedded)
		broker_retire kafka
		embedded_up
		;;
	kafka)
		broker_retire broker
		kafka_up
		;;
	esac
	say "$1" >"$data/broker"
	# shellcheck disable=SC2034
	broker_options=(--broker-properties-file "$data/secrets/broker-properties")
}

# client_properties_put PROPERTIES
client_properties_put() {
	secret_put broker-properties "$1"
	secret_lend broker-properties
}

# broker_retire NAME: stops the clients of the broker and then the broker: consumers need it to leave their groups.
broker_retire() {
	process_runs "$1" || return 0
	process_stop runyard-worker
	process_stop runyard-scheduler
	process_stop "$1"
}

embedded_ready() {
	port_taken "$(port_of broker)"
}

# The broker extends short waits of fetches only (broker.c), so clients get one. Their requests create the topics of pools.
embedded_up() {
	local port
	port=$(port_of broker)
	process_ensure broker embedded_ready -- "$data/build/bin/runyard-broker" --port "$port"
	brokers=127.0.0.1:$port
	fetch_wait_ms=10
	client_properties_put allow.auto.create.topics=true
}

# kafka_jars FOLDER: fetches the Apache Kafka of deploy/local/kafka/pom.xml from Maven Central.
kafka_jars() {
	local pom=$root/deploy/local/kafka/pom.xml log
	cmp -s "$pom" "$1/pom.xml" && return
	packages_install kafka
	say "Fetching Apache Kafka (45 MB, once)"
	rm -rf "$1"
	mkdir -p "$1"
	log=$(mktemp)
	mvn -B -q -f "$pom" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$1" >"$log" 2>&1 ||
		{ tail -n 20 "$log" >&2; die "Apache Kafka could not be fetched" "See above; it comes from Maven Central through mvn."; }
	rm -f "$log"
	cp "$pom" "$1/pom.xml"
}

# kafka_java FOLDER COMMAND...: sets the array kafka_command to the command that runs a class of Kafka.
kafka_java() {
	local jars=$1
	shift
	kafka_command=(java -Xmx256m -Xms64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1
		-Dorg.slf4j.simpleLogger.defaultLogLevel=warn -Dorg.slf4j.simpleLogger.showDateTime=true -cp "$jars/*" "$@")
}

# kafka_properties FOLDER PORT CONTROLLER_PORT: prints the settings of one node that is both broker and controller.
kafka_properties() {
	cat <<-END
		process.roles=broker,controller
		node.id=1
		controller.quorum.voters=1@127.0.0.1:$3
		controller.listener.names=CONTROLLER
		listeners=PLAINTEXT://127.0.0.1:$2,CONTROLLER://127.0.0.1:$3
		advertised.listeners=PLAINTEXT://127.0.0.1:$2
		log.dirs=$1
		num.partitions=8
		offsets.topic.num.partitions=8
		offsets.topic.replication.factor=1
		transaction.state.log.replication.factor=1
		transaction.state.log.min.isr=1
		group.initial.rebalance.delay.ms=0
		broker.heartbeat.interval.ms=500
		broker.session.timeout.ms=1500
		log.segment.bytes=16777216
	END
}

# kafka_sasl_properties PORT CONTROLLER_PORT PASSWORD: follows kafka_properties, whose listeners it replaces. The
# password is sent over the loopback device only. SCRAM, which does not send it, fails between librdkafka before 2.6.1
# (Debian 12 has 2.0.2) and Kafka 3.7.2 and later: that client repeats its nonce, and that server checks it.
kafka_sasl_properties() {
	local listener login="org.apache.kafka.common.security.plain.PlainLoginModule required username=\"runyard\" password=\"$3\""
	cat <<-END
		listeners=CLIENT://127.0.0.1:$1,CONTROLLER://127.0.0.1:$2
		advertised.listeners=CLIENT://127.0.0.1:$1
		listener.security.protocol.map=CLIENT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT
		inter.broker.listener.name=CLIENT
		sasl.mechanism.inter.broker.protocol=PLAIN
		sasl.mechanism.controller.protocol=PLAIN
	END
	for listener in client controller; do
		cat <<-END
			listener.name.$listener.sasl.enabled.mechanisms=PLAIN
			listener.name.$listener.plain.sasl.jaas.config=$login user_runyard="$3";
		END
	done
}

# kafka_client_properties PASSWORD: prints the value for --broker-properties-file.
kafka_client_properties() {
	say "security.protocol=SASL_PLAINTEXT;sasl.mechanism=PLAIN;sasl.username=runyard;sasl.password=$1"
}

kafka_ready() {
	port_taken "$(port_of kafka)"
}

kafka_up() {
	local port controller password folder=$data/kafka
	kafka_jars "$folder/jars"
	[[ -s $data/secrets/kafka ]] || process_stop kafka # it runs without a password
	password=$(secret kafka)
	port=$(port_of kafka)
	controller=$(port_of kafka-controller kafka)
	rm -f "$folder/server.properties"
	(umask 077 && {
		kafka_properties "$folder/data" "$port" "$controller"
		kafka_sasl_properties "$port" "$controller" "$password"
	} >"$folder/server.properties")
	if [[ ! -s $folder/data/meta.properties ]]; then
		kafka_java "$folder/jars" kafka.tools.StorageTool format -t "$(kafka_cluster_id)" -c "$folder/server.properties"
		"${kafka_command[@]}" >"$data/log/kafka.log" 2>&1 || died kafka
	fi
	kafka_java "$folder/jars" kafka.Kafka "$folder/server.properties"
	process_ensure kafka kafka_ready -- "${kafka_command[@]}"
	client_properties_put "$(kafka_client_properties "$password")"
	# shellcheck disable=SC2034
	brokers=127.0.0.1:$port fetch_wait_ms=500
}

# 16 random bytes in base64 without signs: Kafka reads an id that begins with a hyphen as an option.
kafka_cluster_id() {
	head -c 16 /dev/urandom | base64 | tr '+/' 'AB' | tr -d '='
}

# ---- Runyard ----

scheduler_url() {
	say "http://127.0.0.1:$(port_of runyard-scheduler)"
}

scheduler_ready() {
	curl -fsS -o /dev/null "$(scheduler_url)/readyz" 2>/dev/null
}

scheduler_up() {
	local port metrics_port
	port=$(port_of runyard-scheduler)
	metrics_port=$(port_of runyard-scheduler-metrics runyard-scheduler)
	[[ -s $data/secrets/keys ]] || secret_put keys "1:$(secret key)"
	secret_lend database-url keys
	process_ensure runyard-scheduler scheduler_ready -- "$data/build/bin/runyard-scheduler" \
		--listen "127.0.0.1:$port" --metrics-listen "127.0.0.1:$metrics_port" \
		--database-url-file "$data/secrets/database-url" --keys-file "$data/secrets/keys" \
		--brokers "$brokers" --fetch-wait-ms "$fetch_wait_ms" "${broker_options[@]}" --task-allow "127.0.0.1:$(port_of checker)"
}

notifier_ready() {
	curl -fsS -o /dev/null "http://127.0.0.1:$(port_of runyard-notifier)/readyz" 2>/dev/null
}

# On this machine, run tasks may call the checker's port only.
notifier_up() {
	local port metrics_port
	port=$(port_of runyard-notifier)
	metrics_port=$(port_of runyard-notifier-metrics runyard-notifier)
	secret_lend notifier-token redis-url
	process_ensure runyard-notifier notifier_ready -- "$data/build/bin/runyard-notifier" \
		--scheduler-url "$(scheduler_url)" --notifier-token-file "$data/secrets/notifier-token" --name local \
		--brokers "$brokers" --fetch-wait-ms "$fetch_wait_ms" "${broker_options[@]}" --listen "127.0.0.1:$port" \
		--metrics-listen "127.0.0.1:$metrics_port" \
		--redis-url-file "$data/secrets/redis-url" --allow "127.0.0.1:$(port_of checker)"
}

checker_url() {
	say "http://127.0.0.1:$(port_of checker)/"
}

checker_ready() {
	curl -fsS -o /dev/null "$(checker_url)" 2>/dev/null
}

# The service of the example's run task.
checker_up() {
	local port python=/usr/bin/python3
	[[ -x $python ]] || python=python3 # the first python3 in root's PATH may be below /root
	port=$(port_of checker)
	secret checker-key >/dev/null
	secret_lend checker-key
	install -m 644 "$root/deploy/local/example/checker.py" "$data/checker.py"
	process_ensure checker checker_ready -- "$python" "$data/checker.py" \
		--port "$port" --key-file "$data/secrets/checker-key"
}

# The worker logs in with the pool's token.
worker_ready() {
	curl -fsS -o /dev/null "http://127.0.0.1:$(port_of runyard-worker)/readyz" 2>/dev/null
}

# Containers often forbid the namespaces of the sandbox, at least to accounts other than root.
sandbox_kind() {
	local as_worker=()
	if ((EUID == 0)); then
		account_make runyard-worker
		as_worker=(setpriv --reuid runyard-worker --regid runyard-worker --init-groups --no-new-privs)
	fi
	if "${as_worker[@]}" /usr/bin/bwrap --unshare-user-try --unshare-pid --unshare-ipc --unshare-uts --cap-drop ALL \
		--ro-bind / / --proc /proc --dev /dev --tmpfs /tmp true 2>/dev/null; then
		say bwrap
	else
		warn "bwrap does not work on this machine: terraform runs without a sandbox, so run only configurations that you trust."
		say none
	fi
}

worker_up() {
	local port sandbox options=()
	port=$(port_of runyard-worker)
	sandbox=$(sandbox_kind)
	[[ -z $engine ]] || options+=(--engine "$engine")
	mkdir -p "$data/worker" "$data/engines"
	process_ensure runyard-worker worker_ready -- "$data/build/bin/runyard-worker" \
		--scheduler-url "$(scheduler_url)" --agent-token-file "$data/secrets/agent-token" --name local \
		--brokers "$brokers" --fetch-wait-ms "$fetch_wait_ms" "${broker_options[@]}" --listen "127.0.0.1:$port" \
		--data-dir "$data/worker" --engine-dir "$data/engines" --sandbox "$sandbox" "${options[@]}"
}
