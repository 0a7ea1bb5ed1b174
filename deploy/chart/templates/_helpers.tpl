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

{{/* The roles' subject. */}}
{{- define "armature.subject" -}}
- kind: ServiceAccount
  name: {{ .Values.serviceAccount.name }}
  namespace: {{ .Release.Namespace }}
{{- end -}}
