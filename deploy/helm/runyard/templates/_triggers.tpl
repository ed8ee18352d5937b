{{/* SPDX-License-Identifier: MPL-2.0 */}}

{{/* (root, settings): the triggers of a pool. */}}
{{- define "runyard.triggers" -}}
{{- $pool := .settings -}}
{{- $scaling := $pool.autoscaling -}}
{{- if $scaling.triggers }}
{{- toYaml $scaling.triggers | nindent 0 }}
{{- else }}
# Decides the number of pods: waiting and running jobs / slots. Each scheduler knows all jobs: the maximum, never a sum.
- type: metrics-api
  metadata:
    # KEDA reads the namespace from the host's second label, so the port must not follow it.
    url: http://{{ include "runyard.fullname" .root }}-metrics.{{ .root.Release.Namespace }}.svc:9464/metrics
    format: prometheus
    valueLocation: {{ printf "runyard_slots_wanted{pool=%q}" $scaling.pool | quote }}
    targetValue: {{ $pool.slots | quote }}
    aggregateFromKubeServiceEndpoints: "true"
    aggregationType: max
{{- end }}
{{- if $scaling.kafka.enabled }}
# Wakes the pool from zero. The threshold is so high that it never asks for a second pod.
- type: kafka
  metadata:
    bootstrapServers: {{ .root.Values.kafka.bootstrap | quote }}
    topic: runyard.jobs.{{ $scaling.kafka.poolId }}
    consumerGroup: runyard-worker-{{ $scaling.kafka.poolId }}
    offsetResetPolicy: earliest
    lagThreshold: "1000000"
    allowIdleConsumers: "true"
  {{- with $scaling.kafka.authenticationRef }}
  authenticationRef:
    name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}
