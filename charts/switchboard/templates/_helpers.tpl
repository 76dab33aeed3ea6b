{{/* The name of every resource: the release's name, with "switchboard" in it. A Service's name has no dots and begins with a letter. */}}
{{- define "switchboard.name" -}}
{{- $name := ternary .Release.Name (printf "%s-switchboard" .Release.Name) (contains "switchboard" .Release.Name) -}}
{{- if not (regexMatch "^[a-z]" $name) -}}
{{- $name = printf "switchboard-%s" .Release.Name -}}
{{- end -}}
{{- regexReplaceAll "-+$" ($name | replace "." "-" | trunc 52) "" -}}
{{- end -}}

{{- define "switchboard.labels" -}}
app: {{ include "switchboard.name" . }}
{{ include "switchboard.labelsBeside" . }}
{{- end -}}

{{/* Labels of pods that are not the service itself, and so must not get its traffic. */}}
{{- define "switchboard.labelsBeside" -}}
app.kubernetes.io/name: switchboard
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{- define "switchboard.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* What every pod of the chart has: an unprivileged user, and no token for the cluster. */}}
{{- define "switchboard.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "switchboard.container" -}}
image: {{ include "switchboard.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/* The URL of a store: from the user's own Secret or from the chart's; nothing is rendered if existingSecret contains it. */}}
{{- define "switchboard.store" -}}
{{- $store := get .root.Values .name -}}
{{- if $store.existingSecret.name -}}
- name: {{ .variable }}
  valueFrom: { secretKeyRef: { name: {{ quote $store.existingSecret.name }}, key: {{ quote $store.existingSecret.key }} } }
{{- else if $store.url -}}
- name: {{ .variable }}
  valueFrom: { secretKeyRef: { name: {{ include "switchboard.name" .root }}-stores, key: {{ .variable }} } }
{{- else if not .root.Values.existingSecret }}
{{- fail (printf "%s is required: set %s.url or %s.existingSecret.name, or existingSecret to a Secret with the key %s" .name .name .name .variable) }}
{{- end }}
{{- end -}}

{{/* The service's variables, for each pod that needs them. */}}
{{- define "switchboard.env" -}}
{{- with .Values.existingSecret -}}
envFrom:
  - secretRef: { name: {{ quote . }} }
{{ end -}}
env:
  {{- with include "switchboard.store" (dict "root" . "name" "postgres" "variable" "DATABASE_URL") }}
  {{- nindent 2 . }}
  {{- end }}
  {{- with include "switchboard.store" (dict "root" . "name" "redis" "variable" "REDIS_URL") }}
  {{- nindent 2 . }}
  {{- end }}
  - { name: TENANTS_FILE, value: /config/tenants.json }
  {{- if eq .Values.migrations "job" }}
  - { name: MIGRATE, value: never }
  {{- end }}
  {{- range $name, $value := .Values.config }}
  - { name: {{ $name }}, value: {{ ternary $value (toJson $value) (kindIs "string" $value) | quote }} }
  {{- end }}
{{- end -}}

{{- define "switchboard.tenants" -}}
{{- if .Values.tenants.existingConfigMap -}}
{{ .Values.tenants.existingConfigMap }}
{{- else if .Values.tenants.inline -}}
{{ include "switchboard.name" . }}-tenants
{{- else -}}
{{ fail "tenants are required: set tenants.inline, or tenants.existingConfigMap to a ConfigMap with the key tenants.json" }}
{{- end -}}
{{- end -}}

{{- define "switchboard.volumes" -}}
- name: tenants
  configMap: { name: {{ include "switchboard.tenants" . | quote }} }
- name: scratch
  emptyDir: {}
{{- end -}}

{{- define "switchboard.volumeMounts" -}}
- { name: tenants, mountPath: /config, readOnly: true }
- { name: scratch, mountPath: /data }
{{- end -}}

{{/* The public host name of the service. Fails without TRUST_PROXY: a proxy must not be used unless its headers are read. */}}
{{- define "switchboard.host" -}}
{{- if not .Values.config.TRUST_PROXY -}}
{{- fail "config.TRUST_PROXY is required with ingress or gateway: the networks of the proxy's pods, such as 10.0.0.0/8. Without it all callers have the proxy's address and share one rate limit" -}}
{{- end -}}
{{- (urlParse (required "config.PUBLIC_URL is required with ingress or gateway: the address that browsers use, such as https://voice.example.com" .Values.config.PUBLIC_URL)).hostname -}}
{{- end -}}
