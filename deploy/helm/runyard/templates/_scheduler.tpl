{{/* SPDX-License-Identifier: MPL-2.0 */}}

{{/* What schedulers and their commands need to reach PostgreSQL, Kafka and the object store. */}}
{{- define "runyard.scheduler.env" -}}
- name: RUNYARD_DATABASE_URL_FILE
  value: /etc/runyard/postgresql/url
- name: RUNYARD_DATABASE_REPLICATION
  value: {{ .Values.postgresql.replication }}
- name: RUNYARD_KEYS_FILE
  value: /etc/runyard/keys/keys
{{ include "runyard.kafka.env" (dict "root" . "secret" .Values.scheduler.kafkaSecret) }}
{{- with .Values.objectStore }}
{{- if .url }}
- name: RUNYARD_OBJECT_STORE_URL
  value: {{ .url | quote }}
- name: RUNYARD_OBJECT_STORE_REGION
  value: {{ .region | quote }}
- name: RUNYARD_OBJECT_STORE_ACCESS_KEY_FILE
  value: /etc/runyard/object-store/access-key
- name: RUNYARD_OBJECT_STORE_SECRET_KEY_FILE
  value: /etc/runyard/object-store/secret-key
{{- end }}
{{- end }}
{{- if include "runyard.rescue" . }}
- name: RUNYARD_RESCUE
  value: "1"
{{- end }}
- name: RUNYARD_LOG_LEVEL
  value: {{ .Values.logLevel }}
{{- end -}}

{{/* Not empty if the states of a pool come by the object store. */}}
{{- define "runyard.rescue" -}}
{{- range .Values.worker.pools -}}
{{- $pool := include "runyard.pool" (dict "root" $ "pool" .) | fromJson -}}
{{- if eq $pool.state "objectStore" }}1{{ end -}}
{{- end -}}
{{- end -}}

{{- define "runyard.scheduler.files" -}}
{{- $files := list -}}
{{- $dsn := .Values.postgresql.dsnSecret -}}
{{- $files = append $files (dict "name" "postgresql" "secret" $dsn.name "items" (dict "url" $dsn.key)) -}}
{{- with .Values.postgresql.caSecret -}}
{{- if .name -}}
{{- $files = append $files (dict "name" "postgresql-ca" "secret" .name "items" (dict "ca.crt" .key)) -}}
{{- end -}}
{{- end -}}
{{- $files = append $files (dict "name" "keys" "secret" .Values.secrets.existingSecret "items" (dict "keys" .Values.secrets.encryptionKeys)) -}}
{{- with .Values.objectStore -}}
{{- if .url -}}
{{- $secret := required "objectStore.existingSecret is missing: the Secret with the store's keys" .existingSecret -}}
{{- $files = append $files (dict "name" "object-store" "secret" $secret "items" (dict "access-key" .accessKey "secret-key" .secretKey)) -}}
{{- end -}}
{{- end -}}
{{- with .Values.scheduler.tls.existingSecret -}}
{{- $files = append $files (dict "name" "tls" "secret" . "items" (dict "tls.crt" "tls.crt" "tls.key" "tls.key")) -}}
{{- end -}}
{{- $files = concat $files (include "runyard.kafka.files" (dict "root" . "secret" .Values.scheduler.kafkaSecret) | fromJsonArray) -}}
{{- toJson $files -}}
{{- end -}}
