# SPDX-License-Identifier: MPL-2.0
# shellcheck shell=bash
#
# The calls of the API that the example needs, with curl and jq. curl reads the token from a file, so that it is not in
# the arguments.

# api METHOD PATH [BODY]: prints the answer's body. Fails with the error's text. Bodies may contain secrets, so curl
# reads them from standard input.
api() {
	local answer status
	answer=$(curl -sS -X "$1" -w '\n%{http_code}' -H "@$data/secrets/authorization" \
		-H 'Content-Type: application/vnd.api+json' ${3:+--data-binary @-} "$(scheduler_url)/api/v2/$2" <<<"${3:-}") || return 1
	status=${answer##*$'\n'}
	answer=${answer%$'\n'*}
	if ((status >= 300)); then
		printf '%s %s: %s %s\n' "$1" "$2" "$status" \
			"$(jq -r '[.errors[]? | .detail // .title] | join("; ")' <<<"$answer" 2>/dev/null)" >&2
		return 1
	fi
	printf '%s' "$answer"
}

# api_is_ours: succeeds if the tokens are stored and the organization exists.
api_is_ours() {
	[[ -s $data/secrets/token && -s $data/secrets/agent-token && -s $data/secrets/notifier-token && -s $data/secrets/authorization ]] &&
		api GET "organizations/$organization" >/dev/null 2>&1
}

# token_keep NAME MADE OPTION...: stores the token of that name in bootstrap's output. If bootstrap was run before, it made none: then makes one more.
token_keep() {
	local name=$1 made=$2 command
	shift 2
	if ! jq -e --arg name "$name" '.[$name]' <<<"$made" >/dev/null; then
		account_command bootstrap "$data/build/bin/runyard-scheduler" --database-url-file "$data/secrets/database-url" \
			--keys-file "$data/secrets/keys" tokens make deploy/local "$@"
		made=$("${command[@]}" 2>>"$data/log/bootstrap.log" | jq --arg name "$name" '{($name): .token}') || died bootstrap
	fi
	secret_put "$name" "$(jq -er --arg name "$name" '.[$name]' <<<"$made")"
}

# bootstrap: creates the first user, the organization and the tokens.
bootstrap() {
	local made command
	api_is_ours && return
	account_command bootstrap "$data/build/bin/runyard-scheduler" --database-url-file "$data/secrets/database-url" \
		--keys-file "$data/secrets/keys" bootstrap admin admin@example.com "$organization"
	made=$("${command[@]}" 2>>"$data/log/bootstrap.log") ||
		died bootstrap
	jq -e .password <<<"$made" >/dev/null && secret_put password "$(jq -r .password <<<"$made")"
	token_keep token "$made" --user admin
	token_keep agent-token "$made" --pool default
	token_keep notifier-token "$made" --notifier
	secret_put authorization "Authorization: Bearer $(<"$data/secrets/token")"
}

# workspace NAME: prints its id; creates it if it does not exist.
workspace() {
	api GET "organizations/$organization/workspaces/$1" 2>/dev/null | jq -er .data.id && return
	api POST "organizations/$organization/workspaces" "$(jq -n --arg name "$1" \
		'{data: {type: "workspaces", attributes: {name: $name, description: "The example of deploy/local/up"}}}')" | jq -er .data.id
}

# run_task NAME URL KEY_FILE: prints its id. Creates it if it does not exist, and updates URL and key if the URL
# differs.
run_task() {
	local known id body
	body=$(jq -n --arg name "$1" --arg url "$2" --rawfile key "$3" '{data: {type: "tasks", attributes: {name: $name, url: $url,
		"hmac-key": ($key | rtrimstr("\n")), category: "task", description: "The example of deploy/local/up"}}}')
	known=$(api GET "organizations/$organization/tasks?page%5Bsize%5D=100" |
		jq -r --arg name "$1" '.data[] | select(.attributes.name == $name) | "\(.id) \(.attributes.url)"')
	id=${known%% *}
	if [[ -z $id ]]; then
		id=$(api POST "organizations/$organization/tasks" "$body" | jq -er .data.id) || return 1
	elif [[ $known != "$id $2" ]]; then
		api PATCH "tasks/$id" "$body" >/dev/null || return 1
	fi
	say "$id"
}

# task_attach WORKSPACE TASK STAGE: attaches the run task to the workspace as mandatory, unless it is attached.
task_attach() {
	api GET "workspaces/$1/tasks?page%5Bsize%5D=100" |
		jq -e --arg task "$2" 'any(.data[]; .relationships.task.data.id == $task)' >/dev/null && return
	api POST "workspaces/$1/tasks" "$(jq -n --arg task "$2" --arg stage "$3" '{data: {type: "workspace-tasks",
		attributes: {"enforcement-level": "mandatory", stages: [$stage]},
		relationships: {task: {data: {type: "tasks", id: $task}}}}}')" >/dev/null
}

# upload WORKSPACE FOLDER: creates a configuration version from the folder; prints its id.
upload() {
	local version id url
	version=$(api POST "workspaces/$1/configuration-versions" \
		'{"data":{"type":"configuration-versions","attributes":{"auto-queue-runs":false}}}') || return 1
	id=$(jq -er .data.id <<<"$version")
	url=$(jq -er '.data.attributes."upload-url"' <<<"$version")
	(cd "$2" && tar -czf - -- *.tf) | curl -fsS -o /dev/null -X PUT -H 'Content-Type: application/octet-stream' \
		--data-binary @- "$url" || return 1
	until_true 30 uploaded "$id" || die "the configuration was not taken in time"
	say "$id"
}

uploaded() {
	[[ $(api GET "configuration-versions/$1" | jq -r .data.attributes.status) == uploaded ]]
}

# run_create WORKSPACE CONFIGURATION_VERSION MESSAGE: prints the id of the new run.
run_create() {
	api POST runs "$(jq -n --arg workspace "$1" --arg version "$2" --arg message "$3" '{data: {type: "runs",
		attributes: {message: $message, "auto-apply": true},
		relationships: {workspace: {data: {type: "workspaces", id: $workspace}},
			"configuration-version": {data: {type: "configuration-versions", id: $version}}}}}')" | jq -er .data.id
}

# log_follow KIND ID: prints what was added since the last call. log_offset[KIND] has the offset. Of JSON lines it
# prints the message.
log_follow() {
	local url chunk size
	[[ -n ${log_url[$1]:-} ]] || log_url[$1]=$(api GET "$1/$2" | jq -r '.data.attributes."log-read-url" // empty')
	url=${log_url[$1]}
	[[ -n $url ]] || return 0
	chunk=$(mktemp)
	curl -fsS -o "$chunk" "$url?offset=${log_offset[$1]:-0}&limit=65536" || true
	# Whole lines only: the next call prints the rest. A complete log ends with ETX.
	size=$(head -n "$(wc -l <"$chunk")" "$chunk" | wc -c)
	[[ $(tail -c 1 "$chunk") != $'\003' ]] || size=$(wc -c <"$chunk")
	head -c "$size" "$chunk" | tr -d '\002\003' |
		jq -Rr 'select(. != "") | (fromjson? | objects | ."@message") // . | "           | " + .'
	log_offset[$1]=$((${log_offset[$1]:-0} + size))
	rm -f "$chunk"
}

# run_follow RUN: prints each status with its time, and between them the logs and the results of run tasks, until the
# run has ended. Sets run_status.
run_follow() {
	local run key at shown=' ' plan apply
	declare -gA log_url=() log_offset=() results_shown=()
	while :; do
		run=$(api GET "runs/$1") || return 1
		run_status=$(jq -r .data.attributes.status <<<"$run")
		plan=$(jq -r '.data.relationships.plan.data.id // empty' <<<"$run")
		apply=$(jq -r '.data.relationships.apply.data.id // empty' <<<"$run")
		while read -r at key; do
			[[ $shown != *" $key "* ]] || continue
			logs_until "$shown" "$plan" "$apply"
			results_until "$1" "$shown"
			printf '  %s  %s\n' "$(date -d "$at" +%H:%M:%S.%3N)" "${key//-/ }"
			shown+="$key "
		done < <(run_stamps <<<"$run")
		logs_until "$shown" "$plan" "$apply"
		results_until "$1" "$shown"
		case $run_status in
		applied | planned_and_finished | errored | discarded | canceled | force_canceled | policy_soft_failed) return ;;
		esac
		sleep 0.1
	done
}

# logs_until SHOWN PLAN APPLY: prints the log of the last stage among the statuses shown.
logs_until() {
	case $1 in
	*' applying '*) [[ -z $3 ]] || log_follow applies "$3" ;;
	*' planning '*) [[ -z $2 ]] || log_follow plans "$2" ;;
	esac
}

# results_until RUN SHOWN: prints the results of the run tasks of the stages among the statuses shown, once a stage has
# ended.
results_until() {
	local stage ended id text
	for stage in pre-plan post-plan pre-apply post-apply; do
		[[ $2 == *" $stage-running "* && -z ${results_shown[$stage]:-} ]] || continue
		id=$(api GET "runs/$1/task-stages" | jq -er --arg stage "${stage/-/_}" '.data[] | select(.attributes.stage == $stage) | .id') || continue
		text=$(api GET "task-stages/$id?include=task_results" | jq -r '(.data.attributes.status | IN("pending", "running") | not),
			(.included[]?.attributes | "           | \(."task-name") \(.status)\(.message // "" | if . == "" then . else ": " + . end)")')
		read -r ended <<<"$text"
		[[ $ended == true ]] || continue
		results_shown[$stage]=1
		tail -n +2 <<<"$text"
	done
}

# run_stamps <RUN: prints time and status in the order in which the run reached them. Statuses of the same time are in
# the order of the lifecycle.
run_stamps() {
	jq -r '["plan-queueable", "pre-plan-running", "pre-plan-completed", "plan-queued", "planning", "planned", "post-plan-running",
		"post-plan-completed", "policy-checking", "policy-checked", "cost-estimating", "cost-estimated", "confirmed",
		"pre-apply-running", "pre-apply-completed", "apply-queued", "applying", "post-apply-running", "post-apply-completed"] as $order
		| .data.attributes."status-timestamps" | to_entries | map(.key |= rtrimstr("-at"))
		| sort_by([.value, (.key as $key | ($order | index($key)) // 99)])[] | "\(.value) \(.key)"'
}
