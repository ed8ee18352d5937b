# SPDX-License-Identifier: MPL-2.0
# shellcheck shell=bash
#
# A bare Debian in a folder: debootstrap's minimal system, whose commands run in namespaces of their own. It shares this machine's
# network. Its package clients have this machine's settings: certificates, proxies, mirrors. For root. Needs lib.sh.
# A system of arm64 runs by qemu (foreign).

# The files and the variables that the system gets: settings of package clients, and the number of jobs.
bare_files=(/etc/hosts /etc/resolv.conf /etc/apt/auth.conf.d /usr/local/share/ca-certificates /etc/pip.conf
	~/.config/pip/pip.conf ~/.npmrc ~/.m2/settings.xml ~/.config/go/env)
bare_variables='.*_proxy|.*_PROXY|SSL_CERT_.*|.*_CA_BUNDLE|GIT_SSL_CAINFO|NODE_EXTRA_CA_CERTS|PIP_.*|npm_config_.*|MAVEN_.*|GO(PROXY|NOPROXY|PRIVATE|SUMDB|NOSUMDB|TOOLCHAIN|FLAGS)|RUNYARD_JOBS'

# bare_sources RELEASE: prints the main components of Debian's archives as this machine's apt reads them, for the release.
bare_sources() {
	local own
	own=$(. /etc/os-release && say "$VERSION_CODENAME")
	# shellcheck disable=SC2016
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Component: main' |
		sed -nE "s/ $own(|-updates|-security) main$/ $1\1 main/p"
}

# bare_namespaces ARCHITECTURE: sets bare_enter_with to the command that starts a process of the system in its namespaces.
bare_namespaces() {
	if [[ $1 == "$(dpkg --print-architecture)" ]]; then
		bare_enter_with=(unshare --mount --propagation private --pid --ipc --fork --kill-child)
	else
		bare_enter_with=("$root/deploy/local/foreign")
	fi
}

# bare_archive RELEASE ARCHITECTURE: sets bare_tar to an archive of the minimal system, which is made once.
bare_archive() {
	local release=$1 architecture=$2 made=$data/log/debootstrap.$1-$2.log mirror work foreign=()
	bare_tar=$data/bare/$release-$architecture.tar
	[[ ! -s $bare_tar ]] || return 0
	packages_install bare
	say "Making a bare Debian $release for $architecture (about a minute, once)"
	bare_namespaces "$architecture"
	[[ ${bare_enter_with[0]} == unshare ]] || foreign=(--foreign)
	mirror=$(bare_sources "$release" | awk -v release="$release" '$3 == release { print $2; exit }')
	mkdir -p "$data/bare" "$data/log"
	work=${bare_tar%.tar}.new
	rm -rf --one-file-system "$work"
	if ! { unshare --mount --pid --fork --kill-child --mount-proc debootstrap --variant=minbase --include=ca-certificates \
		--arch "$architecture" "${foreign[@]}" "$release" "$work" "$mirror" &&
		{ [[ ! ${foreign[*]} ]] || "${bare_enter_with[@]}" env container=lxc chroot "$work" /debootstrap/debootstrap --second-stage; }; } >"$made" 2>&1; then
		tail -n 10 "$made" >&2
		die "debootstrap failed" "The log: $made"
	fi
	tar -C "$work" -cf "$bare_tar.new" .
	rm -rf --one-file-system "$work"
	mv "$bare_tar.new" "$bare_tar"
}

# bare_architecture FOLDER: prints the system's architecture.
bare_architecture() {
	dpkg-query --admindir "$1/var/lib/dpkg" --show --showformat '${Architecture}' libc6
}

# bare_make RELEASE FOLDER [ARCHITECTURE]: makes the system in the folder, which is emptied.
bare_make() {
	local release=$1 bare=$2 architecture=${3:-$(dpkg --print-architecture)} file
	bare_archive "$release" "$architecture"
	rm -rf --one-file-system "$bare"
	mkdir -p "$bare"
	tar -C "$bare" -xf "$bare_tar"
	bare_sources "$release" >"$bare/etc/apt/sources.list"
	apt-config dump | grep -E '^Acquire::(https?|Check-[A-Za-z-]+|Retries|Languages)[: ]' >"$bare/etc/apt/apt.conf.d/machine" || true
	for file in "${bare_files[@]}"; do
		[[ ! -e $file ]] || { mkdir -p "$bare${file%/*}" && cp -rL --preserve=mode "$file" "$bare${file%/*}/"; }
	done
	bare_namespaces "$architecture"
	"${bare_enter_with[@]}" chroot "$bare" update-ca-certificates >/dev/null 2>&1
}

# Makes the folder the root of this mount namespace. Runs inside of the system.
bare_enter() {
	mount --bind "$1" "$1"
	cd "$1"
	mount -t proc proc proc
	mount -t sysfs sys sys 2>/dev/null || mount --rbind /sys sys # a user namespace may only bind it
	mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
	mount -t tmpfs -o mode=1777 shm dev/shm
	mkdir -p .old
	pivot_root . .old
	umount -l .old
}

# bare_run FOLDER FUNCTION ARGUMENTS...: runs the function in the system, in namespaces that end with this script. bare_functions
# names further functions that it calls, bare_environment further variables (NAME=VALUE).
bare_functions=()
bare_environment=()
bare_run() {
	local bare=$1 name environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "HOME=$HOME" LANG=C.UTF-8 "${bare_environment[@]}")
	for name in $(compgen -e | grep -xE "$bare_variables"); do
		environment+=("$name=${!name}")
	done
	mkdir -p "$bare$HOME"
	bare_namespaces "$(bare_architecture "$bare")"
	setpriv --pdeathsig KILL env --default-signal -i "${environment[@]}" "${bare_enter_with[@]}" \
		bash -euc "$(declare -f bare_enter "$2" "${bare_functions[@]}")"$'\n''bare_enter "$1"; "${@:2}"' bash "$@" </dev/null
}
