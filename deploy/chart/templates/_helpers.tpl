{{- define "armature.name" -}}
{{- if contains "armature" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-armature" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "armature.selector" -}}
app.kubernetes.io/name: armature
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "armature.labels" -}}
{{ include "armature.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "armature.webhookName" -}}
{{ include "armature.name" . }}-webhook
{{- end -}}

{{- define "armature.certificateSecret" -}}
{{ include "armature.name" . }}-webhook-certificate
{{- end -}}

{{/* ConfigMap with the authorities of the certificate with which metrics are served; the Secret of the name has its key. */}}
{{- define "armature.metricsAuthority" -}}
{{- if include "armature.servesConversion" . -}}
{{ include "armature.certificateSecret" . }}
{{- else -}}
{{ .Values.derived.metrics.service }}-certificate
{{- end -}}
{{- end -}}

{{/* What becomes of ids outside of the allowed scopes that only a whole request shows: what the value says, else what the release
has, else enforce where it is new. An upgrade from a release that did not look at them refuses nothing until it is asked to. The Role
tells it where somebody deleted the Deployment. */}}
{{- define "armature.allowedScopesMode" -}}
{{- if .Values.allowedScopesMode -}}
{{- .Values.allowedScopesMode -}}
{{- else if .Release.IsUpgrade -}}
{{- $mode := "warn" -}}
{{- $known := lookup "apps/v1" "Deployment" .Release.Namespace (include "armature.name" .) -}}
{{- if not $known -}}
{{- $mode = include "armature.began" (list . "armature.azure.com/allowed-scopes-mode") | default $mode -}}
{{- end -}}
{{- range dig "spec" "template" "spec" "containers" list $known -}}
{{- range .env -}}
{{- if eq .name "ALLOWED_SCOPES_MODE" }}{{ $mode = .value }}{{ end -}}
{{- end -}}
{{- end -}}
{{- $mode -}}
{{- else -}}
enforce
{{- end -}}
{{- end -}}

{{/* Clouds that Secrets may name, as the operator reads them: endpoint, authority and audience of each, with semicolons between. */}}
{{- define "armature.allowedClouds" -}}
{{- $clouds := list -}}
{{- range .Values.allowedClouds -}}
{{- $clouds = append $clouds (join " " (list .resourceManagerEndpoint .authorityHost .resourceManagerAudience)) -}}
{{- end -}}
{{- join "; " $clouds -}}
{{- end -}}

{{/* Whether pods serve conversion and keep the CRDs. */}}
{{- define "armature.servesConversion" -}}
{{- if ne .Values.derived.mode "watchers" }}true{{ end -}}
{{- end -}}

{{/* Whether pods manage objects. */}}
{{- define "armature.managesObjects" -}}
{{- if ne .Values.derived.mode "webhooks" }}true{{ end -}}
{{- end -}}

{{/* Whether pods install CRDs and update them. */}}
{{- define "armature.installsCRDs" -}}
{{- if and (include "armature.servesConversion" .) .Values.installCRDs }}true{{ end -}}
{{- end -}}

{{/* Whether pods migrate stored objects, of all namespaces, to the storage version of now. */}}
{{- define "armature.migratesStorage" -}}
{{- if and (include "armature.installsCRDs" .) (not .Values.derived.namespaces) }}true{{ end -}}
{{- end -}}

{{/* Whether /metrics asks who reads it. */}}
{{- define "armature.guardsMetrics" -}}
{{- if and .Values.metrics.enable .Values.derived.metrics.guards }}true{{ end -}}
{{- end -}}

{{/* Whether /metrics is reached from other pods. */}}
{{- define "armature.exposesMetrics" -}}
{{- if and .Values.metrics.enable (not (has .Values.derived.metrics.address (list "127.0.0.1" "localhost" "[::1]"))) }}true{{ end -}}
{{- end -}}

{{/* The roles' subject. */}}
{{- define "armature.subject" -}}
- kind: ServiceAccount
  name: {{ .Values.serviceAccount.name }}
  namespace: {{ .Release.Namespace }}
{{- end -}}

{{/*
CEL for the ARM ids in a value that no scope allows, one in each line: in references, and in properties that say the same as
text (files/plain-references). CEL has no recursion, so it goes as deep as references are in any kind, and a little deeper.
*/}}
{{- define "armature.idsOutside" -}}
{{- $node := printf "n%d" (int .depth) -}}
(type({{ $node }}) == map ? variables.names.filter(f, f in {{ $node }} && type({{ $node }}[f]) == string
&& {{ $node }}[f].contains('/') && !variables.scopes.exists(scope, ({{ $node }}[f].lowerAscii() + '/').startsWith(scope + '/')))
.map(f, {{ $node }}[f] + '\n').join('') : '')
{{- if lt (int .depth) 14 }}
 + (type({{ $node }}) == map ? {{ $node }}.map(k, {{ $node }}[k]) : type({{ $node }}) == list ? {{ $node }} : [])
.map(n{{ add1 .depth }}, {{ include "armature.idsOutside" (dict "depth" (add1 .depth)) }}).join('')
{{- end -}}
{{- end -}}
