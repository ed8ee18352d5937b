# SPDX-License-Identifier: MPL-2.0
# shellcheck shell=bash
#
# A minimal Debian of debootstrap, in namespaces of its own: for releases, and for programs that show what happens on a new
# machine. It shares this machine's network, and its package clients have this machine's settings: certificates, proxies,
# mirrors. A system of another architecture runs by qemu (foreign). For root. Needs lib.sh; $data keeps the archives.

# The files and the variables with the settings of package clients.
setting_files=(/etc/hosts /etc/resolv.conf /etc/apt/auth.conf.d /usr/local/share/ca-certificates /etc/pip.conf
	~/.config/pip/pip.conf ~/.npmrc ~/.m2/settings.xml ~/.config/go/env)
setting_variables='.*_proxy|.*_PROXY|SSL_CERT_.*|.*_CA_BUNDLE|GIT_SSL_CAINFO|NODE_EXTRA_CA_CERTS|PIP_.*|npm_config_.*|MAVEN_.*|GO(PROXY|NOPROXY|PRIVATE|SUMDB|NOSUMDB|TOOLCHAIN|FLAGS)|RUNYARD_JOBS'

# system_sources RELEASE: prints the main components of Debian's archives as this machine's apt reads them.
system_sources() {
	local own
	own=$(. /etc/os-release && say "$VERSION_CODENAME")
	# shellcheck disable=SC2016
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Component: main' |
		sed -nE "s/ $own(|-updates|-security) main$/ $1\1 main/p"
}

own_architecture=$(dpkg --print-architecture)

foreign_options=() # of deploy/local/foreign

# system_namespaces ARCHITECTURE: sets namespaces to the command that starts a program in those of a system.
system_namespaces() {
	namespaces=(unshare --mount --propagation private --pid --ipc --fork --kill-child)
	[[ $1 == "$own_architecture" ]] || namespaces=("$root/deploy/local/foreign" "${foreign_options[@]}")
}

# system_archive RELEASE ARCHITECTURE: makes the archive of the minimal system, once.
system_archive() {
	local archive=$data/bare/$1-$2.tar log=$data/log/debootstrap.log folder foreign=()
	[[ ! -s $archive ]] || return 0
	packages_install bare
	say "Making a bare Debian $1 for $2 (about a minute, once)"
	mkdir -p "$data/bare" "$data/log"
	folder=$(mktemp -d "$data/bare/$1.XXXXXX")
	chmod 755 "$folder" # it becomes the system's /, which every account looks through
	[[ $2 == "$own_architecture" ]] || foreign=(--foreign)
	if ! unshare --mount --pid --fork --kill-child --mount-proc debootstrap --variant=minbase --include=ca-certificates \
		--arch "$2" "${foreign[@]}" "$1" "$folder" "$(system_sources "$1" | awk 'NR == 1 { print $2 }')" >"$log" 2>&1 ||
		{ [[ ${foreign[*]} ]] && ! "$root/deploy/local/foreign" "${foreign_options[@]}" env container=lxc chroot "$folder" /debootstrap/debootstrap --second-stage >>"$log" 2>&1; }; then
		tail -n 10 "$log" >&2
		die "debootstrap failed" "The log: $log"
	fi
	tar -C "$folder" -cf "$folder.tar" .
	mv "$folder.tar" "$archive" # another program may have made it, too
	rm -rf --one-file-system "$folder"
}

# system_settings RELEASE FOLDER: gives the system this machine's settings of package clients.
system_settings() {
	local file
	system_sources "$1" >"$2/etc/apt/sources.list"
	apt-config dump | grep -E '^Acquire::(https?|Check-[A-Za-z-]+|Retries|Languages)[: ]' >"$2/etc/apt/apt.conf.d/machine" || true
	for file in "${setting_files[@]}"; do
		[[ ! -e $file ]] || { mkdir -p "$2${file%/*}" && cp -rL --preserve=mode "$file" "$2${file%/*}/"; }
	done
	system_namespaces "$(system_architecture "$2")"
	"${namespaces[@]}" chroot "$2" update-ca-certificates >/dev/null 2>&1
}

# system_make RELEASE FOLDER [ARCHITECTURE]: makes the folder anew, from the archive.
system_make() {
	local architecture=${3:-$own_architecture}
	system_archive "$1" "$architecture"
	rm -rf --one-file-system "$2"
	mkdir -p "$2"
	tar -C "$2" -xf "$data/bare/$1-$architecture.tar"
	system_settings "$1" "$2"
}

# system_architecture FOLDER: prints the architecture of the system.
system_architecture() {
	dpkg-query --admindir "$1/var/lib/dpkg" --show --showformat '${Architecture}' libc6
}

# Makes the folder the root of this mount namespace.
system_enter() {
	mount --bind "$1" "$1"
	cd "$1"
	mount -t proc proc proc
	# The kernel forgets the interpreters of foreign with the last mount of their table.
	[[ ! -e /proc/sys/fs/binfmt_misc/aarch64 ]] || mount --bind /proc/sys/fs/binfmt_misc proc/sys/fs/binfmt_misc
	mount -t sysfs sys sys 2>/dev/null || mount --rbind /sys sys # a user namespace may only bind it
	mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
	mount -t tmpfs -o mode=1777 shm dev/shm
	mkdir -p .old
	pivot_root . .old
	umount -l .old
}

# system_run FOLDER COMMAND...: runs the command in the system, in namespaces that end with this script.
system_run() {
	local name environment=(PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "HOME=$HOME" LANG=C.UTF-8)
	for name in $(compgen -e | grep -xE "$setting_variables"); do
		environment+=("$name=${!name}")
	done
	mkdir -p "$1$HOME"
	system_namespaces "$(system_architecture "$1")"
	setpriv --pdeathsig KILL env --default-signal -i "${environment[@]}" "${namespaces[@]}" \
		bash -euc "$(declare -f system_enter)"$'\n''system_enter "$1" && shift && exec "$@"' bash "$@" </dev/null 9>&- &
	wait "$!"
}
