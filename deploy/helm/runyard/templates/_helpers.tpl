{{/* SPDX-License-Identifier: MPL-2.0 */}}

{{- define "runyard.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (default .Chart.Name .Values.nameOverride) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (default .Chart.Name .Values.nameOverride) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* (root, component[, pool]): the labels that select the pods of a process. */}}
{{- define "runyard.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- with .pool }}
runyard/pool: {{ . }}
{{- end }}
{{- end -}}

{{- define "runyard.labels" -}}
{{ include "runyard.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: runyard
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "runyard.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{/* The host of the public URL. */}}
{{- define "runyard.host" -}}
{{- (urlParse .Values.publicUrl).hostname -}}
{{- end -}}

{{- define "runyard.schedulerUrl" -}}
{{- $scheme := ternary "https" "http" (ne .Values.scheduler.tls.existingSecret "") -}}
{{- printf "%s://%s-scheduler.%s.svc:%v" $scheme (include "runyard.fullname" .) .Release.Namespace .Values.scheduler.service.port -}}
{{- end -}}

{{/* (root, pool): the settings of a pool, as JSON: the defaults and what the entry of worker.pools replaces. */}}
{{- define "runyard.pool" -}}
{{- $pool := mergeOverwrite (deepCopy .root.Values.worker.defaults) (deepCopy .pool) -}}
{{- $grace := int64 $pool.terminationGracePeriodSeconds -}}
{{- $stop := int64 $pool.limits.stopSeconds -}}
{{- range $name := list "planSeconds" "applySeconds" -}}
{{- $limit := int64 (index $pool.limits $name) -}}
{{- if eq $limit 0 -}}
{{- fail (printf "the pool %s: limits.%s is 0 (no limit), but a pod is killed after terminationGracePeriodSeconds (%d): set a limit" $pool.name $name $grace) -}}
{{- end -}}
{{- if gt (add $limit $stop 60) $grace -}}
{{- fail (printf "the pool %s: limits.%s (%d) + limits.stopSeconds (%d) + 60 = %d exceeds terminationGracePeriodSeconds (%d), so a pod could be killed during a job: lower the limit or raise the grace period" $pool.name $name $limit $stop (add $limit $stop 60) $grace) -}}
{{- end -}}
{{- end -}}
{{- if and (ne $pool.isolation "bubblewrap") (ne (int64 $pool.slots) 1) -}}
{{- fail (printf "the pool %s: isolation %s has %d slots, but without a sandbox the jobs of one pod can read each other: set slots to 1, or isolation to bubblewrap" $pool.name $pool.isolation (int64 $pool.slots)) -}}
{{- end -}}
{{- $scaling := $pool.autoscaling -}}
{{- if and (eq $pool.isolation "job") (not $scaling.enabled) -}}
{{- fail (printf "the pool %s: isolation job needs autoscaling.enabled: KEDA makes the Jobs" $pool.name) -}}
{{- end -}}
{{- if and (eq $pool.isolation "job") (eq $pool.state "volume") -}}
{{- fail (printf "the pool %s: the pods of isolation job have no volume: set state to emptyDir or objectStore" $pool.name) -}}
{{- end -}}
{{- if and (eq $pool.state "objectStore") (not .root.Values.objectStore.url) -}}
{{- fail (printf "the pool %s: state objectStore needs objectStore.url, the bucket to which workers upload states" $pool.name) -}}
{{- end -}}
{{- if and $scaling.enabled (not $scaling.pool) (not $scaling.triggers) -}}
{{- fail (printf "the pool %s: autoscaling.pool is missing: the label pool of runyard_slots_wanted, ORGANIZATION/NAME or NAME of a shared pool" $pool.name) -}}
{{- end -}}
{{- $kinds := list -}}
{{- range $scaling.triggers -}}
{{- $kinds = append $kinds .type -}}
{{- end -}}
{{- if and $kinds (eq "kafka" (uniq $kinds | join ",")) -}}
{{- fail (printf "the pool %s: autoscaling.triggers has only kafka: lag does not count running jobs, so busy workers would be removed" $pool.name) -}}
{{- end -}}
{{- if and $scaling.kafka.enabled (not $scaling.kafka.poolId) -}}
{{- fail (printf "the pool %s: autoscaling.kafka.poolId is missing" $pool.name) -}}
{{- end -}}
{{- toJson $pool -}}
{{- end -}}
