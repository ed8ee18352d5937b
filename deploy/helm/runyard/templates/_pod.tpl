{{/* SPDX-License-Identifier: MPL-2.0 */}}

{{/* (options): further options as environment variables. Numbers of values files are floating. */}}
{{- define "runyard.options" -}}
{{- range $name, $value := . }}
- name: RUNYARD_{{ $name | upper | replace "-" "_" }}
  value: {{ kindIs "float64" $value | ternary (int64 (kindIs "float64" $value | ternary $value 0)) $value | toString | quote }}
{{- end }}
{{- end -}}

{{/* (root, secret): how to reach Kafka. */}}
{{- define "runyard.kafka.env" -}}
{{- $kafka := .root.Values.kafka -}}
- name: RUNYARD_BROKERS
  value: {{ required "kafka.bootstrap is missing: the bootstrap servers, as host:port" $kafka.bootstrap | quote }}
{{- if $kafka.sasl.existingSecret }}
- name: RUNYARD_BROKER_PROPERTIES_FILE
  value: /etc/runyard/kafka/broker-properties
{{- else if $kafka.tls.enabled }}
{{- $properties := list "security.protocol=ssl" }}
{{- if $kafka.tls.caSecret.name }}
{{- $properties = append $properties "ssl.ca.location=/etc/runyard/kafka-ca/ca.crt" }}
{{- end }}
{{- if or .secret $kafka.tls.clientSecret.name }}
{{- $properties = concat $properties (list "ssl.certificate.location=/etc/runyard/kafka/tls.crt" "ssl.key.location=/etc/runyard/kafka/tls.key") }}
{{- end }}
- name: RUNYARD_BROKER_PROPERTIES
  value: {{ join ";" $properties | quote }}
{{- end }}
{{- end -}}

{{/* (root, secret): [(name, mountPath, source)] of Kafka's files, as the argument of runyard.volumes. */}}
{{- define "runyard.kafka.files" -}}
{{- $kafka := .root.Values.kafka -}}
{{- $files := list -}}
{{- if $kafka.tls.caSecret.name -}}
{{- $files = append $files (dict "name" "kafka-ca" "secret" $kafka.tls.caSecret.name "items" (dict "ca.crt" $kafka.tls.caSecret.key)) -}}
{{- end -}}
{{- if $kafka.sasl.existingSecret -}}
{{- $files = append $files (dict "name" "kafka" "secret" (default $kafka.sasl.existingSecret .secret) "items" (dict "broker-properties" $kafka.sasl.key)) -}}
{{- else if and $kafka.tls.enabled (or .secret $kafka.tls.clientSecret.name) -}}
{{- $client := $kafka.tls.clientSecret -}}
{{- $files = append $files (dict "name" "kafka" "secret" (default $client.name .secret) "items" (dict "tls.crt" $client.certificateKey "tls.key" $client.privateKey)) -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

{{/* [(name, secret, items)]: volumes with the named keys of Secrets, and nothing else of them. */}}
{{- define "runyard.secretVolumes" -}}
{{- range . }}
- name: {{ .name }}
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
    items:
      {{- range $path, $key := .items }}
      - key: {{ $key }}
        path: {{ $path }}
      {{- end }}
{{- end }}
{{- end -}}

{{- define "runyard.secretMounts" -}}
{{- range . }}
- name: {{ .name }}
  mountPath: /etc/runyard/{{ .name }}
  readOnly: true
{{- end }}
{{- end -}}

{{/* The security of a pod and of a container, as PodSecurity `restricted` wants it. */}}
{{- define "runyard.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "runyard.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* (root, settings, component[, pool]): where the pods run. */}}
{{- define "runyard.placement" -}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .settings.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.topologySpread.keys }}
topologySpreadConstraints:
  {{- range . }}
  - topologyKey: {{ . }}
    maxSkew: {{ $.root.Values.topologySpread.maxSkew }}
    whenUnsatisfiable: {{ $.root.Values.topologySpread.whenUnsatisfiable }}
    labelSelector:
      matchLabels:
        {{- include "runyard.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* (root, settings, component[, pool]): the metadata of pods. */}}
{{- define "runyard.podMetadata" -}}
labels:
  {{- include "runyard.labels" . | nindent 2 }}
  {{- with .settings.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .settings.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Probes at the port `metrics`. A start may wait for PostgreSQL and for a migration. */}}
{{- define "runyard.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: metrics}
  periodSeconds: 5
  failureThreshold: 180
livenessProbe:
  httpGet: {path: /healthz, port: metrics}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: metrics}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end -}}

{{/* What workers and notifiers need to reach schedulers. */}}
{{- define "runyard.client.env" -}}
- name: RUNYARD_SCHEDULER_URL
  value: {{ include "runyard.schedulerUrl" . }}
{{- if .Values.scheduler.tls.caSecret.name }}
- name: RUNYARD_CA_FILE
  value: /etc/runyard/ca/ca.crt
{{- end }}
- name: RUNYARD_LOG_LEVEL
  value: {{ .Values.logLevel }}
{{- end -}}

{{- define "runyard.caFiles" -}}
{{- $ca := .Values.scheduler.tls.caSecret -}}
{{- ternary (list (dict "name" "ca" "secret" $ca.name "items" (dict "ca.crt" $ca.key))) list (ne $ca.name "") | toJson -}}
{{- end -}}
