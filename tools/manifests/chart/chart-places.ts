import { type ChartTree, onlyIf } from './chart-tree.ts';

/** A place in a manifest to fill from the values. */
export interface ChartPlace {
  /** `Kind name`. */
  readonly object: string;
  /** Keys and positions, with dots between them; `+` is the end of a list or a map. */
  readonly path: string;
  readonly tree: ChartTree;
}

/** The pods of a component, and the values for them. */
interface Workload {
  /** `Kind name`. */
  readonly object: string;
  /** Key of the values. */
  readonly component: string;
  readonly account: string;
  /** Command and heap as in the manifest: MiB of `--max-old-space-size`, of the memory limit, and its position. */
  readonly heap: { readonly mebibytes: number; readonly ofLimit: number; readonly position: number };
}

const POD = 'spec.template.spec';
/** What a process must know about non-default namespaces. */
const NAMESPACES = '(include "plimsoll.namespaces" $ | fromYamlArray)';
const SCHEDULER_HEAP = { mebibytes: 288, ofLimit: 384, position: 3 } as const;

const WEBHOOK: Workload = {
  object: 'Deployment plimsoll-webhook',
  component: 'webhook',
  account: 'plimsoll-webhook',
  heap: { mebibytes: 112, ofLimit: 352, position: 2 },
};
const CONTROLLER: Workload = {
  object: 'Deployment plimsoll-controller',
  component: 'controller',
  account: 'plimsoll-controller',
  heap: { mebibytes: 400, ofLimit: 512, position: 3 },
};
const SCHEDULER: Workload = {
  object: 'Deployment plimsoll-scheduler',
  component: 'scheduler',
  account: 'plimsoll-kube-scheduler',
  heap: SCHEDULER_HEAP,
};
const DEPLOYMENTS: readonly Workload[] = [WEBHOOK, CONTROLLER, SCHEDULER];
const DAEMON_SETS: readonly Workload[] = [
  {
    object: 'DaemonSet plimsoll-agent',
    component: 'agent',
    account: 'plimsoll-agent',
    heap: { mebibytes: 48, ofLimit: 128, position: 4 },
  },
  {
    object: 'DaemonSet plimsoll-control-plane-extender',
    component: 'controlPlaneExtender',
    account: 'plimsoll-control-plane-extender',
    heap: SCHEDULER_HEAP,
  },
];

/** The settings of the pods of every component. */
function ofPods({ object, component, account, heap }: Workload): readonly ChartPlace[] {
  const values = `.Values.${component}`;
  const marks = (kind: string): string => `merge (dict) ${values}.pod${kind} .Values.common${kind}`;
  return [
    action(object, `${POD}.containers.0.image`, '{{ include "plimsoll.image" . }}'),
    place(object, `${POD}.containers.0.imagePullPolicy`, { kind: 'values', path: '.Values.image.pullPolicy' }),
    place(object, `${POD}.imagePullSecrets`, { kind: 'values', path: '.Values.imagePullSecrets' }),
    contents(object, `${POD}.containers.0.args`, `${values}.extraArgs`),
    contents(object, `${POD}.containers.0.env`, `concat ${NAMESPACES} (${values}.extraEnv | default list)`),
    contents(object, `${POD}.containers.0.volumeMounts`, `${values}.volumeMounts`),
    contents(object, `${POD}.volumes`, `${values}.volumes`),
    contents(object, 'spec.template.metadata.labels', marks('Labels')),
    contents(object, 'spec.template.metadata.annotations', marks('Annotations')),
    place(object, `${POD}.containers.0.resources`, { kind: 'values', path: resourcesOf(component) }),
    place(object, `${POD}.securityContext`, { kind: 'values', path: podSecurity(component) }),
    place(object, `${POD}.containers.0.securityContext`, { kind: 'values', path: `${values}.securityContext` }),
    place(object, `spec.${object.startsWith('DaemonSet') ? 'updateStrategy' : 'strategy'}`, {
      kind: 'values',
      path: `${values}.updateStrategy`,
    }),
    ...['nodeSelector', 'tolerations', 'affinity', 'priorityClassName'].map((field) =>
      place(object, `${POD}.${field}`, { kind: 'values', path: `${values}.${field}` }),
    ),
    heapPlace(object, component, heap),
    ...accountPlaces(`ServiceAccount ${account}`, `${values}.serviceAccount`),
  ];
}

/** As deploy/overlays/cert-manager has it: the files of the certificate belong to the group of the webhook. */
function podSecurity(component: string): string {
  const values = `.Values.${component}.podSecurityContext`;
  const withGroup = '(ternary (dict "fsGroup" 65532) (dict) .Values.certManager.enabled)';
  return component === WEBHOOK.component ? `merge (dict) ${values} ${withGroup}` : values;
}

/** What the values leave open is of the size of the cluster. */
function resourcesOf(component: string): string {
  const given = `"of" "${component}" "given" .Values.${component}.resources "size" .Values.clusterSize`;
  return `(include "plimsoll.resources" (dict ${given}) | fromYaml)`;
}

/** The memory outside the heap does not grow with the limit. */
function heapPlace(object: string, component: string, { mebibytes, ofLimit, position }: Workload['heap']): ChartPlace {
  const given = `"resources" ${resourcesOf(component)} "heap" ${mebibytes} "limit" ${ofLimit}`;
  const flag = `--max-old-space-size={{ include "plimsoll.heap" (dict ${given}) }}`;
  return action(object, `${POD}.containers.0.command.${position}`, flag);
}

function accountPlaces(object: string, values: string): readonly ChartPlace[] {
  return [
    contents(object, 'metadata.labels', `merge (dict) ${values}.labels .Values.commonLabels`),
    contents(object, 'metadata.annotations', `merge (dict) ${values}.annotations .Values.commonAnnotations`),
  ];
}

function ofDeployment(workload: Workload): readonly ChartPlace[] {
  const { object, component } = workload;
  const spread = `.Values.${component}.topologySpreadConstraints`;
  return [
    ...ofPods(workload),
    action(object, 'spec.replicas', `{{ .Values.${component}.replicas }}`),
    place(object, `${POD}.topologySpreadConstraints`, { kind: 'values', path: spread }),
  ];
}

/** The webhook on the network of its nodes, for API servers that do not reach the network of the pods. */
function hostNetworkPlaces(): readonly ChartPlace[] {
  const { object } = WEBHOOK;
  const isOn = '.Values.webhook.hostNetwork';
  const arg = (when: string, text: string): ChartPlace =>
    place(object, `${POD}.containers.0.args.+`, onlyIf(when, { kind: 'action', text }));
  const only = (path: string, value: unknown): ChartPlace =>
    place(object, `${POD}.${path}`, onlyIf(isOn, { kind: 'plain', value }));
  const [port, health] = ['.Values.webhook.securePort', '.Values.webhook.healthPort'];
  return [
    only('hostNetwork', true),
    only('dnsPolicy', 'ClusterFirstWithHostNet'),
    // Network policies do not protect a port of the host, and metrics name pods of all teams.
    arg(isOn, '--health-host=127.0.0.1'),
    ...['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) =>
      only(`containers.0.${probe}.httpGet.host`, '127.0.0.1'),
    ),
    arg(`ne (int ${port}) 10250`, `--port={{ int ${port} }}`),
    arg(`ne (int ${health}) 8080`, `--health-port={{ int ${health} }}`),
    action(object, `${POD}.containers.0.ports.0.containerPort`, `{{ int ${port} }}`),
    action(object, `${POD}.containers.0.ports.1.containerPort`, `{{ int ${health} }}`),
  ];
}

const DASHBOARD_NAME = '.Values.dashboard.clusterName';

/** Every place of the chart. A missing place is added to the manifests. */
export const CHART_PLACES: readonly ChartPlace[] = [
  ...hostNetworkPlaces(),
  ...DEPLOYMENTS.flatMap(ofDeployment),
  ...DAEMON_SETS.flatMap(ofPods),
  place(SCHEDULER.object, `${POD}.containers.1.securityContext`, {
    kind: 'values',
    path: '.Values.scheduler.securityContext',
  }),
  action(
    SCHEDULER.object,
    `${POD}.containers.1.image`,
    '{{ required "scheduler.kubeSchedulerImage must name the image of kube-scheduler that the control plane runs" .Values.scheduler.kubeSchedulerImage }}',
  ),
  action(
    'Certificate plimsoll-webhook',
    'spec.issuerRef.name',
    '{{ .Values.certManager.issuerRef.name | default "plimsoll-ca" }}',
  ),
  action(
    'Certificate plimsoll-webhook',
    'spec.issuerRef.kind',
    '{{ ternary .Values.certManager.issuerRef.kind "Issuer" (ne .Values.certManager.issuerRef.name "") }}',
  ),
  place(
    CONTROLLER.object,
    `${POD}.containers.0.args.+`,
    onlyIf(`and .Values.dashboard.enabled ${DASHBOARD_NAME}`, {
      kind: 'action',
      text: `{{ printf "--dashboard-cluster-name=%s" ${DASHBOARD_NAME} | quote }}`,
    }),
  ),
];

/** Additions to every object: common labels and annotations, and those of its kind. */
export function markPlaces(object: string, kind: string): readonly ChartPlace[] {
  // Accounts have them together with their own.
  if (kind === 'ServiceAccount') return [];
  const labels = kind === 'PodMonitor' ? 'merge (dict) .Values.podMonitors.labels .Values.commonLabels' : undefined;
  return [
    contents(object, 'metadata.labels', labels ?? '.Values.commonLabels'),
    contents(object, 'metadata.annotations', '.Values.commonAnnotations'),
  ];
}

function place(object: string, path: string, tree: ChartTree): ChartPlace {
  return { object, path, tree };
}

function action(object: string, path: string, text: string): ChartPlace {
  return place(object, path, { kind: 'action', text });
}

function contents(object: string, path: string, values: string): ChartPlace {
  return place(object, `${path}.+`, { kind: 'contentsOf', path: values });
}
