{{/*
Values as the other templates read them. Each template includes armature.prepare first: it puts values into one form in place (texts
that are numbers and truth values, texts that are lists, words of Azure Service Operator's chart) and what follows from them into
.Values.derived: settings, extra, mode, namespaces, image, metrics, guardsTraffic, and the lines of the notes.
*/}}
{{- define "armature.prepare" -}}
{{- if not (hasKey .Values "derived") -}}
{{- $_ := set .Values "derived" (dict "notes" list) -}}
{{- include "armature.prepareForms" . -}}
{{- include "armature.prepareLists" . -}}
{{- include "armature.prepareSettings" . -}}
{{- include "armature.prepareImage" . -}}
{{- include "armature.prepareMetrics" . -}}
{{- include "armature.preparePods" . -}}
{{- include "armature.prepareTraffic" . -}}
{{- end -}}
{{- end -}}

{{/* Adds a line to the notes: (list CONTEXT TEXT). */}}
{{- define "armature.note" -}}
{{- $derived := (first .).Values.derived -}}
{{- $_ := set $derived "notes" (append $derived.notes (last .)) -}}
{{- end -}}

{{/* Puts into a map what it lacks: (list MAP DEFAULTS). */}}
{{- define "armature.fill" -}}
{{- $map := first . -}}
{{- range $name, $value := last . -}}
{{- if kindIs "invalid" (index $map $name) }}{{ $_ := set $map $name $value }}{{ end -}}
{{- end -}}
{{- end -}}

{{/*
Maps are there, truth values are no texts, and numbers are whole numbers. An empty text stays: nothing was said. What somebody has left
blank, helm takes out with its default: that is put back where an installation would be another one without it.
*/}}
{{- define "armature.prepareForms" -}}
{{- $root := . -}}
{{- include "armature.fill" (list .Values (dict "crdVersions" "all" "createAzureOperatorSecret" true "installCRDs" true "replicaCount" 2)) -}}
{{- range list "aadPodIdentity" "flowSchema" "go" "image" "metrics" "multitenant" "networkPolicies" "networkPolicy"
    "podDisruptionBudget" "rateLimit" "serviceAccount" "tracing" "webhook" -}}
{{- if not (kindIs "map" (get $root.Values .)) }}{{ $_ := set $root.Values . dict }}{{ end -}}
{{- end -}}
{{- if not (kindIs "map" .Values.metrics.serviceMonitor) }}{{ $_ := set .Values.metrics "serviceMonitor" dict }}{{ end -}}
{{- include "armature.fill" (list .Values.image (dict "pullPolicy" "IfNotPresent")) -}}
{{- include "armature.fill" (list .Values.metrics (dict "enable" true)) -}}
{{- include "armature.fill" (list .Values.podDisruptionBudget (dict "enabled" true "maxUnavailable" 1)) -}}
{{- include "armature.fill" (list .Values.serviceAccount (dict "create" true)) -}}
{{- include "armature.fill" (list .Values.webhook (dict "port" 9443 "conversionMemory" "256Mi")) -}}
{{- range list "aadPodIdentity.enable" "allowMultiEnvManagement" "allowedScopesAdmission" "crdDeprecations" "crdDescriptions"
    "createAzureOperatorSecret" "deletionProtection" "exports" "flowSchema.enabled" "installCRDs" "metrics.authentication"
    "metrics.enable" "metrics.profiling" "metrics.secure" "metrics.serviceMonitor.enabled" "multitenant.enable"
    "networkPolicies.enable" "networkPolicy.enabled" "podDisruptionBudget.enabled" "serviceAccount.create"
    "storageVersionPolicy" "useJSONLogging" "useWorkloadIdentityAuth" -}}
{{- $map := $root.Values -}}
{{- range initial (splitList "." .) }}{{ $map = get $map . }}{{ end -}}
{{- $name := last (splitList "." .) -}}
{{- $value := get $map $name -}}
{{- if has $value (list "true" "false") }}{{ $_ := set $map $name (eq $value "true") }}{{ end -}}
{{- end -}}
{{- range list "logVerbosity" "maxConcurrentReconciles" "metrics.port" "networkPolicies.kubernetesApiPort" "replicaCount"
    "revisionHistoryLimit" "webhook.port" "workers" -}}
{{- $map := $root.Values -}}
{{- range initial (splitList "." .) }}{{ $map = get $map . }}{{ end -}}
{{- $name := last (splitList "." .) -}}
{{- $value := get $map $name -}}
{{- if not (has (toString $value) (list "" "<nil>")) }}{{ $_ := set $map $name (int64 $value) }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* Items of a list, or of a text with separators (a pattern) between them: (list VALUE PATTERN). As JSON. */}}
{{- define "armature.items" -}}
{{- $value := first . -}}
{{- $items := list -}}
{{- if kindIs "slice" $value -}}
{{- $items = $value -}}
{{- else if $value -}}
{{- $items = regexSplit (last .) $value -1 -}}
{{- end -}}
{{- $found := list -}}
{{- range $items }}{{ with trim (toString .) }}{{ $found = append $found . }}{{ end }}{{ end -}}
{{- toJson $found -}}
{{- end -}}

{{- define "armature.prepareLists" -}}
{{- $_ := set .Values "crdPattern" (include "armature.items" (list .Values.crdPattern "[;,]") | fromJsonArray | join ";") -}}
{{- $_ := set .Values "crdLabels" (include "armature.items" (list .Values.crdLabels "[;,]") | fromJsonArray | join ",") -}}
{{- $tenants := include "armature.items" (list .Values.azureAdditionalTenants "[;,]") | fromJsonArray -}}
{{- $_ := set .Values "azureAdditionalTenants" (join "," $tenants) -}}
{{- $namespaces := include "armature.items" (list .Values.azureTargetNamespaces "[;,\\s]") | fromJsonArray -}}
{{- $_ := set .Values "azureTargetNamespaces" $namespaces -}}
{{- end -}}

{{/*
Settings that the Secret `aso-controller-settings` may hold, too: derived.settings has those that values say, under the names of their
variables, and derived.mode and derived.namespaces say what the pods will do, for rights, policies and Services. What extraEnv says
comes first, then values, then the Secret where helm may read it: one that the chart makes has none of them, but one that it took over
keeps those that Azure Service Operator's chart has put into it.
*/}}
{{- define "armature.prepareSettings" -}}
{{- $derived := .Values.derived -}}
{{- $settings := dict -}}
{{- range $name, $value := dict
    "ALLOW_MULTI_ENV_MANAGEMENT" .Values.allowMultiEnvManagement
    "AZURE_AUTHORITY_HOST" .Values.azureAuthorityHost
    "AZURE_OPERATOR_MODE" (lower (default "" .Values.azureOperatorMode))
    "AZURE_RESOURCE_MANAGER_AUDIENCE" .Values.azureResourceManagerAudience
    "AZURE_RESOURCE_MANAGER_ENDPOINT" .Values.azureResourceManagerEndpoint
    "AZURE_SYNC_PERIOD" .Values.azureSyncPeriod
    "AZURE_TARGET_NAMESPACES" (join "," .Values.azureTargetNamespaces)
    "AZURE_USER_AGENT_SUFFIX" .Values.azureUserAgentSuffix
    "DEFAULT_RECONCILE_POLICY" .Values.defaultReconcilePolicy
    "MAX_CONCURRENT_RECONCILES" .Values.maxConcurrentReconciles
    "USE_WORKLOAD_IDENTITY_AUTH" (ternary "true" "" (eq (toString .Values.useWorkloadIdentityAuth) "true")) -}}
{{- if not (has (toString $value) (list "" "<nil>")) }}{{ $_ := set $settings $name (toString $value) }}{{ end -}}
{{- end -}}
{{- $_ := set $derived "settings" $settings -}}
{{- $extra := dict -}}
{{- range .Values.extraEnv -}}
{{- if and (get . "valueFrom") (has .name (list "AZURE_OPERATOR_MODE" "AZURE_TARGET_NAMESPACES")) -}}
{{- fail (printf "extraEnv: %s has a valueFrom, so that nobody knows here for what the operator needs rights: set the value %s" .name (ternary "azureOperatorMode" "azureTargetNamespaces" (eq .name "AZURE_OPERATOR_MODE"))) -}}
{{- end -}}
{{- $_ := set $extra .name (toString (default "" .value)) -}}
{{- end -}}
{{- $_ := set $derived "extra" $extra -}}
{{- $stays := list -}}
{{- range .Values.extraEnv -}}
{{- if or .value (get . "valueFrom") (not (hasKey $settings .name)) }}{{ $stays = append $stays . }}{{ else }}{{ $_ := unset $extra .name }}{{ end -}}
{{- end -}}
{{- $_ := set .Values "extraEnv" $stays -}}
{{- $secret := dict -}}
{{- $found := lookup "v1" "Secret" .Release.Namespace "aso-controller-settings" -}}
{{- range $name, $value := dig "data" dict $found }}{{ $_ := set $secret $name (b64dec $value | trim) }}{{ end -}}
{{- $_ := set $derived "secret" $secret -}}
{{- include "armature.noteSecret" (list . $found $secret) -}}
{{- include "armature.prepareMode" (list . $secret.AZURE_OPERATOR_MODE) -}}
{{- $namespaces := coalesce $extra.AZURE_TARGET_NAMESPACES $settings.AZURE_TARGET_NAMESPACES $secret.AZURE_TARGET_NAMESPACES -}}
{{- if and $secret.AZURE_TARGET_NAMESPACES (eq $namespaces $secret.AZURE_TARGET_NAMESPACES) -}}
{{- include "armature.note" (list . (printf "AZURE_TARGET_NAMESPACES=%s is in Secret aso-controller-settings: the operator's rights are for that. Run helm upgrade when you change it." $namespaces)) -}}
{{- end -}}
{{- $_ := set $derived "namespaces" (include "armature.items" (list $namespaces "[,;\\s]") | fromJsonArray) -}}
{{- end -}}

{{/*
What the pods do: derived.mode; (list CONTEXT MODE), with the mode that the Secret says. What they do and what they may do are one, so that
a mode of the Secret goes into the Deployment. After an upgrade from a release that did not read it there, it waits, as the operator says:
the Deployment has no such variable then, and gets none.
*/}}
{{- define "armature.prepareMode" -}}
{{- $root := first . -}}
{{- $derived := $root.Values.derived -}}
{{- $said := coalesce $derived.extra.AZURE_OPERATOR_MODE $derived.settings.AZURE_OPERATOR_MODE -}}
{{- $ofSecret := ternary "" (last .) (not (empty $said)) | default "" -}}
{{- if and $ofSecret $root.Release.IsUpgrade -}}
{{- $deployment := lookup "apps/v1" "Deployment" $root.Release.Namespace (include "armature.name" $root) -}}
{{- $has := dict -}}
{{- range dig "spec" "template" "spec" "containers" list $deployment -}}
{{- range .env }}{{ $_ := set $has .name true }}{{ end -}}
{{- end -}}
{{- if not (hasKey $has "AZURE_OPERATOR_MODE") -}}
{{- include "armature.note" (list $root (printf "AZURE_OPERATOR_MODE=%s in Secret aso-controller-settings waits: this release began without it. Set azureOperatorMode to the mode that you want." $ofSecret)) -}}
{{- $ofSecret = "" -}}
{{- end -}}
{{- end -}}
{{- if $ofSecret -}}
{{- $_ := set $derived.settings "AZURE_OPERATOR_MODE" (lower $ofSecret) -}}
{{- include "armature.note" (list $root (printf "AZURE_OPERATOR_MODE=%s is in Secret aso-controller-settings: the operator's rights are for that. Run helm upgrade when you change it." $ofSecret)) -}}
{{- end -}}
{{- $_ := set $derived "mode" (coalesce $said $ofSecret "watchers-and-webhooks" | lower) -}}
{{- end -}}

{{/* What the notes say of the Secret: (list CONTEXT OBJECT CONTENT). */}}
{{- define "armature.noteSecret" -}}
{{- $root := first . -}}
{{- $secret := last . -}}
{{- $settings := $root.Values.derived.settings -}}
{{- range $name, $value := $settings -}}
{{- $other := get $secret $name -}}
{{- if and $other (ne $other $value) -}}
{{- include "armature.note" (list $root (printf "%s is %s, as the values say; %s in Secret aso-controller-settings does not count." $name $value $other)) -}}
{{- end -}}
{{- end -}}
{{- if not (or (index . 1) $root.Values.createAzureOperatorSecret) -}}
{{- include "armature.note" (list $root "Secret aso-controller-settings is not there yet. The operator's rights are for the values azureOperatorMode and azureTargetNamespaces; where the Secret will say something else of them, run helm upgrade once it is there.") -}}
{{- end -}}
{{- range $name, $value := $root.Values.derived.extra -}}
{{- if and (get $secret $name) (regexMatch "^AZURE_(SUBSCRIPTION_ID|TENANT_ID|ADDITIONAL_TENANTS|CLIENT_.*|USER_ASSIGNED_.*)$" $name) -}}
{{- include "armature.note" (list $root (printf "%s in extraEnv does not count: Secret aso-controller-settings has it, and keys of the credential come before variables." $name)) -}}
{{- end -}}
{{- end -}}
{{- $lost := list -}}
{{- range list "azureSubscriptionID" "azureTenantID" "azureClientID" "azureClientSecret" "azureClientCertificate"
    "azureClientCertificatePassword" "azureAdditionalTenants" -}}
{{- if get $root.Values . }}{{ $lost = append $lost . }}{{ end -}}
{{- end -}}
{{- if and $lost (not $root.Values.createAzureOperatorSecret) -}}
{{- include "armature.note" (list $root (printf "%s: without effect, since createAzureOperatorSecret is false and Secret aso-controller-settings is yours." (join ", " $lost))) -}}
{{- end -}}
{{- end -}}

{{/*
The image. What is Azure Service Operator's is passed over: a repository that is named like its image, one of some other name with a tag
such as v2.3.4, and such a tag alone. Ours is told by its name, wherever it is mirrored.
*/}}
{{- define "armature.prepareImage" -}}
{{- $ours := "ghcr.io/armature/armature" -}}
{{- $values := .Values.image -}}
{{- $repository := tpl (default $ours $values.repository) . -}}
{{- if and $values.repositoryBase (eq $repository $ours) }}{{ $repository = tpl $values.repositoryBase . }}{{ end -}}
{{- $own := regexFind "[:@][^/]*$" $repository -}}
{{- $path := trimSuffix $own $repository -}}
{{- $tag := default .Chart.AppVersion $values.tag -}}
{{- $image := printf "%s:%s" $repository $tag -}}
{{- if contains ":" $own -}}
{{- $image = $repository -}}
{{- $tag = trimPrefix ":" $own -}}
{{- end -}}
{{- $isOurs := contains "armature" (base $path) -}}
{{- $isTheirTag := and (regexMatch "^v[12][.][0-9]+[.][0-9]+" $tag) (ne (trimPrefix "v" $tag) .Chart.AppVersion) -}}
{{- if and (not $isOurs) (or $isTheirTag (regexMatch "azure-?service-?operator" (base $path))) -}}
{{- $named := $image -}}
{{- $image = printf "%s:%s" $ours .Chart.AppVersion -}}
{{- include "armature.note" (list . (printf "image: %s is Azure Service Operator's; the pods run %s." $named $image)) -}}
{{- else if $isTheirTag -}}
{{- $image = printf "%s:%s" $path .Chart.AppVersion -}}
{{- include "armature.note" (list . (printf "image: the tag %s is Azure Service Operator's; the pods run %s." $tag $image)) -}}
{{- end -}}
{{- $_ := set .Values.derived "image" $image -}}
{{- end -}}

{{/* What the first release of this name began with: an annotation of its Role. Nothing where it had none, or there is no Role. */}}
{{- define "armature.began" -}}
{{- $root := first . -}}
{{- $role := lookup "rbac.authorization.k8s.io/v1" "Role" $root.Release.Namespace (include "armature.name" $root) -}}
{{- dig "metadata" "annotations" (last .) "" $role -}}
{{- end -}}

{{/* How metrics are served: derived.metrics has mode, address, port, guards (whether readers are asked for a token) and service. */}}
{{- define "armature.prepareMetrics" -}}
{{- $values := .Values.metrics -}}
{{- $mode := $values.mode -}}
{{- if and (not $mode) .Release.IsUpgrade -}}
{{- $mode = include "armature.began" (list . "armature.azure.com/metrics-mode") | default "armature" -}}
{{- if ne $mode "aso" -}}
{{- include "armature.note" (list . "metrics.mode stays armature, as it was before this upgrade; set aso for what Azure Service Operator serves.") -}}
{{- end -}}
{{- end -}}
{{- $mode = default "aso" $mode -}}
{{- $isAso := eq $mode "aso" -}}
{{- if not $values.port }}{{ $_ := set $values "port" (ternary 8443 8080 $isAso) }}{{ end -}}
{{- $port := toString $values.port -}}
{{- $address := tpl (default "" $values.address) . -}}
{{- with regexFind ":[0-9]*$" $address -}}
{{- $address = trimSuffix . $address | default "0.0.0.0" -}}
{{- $port = trimPrefix ":" . | default $port -}}
{{- end -}}
{{- $guards := $isAso -}}
{{- if kindIs "bool" $values.secure }}{{ $guards = $values.secure }}{{ end -}}
{{- if kindIs "bool" $values.authentication }}{{ $guards = $values.authentication }}{{ end -}}
{{- $isOpen := or $guards (eq (toString $values.secure) "false") -}}
{{- $address = $address | default (ternary "0.0.0.0" "127.0.0.1" $isOpen) -}}
{{- $profiles := and $values.enable $values.profiling $guards -}}
{{- if and $values.enable $values.profiling (not $guards) -}}
{{- include "armature.note" (list . "metrics.profiling is without effect: profiles are only served with authentication (metrics.authentication).") -}}
{{- end -}}
{{- $service := ternary "azureserviceoperator-controller-manager-metrics-service" (printf "%s-metrics" (include "armature.name" .)) $isAso -}}
{{- $metrics := dict "mode" $mode "address" $address "port" $port "guards" $guards "profiles" $profiles "service" $service -}}
{{- $_ := set .Values.derived "metrics" $metrics -}}
{{- if and $values.enable (kindIs "bool" $values.secure) -}}
{{- $said := ternary "https, for those whom the cluster's roles allow" "plain HTTP, for anyone who reaches the pod" $guards -}}
{{- include "armature.note" (list . (printf "metrics.secure is metrics.authentication: %s, at %s:%s." $said $address $port)) -}}
{{- end -}}
{{- end -}}

{{- define "armature.preparePods" -}}
{{- $account := ternary "azureserviceoperator-default" "default" (eq (toString .Values.serviceAccount.create) "true") -}}
{{- $_ := set .Values.serviceAccount "name" (default $account .Values.serviceAccount.name) -}}
{{- $budget := .Values.podDisruptionBudget -}}
{{- if not (has (toString $budget.minAvailable) (list "" "<nil>")) -}}
{{- include "armature.note" (list . "podDisruptionBudget.minAvailable comes before maxUnavailable.") -}}
{{- end -}}
{{- if .Values.webhook.certDir -}}
{{- include "armature.note" (list . "webhook.certDir has no meaning here: the operator makes the certificate of its webhook, without cert-manager.") -}}
{{- end -}}
{{- if .Values.go.memLimit -}}
{{- include "armature.note" (list . "go.memLimit has no meaning here: resources.limits.memory and webhook.conversionMemory bound memory.") -}}
{{- end -}}
{{- if .Values.multitenant.enable -}}
{{- include "armature.note" (list . (printf "multitenant.enable has no meaning here: azureOperatorMode (%s) says what the pods do." .Values.derived.mode)) -}}
{{- end -}}
{{- if not (has (toString .Values.rateLimit.mode) (list "" "<nil>" "disabled")) -}}
{{- include "armature.note" (list . "rateLimit has no meaning here: armBudget limits requests to Azure, and workers what is done at the same time.") -}}
{{- end -}}
{{- if .Values.aadPodIdentity.enable -}}
{{- $made := ternary "makes an AzureIdentity and its binding, as before" "makes nothing, since the cluster has no aad-pod-identity; the operator uses the managed identity of its machine" (.Capabilities.APIVersions.Has "aadpodidentity.k8s.io/v1") -}}
{{- include "armature.note" (list . (printf "aadPodIdentity %s. It is retired: use workload identity." $made)) -}}
{{- end -}}
{{- end -}}

{{- define "armature.prepareTraffic" -}}
{{- $said := toString .Values.networkPolicies.enable -}}
{{- if has $said (list "" "<nil>") -}}
{{- $said = "true" -}}
{{- if .Release.IsUpgrade -}}
{{- $said = include "armature.began" (list . "armature.azure.com/network-policies") | default "false" -}}
{{- if ne $said "true" -}}
{{- include "armature.note" (list . "networkPolicies.enable stays false, as it was before this upgrade; set true to limit what the pods reach.") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $_ := set .Values.derived "guardsTraffic" (eq $said "true") -}}
{{- $unknown := list -}}
{{- range $name, $value := .Values.derived.extra -}}
{{- if and (regexMatch "^(HTTPS?|ALL)_PROXY$" (upper $name)) (not $value) }}{{ $unknown = append $unknown $name }}{{ end -}}
{{- end -}}
{{- if and $unknown (eq $said "true") -}}
{{- include "armature.note" (list . (printf "networkPolicies: what %s in extraEnv names is not known here; let its port out by networkPolicies.extraEgress." (join ", " $unknown))) -}}
{{- end -}}
{{- end -}}
