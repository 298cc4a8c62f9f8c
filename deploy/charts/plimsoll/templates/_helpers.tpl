{{- define "plimsoll.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* Who is asked about new pods: by what the API server serves, unless the values say it. */}}
{{- define "plimsoll.admission" -}}
{{- $isServed := .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy" -}}
{{- .Values.admission | default (ternary "Both" "Webhook" $isServed) -}}
{{- end }}
