import type { ChartTree } from './chart-tree.ts';

/** A place in a manifest that the values fill. */
export interface ChartPlace {
  /** `Kind name`. */
  readonly object: string;
  /** Keys and positions, with dots between them. */
  readonly path: string;
  readonly tree: ChartTree;
}

type Component =
  'webhook' | 'agent' | 'scheduler' | 'nodeController' | 'disruptions' | 'queues' | 'rescheduling' | 'dashboard';

const NODE_CONTROLLER = 'Deployment plimsoll-node-controller';
const NODE_CONTROLLER_ARGS = 'spec.template.spec.containers.0.args';
const IMAGE = '{{ include "plimsoll.image" . }}';

/** The settings that the pods of every component have. */
function ofPods(object: string, component: Component): readonly ChartPlace[] {
  const pod = 'spec.template.spec';
  const values = `.Values.${component}`;
  return [
    action(object, `${pod}.containers.0.image`, IMAGE),
    place(object, `${pod}.containers.0.imagePullPolicy`, { kind: 'values', path: '.Values.image.pullPolicy' }),
    place(object, `${pod}.imagePullSecrets`, { kind: 'values', path: '.Values.imagePullSecrets' }),
    place(object, `${pod}.containers.0.args.+`, { kind: 'itemsOf', path: `${values}.extraArgs` }),
    place(object, `${pod}.containers.0.resources`, { kind: 'values', path: `${values}.resources` }),
    place(object, `${pod}.nodeSelector`, { kind: 'values', path: `${values}.nodeSelector` }),
    place(object, `${pod}.tolerations`, { kind: 'values', path: `${values}.tolerations` }),
    place(object, `${pod}.affinity`, { kind: 'values', path: `${values}.affinity` }),
  ];
}

function ofDeployment(object: string, component: Exclude<Component, 'agent'>): readonly ChartPlace[] {
  const spread = `.Values.${component}.topologySpreadConstraints`;
  return [
    ...ofPods(object, component),
    action(object, 'spec.replicas', `{{ .Values.${component}.replicas }}`),
    place(object, 'spec.template.spec.topologySpreadConstraints', { kind: 'values', path: spread }),
  ];
}

/** Every place of the chart. A place that is not in the manifests is added to them. */
export const CHART_PLACES: readonly ChartPlace[] = [
  ...ofDeployment('Deployment plimsoll-webhook', 'webhook'),
  ...ofDeployment('Deployment plimsoll-scheduler', 'scheduler'),
  ...ofDeployment(NODE_CONTROLLER, 'nodeController'),
  ...ofDeployment('Deployment plimsoll-disruptions', 'disruptions'),
  ...ofDeployment('Deployment plimsoll-queues', 'queues'),
  ...ofDeployment('Deployment plimsoll-rescheduling', 'rescheduling'),
  ...ofDeployment('Deployment plimsoll-dashboard', 'dashboard'),
  ...ofPods('DaemonSet plimsoll-agent', 'agent'),
  action(
    'Deployment plimsoll-scheduler',
    'spec.template.spec.containers.1.image',
    '{{ required "scheduler.kubeSchedulerImage must name the image of kube-scheduler that the control plane runs" .Values.scheduler.kubeSchedulerImage }}',
  ),
  action(NODE_CONTROLLER, `${NODE_CONTROLLER_ARGS}.2`, '--nodes-avoidance={{ .Values.nodeController.avoidance }}'),
  action(NODE_CONTROLLER, `${NODE_CONTROLLER_ARGS}.3`, '--nodes-taints={{ .Values.nodeController.taints }}'),
];

function place(object: string, path: string, tree: ChartTree): ChartPlace {
  return { object, path, tree };
}

function action(object: string, path: string, text: string): ChartPlace {
  return place(object, path, { kind: 'action', text });
}
