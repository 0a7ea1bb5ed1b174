{{/* Where a rule for what goes out leads: to some addresses, or anywhere. */}}
{{- define "armature.to" }}
{{- with . }}
      to:
        - ipBlock:
            cidr: {{ . }}
{{- end }}
{{- end -}}

{{/* Ports of the API server: the one that was said, or the usual one and what the cluster says of itself. As JSON. */}}
{{- define "armature.apiServerPorts" -}}
{{- $ports := list -}}
{{- if .Values.networkPolicies.kubernetesApiPort -}}
{{- $ports = list .Values.networkPolicies.kubernetesApiPort -}}
{{- else -}}
{{- $ports = list 6443 -}}
{{- $slices := lookup "discovery.k8s.io/v1" "EndpointSlice" "default" "kubernetes" -}}
{{- range dig "ports" list $slices }}{{ $ports = append $ports (int64 .port) }}{{ end -}}
{{- end -}}
{{- toJson (uniq $ports) -}}
{{- end -}}

{{/*
Hosts beside Azure's own that values, extraEnv and the Secret name, on other ports than 443: clouds, a proxy, the collector of traces, and the machine's
service for managed identities where they may be used. Each with port, addresses (where the host is one) and because. As JSON.
*/}}
{{- define "armature.furtherHosts" -}}
{{- $urls := list -}}
{{- $extra := .Values.derived.extra -}}
{{- range list "AZURE_AUTHORITY_HOST" "AZURE_RESOURCE_MANAGER_ENDPOINT" -}}
{{- $urls = append $urls (list "The cloud." (coalesce (get $extra .) (get $.Values.derived.settings .) (get $.Values.derived.secret .))) -}}
{{- end -}}
{{- range .Values.allowedClouds -}}
{{- $urls = append $urls (list "A cloud in allowedClouds." .resourceManagerEndpoint) -}}
{{- $urls = append $urls (list "A cloud in allowedClouds." .authorityHost) -}}
{{- end -}}
{{- range regexSplit "[;\\s]+" (default "" (get $extra "ARMATURE_ALLOWED_CLOUDS")) -1 -}}
{{- $urls = append $urls (list "A cloud in ARMATURE_ALLOWED_CLOUDS." .) -}}
{{- end -}}
{{- range list "HTTPS_PROXY" "https_proxy" "HTTP_PROXY" "http_proxy" "ALL_PROXY" "all_proxy" -}}
{{- $urls = append $urls (list "A proxy." (get $extra .)) -}}
{{- end -}}
{{- $urls = append $urls (list "The collector of traces." (get $extra "OTEL_EXPORTER_OTLP_ENDPOINT" | default .Values.tracing.otlpEndpoint)) -}}
{{- $proofs := default list .Values.secretProofs -}}
{{- $hasOther := or .Values.azureClientSecret .Values.azureClientCertificate .Values.useWorkloadIdentityAuth -}}
{{- $isOwn := or (not .Values.createAzureOperatorSecret) (and .Values.azureSubscriptionID (not $hasOther)) -}}
{{- if or $isOwn (not $proofs) (has "managed-identity" $proofs) -}}
{{- $urls = append $urls (list "Managed identities of the machine." (get $extra "AZURE_POD_IDENTITY_AUTHORITY_HOST" | default "http://169.254.169.254")) -}}
{{- end -}}
{{- $hosts := list -}}
{{- range $urls -}}
{{- $host := include "armature.hostOf" (last .) | fromJson -}}
{{- if $host -}}
{{- $_ := set $host "because" (first .) -}}
{{- $hosts = append $hosts $host -}}
{{- end -}}
{{- end -}}
{{- toJson (uniq $hosts) -}}
{{- end -}}

{{/* Port and addresses of a URL's host; nothing where there is no URL, or where it is what is allowed anyway. As JSON. */}}
{{- define "armature.hostOf" -}}
{{- $host := dict -}}
{{- with . -}}
{{- $url := urlParse (ternary . (printf "http://%s" .) (contains "://" .)) -}}
{{- $name := regexReplaceAll ":[0-9]+$" $url.host "" -}}
{{- $usual := ternary "443" (ternary "80" "1080" (eq $url.scheme "http")) (eq $url.scheme "https") -}}
{{- $port := trimPrefix ":" (regexFind ":[0-9]+$" $url.host) | default $usual -}}
{{- $addresses := "" -}}
{{- if regexMatch "^[0-9.]+$" $name }}{{ $addresses = printf "%s/32" $name }}{{ end -}}
{{- if ne $port "443" }}{{ $host = dict "port" (int64 $port) "addresses" $addresses }}{{ end -}}
{{- end -}}
{{- toJson $host -}}
{{- end -}}
