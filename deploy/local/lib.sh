# SPDX-License-Identifier: MPL-2.0
# shellcheck shell=bash
#
# Shared by up, env, down and tests/run: packages, processes, ports and secrets of one data directory.
#
# A process is identified by its name:
# - run/<name>.pid: its pid;
# - run/<name>.start: the kernel's start time, so that a reused pid is not mistaken for the process;
# - run/<name>.how: its command line;
# - log/<name>.log: its output;
# - ports/<name>: its port, which it keeps across restarts.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
data=${RUNYARD_HOME:-$root/.local}
[[ $data = /* ]] || data=$PWD/$data

organization=acme # the first organization

# The variables of the caller's environment that processes inherit: those needed for network access, and no others.
passed_on=(PATH HOME LANG TZ http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR)

say() {
	printf '%s\n' "$*"
}

warn() {
	printf 'warning: %s\n' "$*" >&2
}

# die WHAT [WHAT TO DO...]
die() {
	printf 'error: %s\n' "$1" >&2
	shift
	(($# == 0)) || printf '  %s\n' "$@" >&2
	exit 1
}

# died NAME: fails with the end of the process's log.
died() {
	printf 'error: %s did not come up; the end of %s:\n' "$1" "$data/log/$1.log" >&2
	tail -n 15 "$data/log/$1.log" | sed 's/^/  | /' >&2
	say "Set right what it names and run the command again; what is up stays up." >&2
	exit 1
}

# until_true SECONDS COMMAND...: polls the command; fails when the time is over.
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.05
	done
}

# ---- tasks ----

declare -A task_pids=()

# task_start NAME COMMAND...: runs the command in the background. It gets a process group of its own, so that tasks_stop
# reaches all its processes, and that bash does not make it ignore SIGINT.
task_start() {
	local name=$1
	shift
	trap tasks_stop EXIT
	set -m
	"$@" </dev/null &
	set +m
	task_pids[$name]=$!
}

# task_wait NAME: waits until the task has ended, if it was started. Exits if the task failed.
task_wait() {
	[[ -v task_pids[$1] ]] || return 0
	wait "${task_pids[$1]}" || die "$1 failed" "The error is above."
	unset "task_pids[$1]"
}

# Stops the tasks that are running when this script ends, with all their processes: those hold this script's lock, too.
tasks_stop() {
	local name
	for name in "${!task_pids[@]}"; do
		kill -- "-${task_pids[$name]}" 2>/dev/null || continue
		wait "${task_pids[$name]}" 2>/dev/null || true
		while kill -0 -- "-${task_pids[$name]}" 2>/dev/null; do
			sleep 0.05
		done
	done
}

# ---- packages ----

# packages_missing PURPOSE...: prints the entries of the file packages that are not installed, one per line.
packages_missing() {
	local purpose package command wanted=" $* "
	while read -r purpose package command; do
		[[ $wanted == *" $purpose "* ]] || continue
		[[ $command != - ]] && command -v "$command" >/dev/null && continue
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || say "$package"
	done < <(grep -v '^#' "$root/deploy/local/packages") | sort -u
}

# without_services COMMAND...: runs the command and prevents packages from starting their services.
without_services() {
	local policy=/usr/sbin/policy-rc.d
	if [[ -e $policy ]]; then
		"${as_root[@]}" "$@"
		return
	fi
	printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
	"${as_root[@]}" chmod 755 "$policy"
	local code=0
	"${as_root[@]}" "$@" || code=$?
	"${as_root[@]}" rm -f "$policy"
	return "$code"
}

packages_updated=0 # 1 after apt has read the lists of packages

# packages_install PURPOSE...: installs missing packages; quick if there are none.
packages_install() {
	local missing log
	mapfile -t missing < <(packages_missing "$@")
	((${#missing[@]})) || return 0
	command -v apt-get >/dev/null || die "these packages are missing: ${missing[*]}" "Install them (they are named as Debian does) and try again."
	as_root=()
	if ((EUID != 0)); then
		command -v sudo >/dev/null || die "these packages are missing: ${missing[*]}" "Install them as root: apt-get install ${missing[*]}"
		as_root=(sudo)
	fi
	say "Installing ${missing[*]}"
	log=$(mktemp)
	((packages_updated)) || "${as_root[@]}" apt-get -qq update >"$log" 2>&1 || true
	packages_updated=1
	if ! without_services env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "${missing[@]}" >>"$log" 2>&1; then
		tail -n 20 "$log" >&2
		die "the packages could not be installed" "See above; the whole log: $log"
	fi
	rm -f "$log"
}

# build_complaint LOG: prints the errors in a build's log, without the steps that succeeded.
build_complaint() {
	grep -q '^FAILED' "$1" && sed -n '/^FAILED/,$p' "$1" | grep -v '^\[' | head -n 40 && return
	tail -n 20 "$1"
}

# ---- accounts ----

# account_make NAME: creates a system account without home and shell, unless it exists.
account_make() {
	local try
	for try in 1 2 3; do
		! getent passwd "$1" >/dev/null || return 0
		((try == 1)) || sleep 1 # another process may hold the lock of the account database
		useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$1" >&2 || true
	done
	getent passwd "$1" >/dev/null || die "the account $1 could not be created" "Create it: useradd --system --user-group $1"
}

# account_of NAME: prints the account of a process when root has started the stack. The worker changes to its own
# account by itself.
account_of() {
	((EUID == 0)) || return 0
	case $1 in
	broker | checker | runyard-scheduler | runyard-notifier | bootstrap) say runyard ;;
	esac
}

accounts_prepare() {
	((EUID == 0)) || return 0
	account_make runyard
	account_make runyard-worker
	tun_prepare
}

# The networks of jobs need /dev/net/tun open to every account, as udev creates it. Otherwise workers warn, and jobs
# share the machine's network.
tun_prepare() {
	((EUID == 0)) || return 0
	[[ -c /dev/net/tun ]] || { mkdir -p /dev/net && mknod /dev/net/tun c 10 200; } 2>/dev/null || return 0
	chmod 666 /dev/net/tun 2>/dev/null || true
}

# account_reaches ACCOUNT: lists the directory. access() would ignore capabilities.
account_reaches() {
	setpriv --reuid "$1" --regid "$1" --init-groups ls "$data/." >/dev/null 2>&1
}

# account_command NAME COMMAND...: sets the array command to the command line for NAME. If the account has no access to
# the data directory (below /root, say), the command gets a mount namespace in which the directory is also at $view.
account_command() {
	local account view=/run/runyard-local prefix=()
	account=$(account_of "$1")
	shift
	command=("$@")
	((EUID == 0)) || return 0
	[[ -z $account ]] || prefix=(setpriv --reuid "$account" --regid "$account" --init-groups --no-new-privs)
	if ! account_reaches "${account:-runyard-worker}"; then
		mkdir -p "$view"
		unshare --mount mount --bind "$data" "$view" 2>/dev/null ||
			die "the account ${account:-runyard-worker} can't reach $data" "Set RUNYARD_HOME to a folder that every account may look through, such as /var/lib/runyard."
		# shellcheck disable=SC2016
		prefix=(unshare --mount sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$data" "$view" "${prefix[@]}")
		command=("${command[@]//"$data"/$view}")
	fi
	command=("${prefix[@]}" "${command[@]}")
}

# ---- files ----

data_prepare() {
	mkdir -p "$data"/{run,log,ports,secrets}
	chmod 700 "$data/secrets"
	chmod 750 "$data/log"
	touch "$data/.runyard"
}

# secret NAME: prints the secret; creates it from 32 random bytes on first use.
secret() {
	local file=$data/secrets/$1
	[[ -s $file ]] || secret_put "$1" "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')"
	cat "$file"
}

# secret_put NAME TEXT
secret_put() {
	(umask 077 && printf '%s\n' "$2" >"$data/secrets/$1.new")
	mv "$data/secrets/$1.new" "$data/secrets/$1"
}

# secret_lend NAME...: makes these secrets readable for the account runyard; apart from root, no other account can read
# them.
secret_lend() {
	((EUID == 0)) || return 0
	chgrp runyard "$data/secrets"
	chmod 710 "$data/secrets"
	chown runyard "${@/#/$data/secrets/}"
}

port_taken() {
	(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# port_of NAME [PROCESS]: prints the port, which stays the same. If PROCESS is not running and another program uses the
# port, it chooses a new one. Ports are below the kernel's range for outgoing connections.
port_of() {
	local file=$data/ports/$1 port=
	[[ -s $file ]] && port=$(<"$file")
	if [[ -z $port ]] || { ! process_runs "${2:-$1}" && port_taken "$port"; }; then
		port=$((RANDOM % 12000 + 20000))
		while port_taken "$port"; do
			port=$((RANDOM % 12000 + 20000))
		done
		say "$port" >"$file"
	fi
	say "$port"
}

# ---- processes ----

# process_start_time PID: prints the kernel's start time of the process. Fails for a zombie and for a dead process.
process_start_time() {
	local stat
	[[ -r /proc/$1/stat ]] && stat=$(<"/proc/$1/stat") 2>/dev/null || return 1
	# shellcheck disable=SC2086
	set -- ${stat##*) }
	[[ $1 != Z && $1 != X ]] && say "${20}"
}

# process_runs NAME
process_runs() {
	local pid
	[[ -s $data/run/$1.pid && -s $data/run/$1.start ]] || return 1
	pid=$(<"$data/run/$1.pid")
	[[ $(process_start_time "$pid") == "$(<"$data/run/$1.start")" ]]
}

# process_start NAME COMMAND...: starts it in the background, in a session of its own, with a clean environment and no
# ignored signals. bash ignores SIGINT in background commands, and terraform would inherit that.
process_start() {
	local name=$1 environment=() variable pid command
	shift
	case $name in
	broker | checker | runyard-*) account_command "$name" "$@" ;;
	*) command=("$@") ;;
	esac
	for variable in "${passed_on[@]}"; do
		[[ -v $variable ]] && environment+=("$variable=${!variable}")
	done
	(umask 027 && : >>"$data/log/$name.log")
	chmod 640 "$data/log/$name.log" # an existing log may have another mode
	(cd "$data" && exec setsid env --default-signal -i "${environment[@]}" "${command[@]}") </dev/null >>"$data/log/$name.log" 2>&1 9>&- &
	pid=$!
	disown "$pid"
	process_start_time "$pid" >"$data/run/$name.start" || died "$name"
	say "$pid" >"$data/run/$name.pid"
}

# process_stop NAME: sends the signals of process_signals one after the other until the process has ended.
process_stop() {
	local name=$1 pid signal seconds
	process_runs "$name" || { rm -f "$data/run/$name".{pid,start,how}; return 0; }
	pid=$(<"$data/run/$name.pid")
	while read -r signal seconds; do
		process_runs "$name" || break
		kill -s "$signal" "$pid" 2>/dev/null || true
		until_true "$seconds" process_gone "$name" || true
	done < <(process_signals "$name")
	rm -f "$data/run/$name".{pid,start,how}
}

process_gone() {
	! process_runs "$1"
}

# process_signals NAME: prints signals and the seconds to wait after each, in order.
process_signals() {
	case $1 in
	postgres) printf 'INT 20\nQUIT 10\nKILL 5\n' ;; # INT is PostgreSQL's fast shutdown; TERM would wait for every client
	# The first TERM drains, the second interrupts applies, the third stops at once.
	runyard-*) printf 'TERM %s\nTERM 15\nTERM 15\nKILL 5\n' "${drain_seconds:-60}" ;;
	*) printf 'TERM 20\nKILL 5\n' ;;
	esac
}

# process_ensure NAME READY_COMMAND -- COMMAND...: starts it, unless it runs with the same command and binary, and waits
# until READY_COMMAND succeeds. Sets process_began to 1 if it started the process.
process_ensure() {
	local name=$1 ready=$2 patience=120 how
	shift 3
	how=$(printf '%q ' "$@"; account_of "$name"; binary_stamp "$@")
	process_began=0
	if process_runs "$name" && [[ $how == "$(cat "$data/run/$name.how" 2>/dev/null)" ]]; then
		"$ready" || until_true "$patience" "$ready" || died "$name"
		return
	fi
	process_stop "$name"
	process_start "$name" "$@"
	say "$how" >"$data/run/$name.how"
	process_began=1
	until_true "$patience" ready_or_dead "$name" "$ready" && process_runs "$name" || died "$name"
}

ready_or_dead() {
	process_gone "$1" || "$2"
}

# Prints a stamp that differs between builds of our own binaries.
binary_stamp() {
	[[ $1 != "$data"/build/* ]] || stat -c '%i %Y' "$1"
}
