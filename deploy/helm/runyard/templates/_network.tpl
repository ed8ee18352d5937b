{{/* SPDX-License-Identifier: MPL-2.0 */}}

{{- define "runyard.metricsIngress" -}}
- from:
    {{- toYaml .Values.networkPolicy.metrics | nindent 4 }}
  ports:
    - {port: metrics, protocol: TCP}
{{- end -}}

{{/* Every address but the given ranges and those that lead to a cloud's metadata. */}}
{{- define "runyard.addresses" -}}
{{- $except := dict "4" (list "169.254.0.0/16") "6" (list "fe80::/10" "fd00:ec2::254/128") -}}
{{- range . -}}
{{- $family := contains ":" . | ternary "6" "4" -}}
{{- $_ := set $except $family (append (index $except $family) .) -}}
{{- end -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except: {{ index $except "4" | toJson }}
- ipBlock:
    cidr: ::/0
    except: {{ index $except "6" | toJson }}
{{- end -}}

{{/* (ports, to): a server that may be anywhere. */}}
{{- define "runyard.serverEgress" -}}
- to:
    {{- if .to }}
    {{- toYaml .to | nindent 4 }}
    {{- else }}
    {{- include "runyard.addresses" list | nindent 4 }}
    {{- end }}
  ports:
    {{- range .ports }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
{{- end -}}

{{/* What workers and notifiers may reach: DNS, schedulers, Kafka, and public addresses. */}}
{{- define "runyard.commonEgress" -}}
- to:
    {{- toYaml .Values.networkPolicy.dns.to | nindent 4 }}
  ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
- to:
    - podSelector:
        matchLabels:
          {{- include "runyard.selector" (dict "root" . "component" "scheduler") | nindent 10 }}
  ports:
    - {port: api, protocol: TCP}
{{ include "runyard.serverEgress" .Values.networkPolicy.kafka }}
- to:
    {{- include "runyard.addresses" .Values.networkPolicy.clusterRanges | nindent 4 }}
{{- end -}}
