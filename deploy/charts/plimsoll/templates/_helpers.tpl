{{- define "plimsoll.image" -}}
{{- with .Values.global.imageRegistry | default .Values.image.registry }}{{ . }}/{{ end }}{{ .Values.image.repository }}
{{- with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* Requests and limits by the nodes of a cluster. Those of webhook and agent do not grow with it. */}}
{{- define "plimsoll.sizes" }}
"500":
  webhook: { requests: { cpu: 100m, memory: 352Mi }, limits: { memory: 352Mi } }
  agent: { requests: { cpu: 40m, memory: 64Mi }, limits: { cpu: 200m, memory: 128Mi } }
  scheduler: { requests: { cpu: 100m, memory: 128Mi }, limits: { memory: 384Mi } }
  controlPlaneExtender: { requests: { cpu: 100m, memory: 128Mi }, limits: { memory: 384Mi } }
  controller: { requests: { cpu: 50m, memory: 160Mi }, limits: { memory: 512Mi } }
"1500":
  webhook: { requests: { cpu: 100m, memory: 352Mi }, limits: { memory: 352Mi } }
  agent: { requests: { cpu: 40m, memory: 64Mi }, limits: { cpu: 200m, memory: 128Mi } }
  scheduler: { requests: { cpu: 100m, memory: 160Mi }, limits: { memory: 384Mi } }
  controlPlaneExtender: { requests: { cpu: 100m, memory: 160Mi }, limits: { memory: 384Mi } }
  controller: { requests: { cpu: 50m, memory: 192Mi }, limits: { memory: 512Mi } }
"5000":
  webhook: { requests: { cpu: 100m, memory: 352Mi }, limits: { memory: 352Mi } }
  agent: { requests: { cpu: 40m, memory: 64Mi }, limits: { cpu: 200m, memory: 128Mi } }
  scheduler: { requests: { cpu: 100m, memory: 384Mi }, limits: { memory: 384Mi } }
  controlPlaneExtender: { requests: { cpu: 100m, memory: 384Mi }, limits: { memory: 384Mi } }
  controller: { requests: { cpu: 200m, memory: 384Mi }, limits: { memory: 512Mi } }
{{- end }}

{{- /* The resources of a process: what its values say, and for the rest those of the size of the cluster. */}}
{{- define "plimsoll.resources" }}
{{- $given := .given | default dict }}
{{- $resources := mergeOverwrite (get (get (include "plimsoll.sizes" . | fromYaml) (.size | int | toString)) .of) (deepCopy $given) }}
{{- range $kind, $amounts := $given }}
{{- range $name, $amount := ternary $amounts dict (kindIs "map" $amounts) }}
{{- if kindIs "invalid" $amount }}{{ $_ := unset (get $resources $kind) $name }}{{ end }}
{{- end }}
{{- end }}
{{- toYaml $resources }}
{{- end }}

{{- /* Heap in MiB for a memory limit. What is not heap stays as large as with the default limit; a smaller limit keeps the share. */}}
{{- define "plimsoll.heap" -}}
{{- $limit := dig "limits" "memory" "" (.resources | default dict) -}}
{{- if not $limit }}{{ .heap }}
{{- else }}
{{- $mebibytes := include "plimsoll.mebibytes" $limit | float64 -}}
{{- max (sub (floor $mebibytes | int) (sub .limit .heap)) (floor (divf (mulf $mebibytes .heap) .limit) | int) }}
{{- end }}
{{- end }}

{{- /* A quantity of memory in MiB. */}}
{{- define "plimsoll.mebibytes" -}}
{{- $text := ternary . (printf "%.0f" (float64 .)) (kindIs "string" .) -}}
{{- if not (regexMatch "^[0-9]+(\\.[0-9]+)?(k|M|G|T|Ki|Mi|Gi|Ti)?$" $text) }}{{ fail (printf "cannot size the heap: the memory limit is %q, expected a quantity such as 512Mi" $text) }}{{ end -}}
{{- $units := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 -}}
{{- divf (mulf (regexFind "^[0-9.]+" $text | float64) (get $units (regexFind "[A-Za-z]*$" $text))) 1048576.0 }}
{{- end }}

{{- /* Not empty if a part of the controller is on. */}}
{{- define "plimsoll.controller" -}}
{{- if or .Values.nodeController.enabled .Values.disruptions.enabled .Values.queues.enabled .Values.rescheduling.enabled .Values.dashboard.enabled }}true{{ end }}
{{- end }}

{{- /* Who is asked about new pods: by what the API server serves, unless the values say it. */}}
{{- define "plimsoll.admission" -}}
{{- $isServed := .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy" -}}
{{- .Values.admission | default (ternary "Both" "Webhook" $isServed) -}}
{{- end }}

{{- /* The namespace of everything but the agents. */}}
{{- define "plimsoll.namespace" -}}
{{- .Values.namespaceOverride | default "plimsoll-system" }}
{{- end }}

{{- define "plimsoll.agentNamespace" -}}
{{- .Values.agent.namespaceOverride | default "plimsoll-node" }}
{{- end }}

{{- /* Environment variables that tell a process of namespaces which are not the usual ones. */}}
{{- define "plimsoll.namespaces" -}}
{{- with .Values.namespaceOverride }}
- name: PLIMSOLL_NAMESPACE
  value: {{ . | quote }}
{{- end }}
{{- with .Values.agent.namespaceOverride }}
- name: PLIMSOLL_AGENT_NAMESPACE
  value: {{ . | quote }}
{{- end }}
{{- end }}
