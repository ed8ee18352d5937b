{{/* SPDX-License-Identifier: MPL-2.0 */}}

{{/* (root, component, pool, settings): the metadata and the specification of a worker's pods. */}}
{{- define "runyard.worker" -}}
{{- $pool := .settings }}
{{- $kafka := dict "root" .root "secret" $pool.kafkaSecret }}
{{- $token := $pool.agentTokenSecret }}
{{- $files := list (dict "name" "agent-token" "secret" (default .root.Values.secrets.existingSecret $token.name)
  "items" (dict "token" (default .root.Values.secrets.agentToken $token.key))) }}
{{- $files = concat $files (include "runyard.caFiles" .root | fromJsonArray) (include "runyard.kafka.files" $kafka | fromJsonArray) }}
{{- $sandboxed := eq $pool.isolation "bubblewrap" }}
{{- $once := eq $pool.isolation "job" }}
{{- $kept := eq $pool.state "volume" -}}
metadata:
  {{- include "runyard.podMetadata" . | nindent 2 }}
spec:
  serviceAccountName: {{ include "runyard.fullname" .root }}-worker-{{ $pool.name }}
  {{- if $once }}
  restartPolicy: Never
  {{- end }}
  terminationGracePeriodSeconds: {{ $pool.terminationGracePeriodSeconds }}
  {{- include "runyard.podSecurity" .root | nindent 2 }}
  {{- if $sandboxed }}
  hostUsers: false
  {{- end }}
  {{- with include "runyard.placement" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  containers:
    - name: worker
      image: {{ include "runyard.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      command: [runyard-worker]
      env:
        {{- include "runyard.client.env" .root | nindent 8 }}
        - name: RUNYARD_LISTEN
          value: "{{ .root.Values.listenAddress }}:9464"
        - name: RUNYARD_AGENT_TOKEN_FILE
          value: /etc/runyard/agent-token/token
        - name: RUNYARD_DATA_DIR
          value: /var/lib/runyard-worker
        {{- if $once }}
        - name: RUNYARD_ONCE
          value: "1"
        {{- end }}
        - name: RUNYARD_SLOTS
          value: {{ $pool.slots | quote }}
        - name: RUNYARD_SANDBOX
          value: {{ ternary "bwrap" "none" $sandboxed }}
        - name: RUNYARD_PLAN_SECONDS
          value: {{ int64 $pool.limits.planSeconds | quote }}
        - name: RUNYARD_APPLY_SECONDS
          value: {{ int64 $pool.limits.applySeconds | quote }}
        - name: RUNYARD_JOB_STOP_SECONDS
          value: {{ int64 $pool.limits.stopSeconds | quote }}
        # The grace period without the time that an interrupted apply has to stop, and a minute for its last state.
        - name: RUNYARD_DRAIN_SECONDS
          value: {{ sub (int64 $pool.terminationGracePeriodSeconds) (add (int64 $pool.limits.stopSeconds) 60) | quote }}
        {{- if .root.Values.worker.engineKeysConfigMap }}
        - name: RUNYARD_ENGINE_KEYS
          value: /etc/runyard/engine-keys
        {{- end }}
        {{- include "runyard.kafka.env" $kafka | nindent 8 }}
        {{- with include "runyard.options" $pool.options | trim }}
        {{- . | nindent 8 }}
        {{- end }}
      ports:
        - name: metrics
          containerPort: 9464
      {{- include "runyard.probes" .root | nindent 6 }}
      resources:
        {{- toYaml $pool.resources | nindent 8 }}
      securityContext:
        {{- include "runyard.containerSecurity" .root | nindent 8 }}
        {{- if $sandboxed }}
        # bubblewrap mounts, and mounts a new /proc.
        procMount: Unmasked
        seccompProfile:
          type: Localhost
          localhostProfile: {{ .root.Values.worker.seccompProfile }}
        appArmorProfile:
          type: Unconfined
        {{- end }}
      volumeMounts:
        - name: tmp
          mountPath: /tmp
        - name: data
          mountPath: /var/lib/runyard-worker
        {{- if .root.Values.worker.engineKeysConfigMap }}
        - name: engine-keys
          mountPath: /etc/runyard/engine-keys
          readOnly: true
        {{- end }}
        {{- include "runyard.secretMounts" $files | trim | nindent 8 }}
        {{- with $pool.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {}
    {{- if not $kept }}
    - name: data
      emptyDir: {}
    {{- end }}
    {{- with .root.Values.worker.engineKeysConfigMap }}
    - name: engine-keys
      configMap:
        name: {{ . }}
    {{- end }}
    {{- include "runyard.secretVolumes" $files | trim | nindent 4 }}
    {{- with $pool.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
