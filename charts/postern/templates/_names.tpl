{{- /* What stands on every object of the release. */ -}}
{{- define "postern.labels" -}}
app.kubernetes.io/name: postern
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- /* What selects the operator's pods; never changes, because a Deployment's selector cannot. */ -}}
{{- define "postern.operatorSelector" -}}
app.kubernetes.io/name: postern
app.kubernetes.io/component: operator
{{- end }}

{{- define "postern.image" -}}
{{- $repository := required "image.repository is required: where the image of Postern lives, without tag or digest, like registry.example.com/platform/postern." .Values.image.repository -}}
{{- $digest := required "image.digest is required: sha256:<64 hex digits> of the image. A tag could be moved under the guard that compares it." .Values.image.digest -}}
{{- printf "%s@%s" $repository $digest -}}
{{- end }}

{{- /* name=cpu request/cpu limit/memory request/memory limit, as operator/settings.ts reads it. */ -}}
{{- define "postern.sizes" -}}
{{- $sizes := list -}}
{{- range .Values.sidecar.sizes -}}
{{- $sizes = append $sizes (printf "%s=%s/%s/%s/%s" .name .cpu.request .cpu.limit .memory.request .memory.limit) -}}
{{- end -}}
{{- join "," $sizes -}}
{{- end }}

{{- /*
The program, with a heap of its own size: the image's entry point has the sidecar's. The small young generation halves what is
resident with 10,000 contracts (docs/performance.md).
*/ -}}
{{- define "postern.program" -}}
- /nodejs/bin/node
- --disable-sigusr1
- --max-semi-space-size=4
- --max-old-space-size={{ . }}
- /postern/postern.cjs
{{- end }}

{{- define "postern.podSecurity" -}}
runAsNonRoot: true
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "postern.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* Never the system's namespaces nor our own: a cluster must be able to start without us (failure case INJ-02). */ -}}
{{- define "postern.namespaceSelector" -}}
matchExpressions:
- key: kubernetes.io/metadata.name
  operator: NotIn
  values: [kube-system, {{ .Release.Namespace }}]
{{- end }}
