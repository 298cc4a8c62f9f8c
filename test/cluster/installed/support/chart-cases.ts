import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

/** A value of the chart, and where the objects that it renders have it. */
export interface ChartCase {
  /** What `--set-json` sets, `path=JSON`. */
  readonly set: string;
  /** `Kind namespace/name`. */
  readonly object: string;
  /** A path in the object; if absent, the object is there at all. */
  readonly at?: string;
  /** What is found there, or a matcher for it. */
  readonly wanted?: unknown;
  /** Other values that this one needs, as `--set-json` takes them. */
  readonly with?: readonly string[];
}

const { version: VERSION } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
const LABELS = { team: 'platform' };
const SYSTEM = 'plimsoll-system/plimsoll';
const DIGEST = `sha256:${'a'.repeat(64)}`;
const SECOND = ['scheduler.enabled=true', 'scheduler.kubeSchedulerImage="kube-scheduler:1"'];
const HOST_NETWORK = ['webhook.hostNetwork=true', 'webhook.securePort=10260'];

/** The components with pods: the object, its account, and what runs it. */
const COMPONENTS = {
  webhook: [`Deployment ${SYSTEM}-webhook`, `${SYSTEM}-webhook`, []],
  agent: ['DaemonSet plimsoll-node/plimsoll-agent', 'plimsoll-node/plimsoll-agent', []],
  scheduler: [`Deployment ${SYSTEM}-scheduler`, `${SYSTEM}-kube-scheduler`, SECOND],
  controlPlaneExtender: [
    'DaemonSet plimsoll-node/plimsoll-control-plane-extender',
    'plimsoll-node/plimsoll-control-plane-extender',
    ['controlPlaneExtender.enabled=true'],
  ],
  controller: [`Deployment ${SYSTEM}-controller`, `${SYSTEM}-controller`, ['queues.enabled=true']],
} as const;

function ofPods([component, [object, account, needs]]: (typeof ENTRIES)[number]): readonly ChartCase[] {
  const pod = 'spec.template.spec';
  const container = `${pod}.containers.0`;
  const volume = { name: 'more', emptyDir: {} };
  const mount = { name: 'more', mountPath: '/more' };
  const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' };
  const own = (key: string, value: unknown, at: string, of: string = object): ChartCase => ({
    set: `${component}.${key}=${JSON.stringify(value)}`,
    object: of,
    at,
    with: needs,
    wanted: containing(value),
  });
  return [
    own('extraArgs', ['--log-level=debug'], `${container}.args`),
    own('extraEnv', [{ name: 'A', value: 'b' }], `${container}.env`),
    {
      ...own('resources', { limits: { memory: '2Gi' } }, `${container}.resources.limits`),
      wanted: containing({ memory: '2Gi' }),
    },
    own('nodeSelector', { pool: 'system' }, `${pod}.nodeSelector`),
    own('tolerations', [{ key: 'system', operator: 'Exists' }], `${pod}.tolerations`),
    own('affinity', { podAntiAffinity: {} }, `${pod}.affinity`),
    own('priorityClassName', 'important', `${pod}.priorityClassName`),
    own('podSecurityContext', { runAsUser: 1_000 }, `${pod}.securityContext`),
    own('securityContext', { runAsGroup: 1_000 }, `${container}.securityContext`),
    own(
      'updateStrategy',
      { type: 'RollingUpdate' },
      object.startsWith('DaemonSet') ? 'spec.updateStrategy' : 'spec.strategy',
    ),
    own('volumes', [volume], `${pod}.volumes`),
    own('volumeMounts', [mount], `${container}.volumeMounts`),
    own('podLabels', LABELS, 'spec.template.metadata.labels'),
    own('podAnnotations', LABELS, 'spec.template.metadata.annotations'),
    own('serviceAccount.labels', LABELS, 'metadata.labels', `ServiceAccount ${account}`),
    own('serviceAccount.annotations', LABELS, 'metadata.annotations', `ServiceAccount ${account}`),
    ...(object.startsWith('DaemonSet')
      ? []
      : [
          own('replicas', 5, 'spec.replicas'),
          own('topologySpreadConstraints', [spread], `${pod}.topologySpreadConstraints`),
        ]),
  ];
}

/** Other entries are those of the manifest. */
function containing(value: unknown): unknown {
  if (Array.isArray(value)) return expect.arrayContaining(value);
  return typeof value === 'object' && value !== null ? expect.objectContaining(value) : value;
}

const ENTRIES = Object.entries(COMPONENTS);
const WEBHOOK = COMPONENTS.webhook[0];
const IMAGE = 'spec.template.spec.containers.0.image';
const CRD = 'CustomResourceDefinition queues.plimsoll.dev';
const BOARD = 'ConfigMap plimsoll-system/plimsoll-dashboard-nodes';
const POLICY = 'MutatingAdmissionPolicy defaults.plimsoll.dev';
const PODS = 'spec.template.spec';
const ARGS = `${PODS}.containers.0.args`;
const [CONTROLLER] = COMPONENTS.controller;
const ENV = `${PODS}.containers.0.env`;
/** The parts of the controller, and the variable that each sets. */
const PARTS = [
  ['nodeController', 'NODES_PASSES', 'On'],
  ['disruptions', 'DISRUPTIONS_RECORD', 'On'],
  ['queues', 'QUEUES_PASSES', 'On'],
  ['rescheduling', 'RESCHEDULING_PASSES', 'On'],
  ['dashboard', 'DASHBOARD__PORT', '8081'],
] as const;

/** Every value of the chart at least once. */
export const CHART_CASES: readonly ChartCase[] = [
  ...ENTRIES.flatMap(ofPods),
  ...[WEBHOOK, CRD, 'Namespace plimsoll-node', 'ServiceAccount plimsoll-system/plimsoll-webhook'].flatMap((object) => [
    { set: `commonLabels=${JSON.stringify(LABELS)}`, object, at: 'metadata.labels', wanted: containing(LABELS) },
    {
      set: `commonAnnotations=${JSON.stringify(LABELS)}`,
      object,
      at: 'metadata.annotations',
      wanted: containing(LABELS),
    },
  ]),
  ...([500, 1_500, '5000'] as const).map((size, index) => ({
    set: `clusterSize=${JSON.stringify(size)}`,
    object: CONTROLLER,
    at: `${PODS}.containers.0.resources.requests.memory`,
    wanted: ['160Mi', '192Mi', '384Mi'][index],
    with: ['queues.enabled=true'],
  })),
  {
    set: 'clusterSize=5000',
    object: CONTROLLER,
    at: `${PODS}.containers.0.resources`,
    wanted: { requests: { cpu: '200m', memory: '1Gi' }, limits: {} },
    with: ['queues.enabled=true', 'controller.resources={"requests":{"memory":"1Gi"},"limits":{"memory":null}}'],
  },
  { set: 'namespaceOverride="team-infra"', object: 'Deployment team-infra/plimsoll-webhook' },
  { set: 'agent.namespaceOverride="team-agents"', object: 'DaemonSet team-agents/plimsoll-agent' },
  {
    set: 'commonLabels={"a":"b"}',
    object: WEBHOOK,
    at: 'spec.template.metadata.labels',
    wanted: containing({ a: 'b' }),
  },
  { set: 'image.registry="registry.test"', object: WEBHOOK, at: IMAGE, wanted: `registry.test/plimsoll:${VERSION}` },
  {
    set: 'global.imageRegistry="mirror.test"',
    object: WEBHOOK,
    at: IMAGE,
    wanted: `mirror.test/plimsoll:${VERSION}`,
    with: ['image.registry="registry.test"'],
  },
  { set: 'image.repository="other"', object: WEBHOOK, at: IMAGE, wanted: `other:${VERSION}` },
  { set: 'image.tag="2"', object: WEBHOOK, at: IMAGE, wanted: 'plimsoll:2' },
  { set: `image.digest="${DIGEST}"`, object: WEBHOOK, at: IMAGE, wanted: `plimsoll@${DIGEST}` },
  { set: 'image.pullPolicy="Always"', object: WEBHOOK, at: `${PODS}.containers.0.imagePullPolicy`, wanted: 'Always' },
  { set: 'imagePullSecrets=[{"name":"s"}]', object: WEBHOOK, at: `${PODS}.imagePullSecrets`, wanted: [{ name: 's' }] },
  { set: 'crds.install=true', object: CRD },
  {
    set: 'crds.keep=true',
    object: CRD,
    at: 'metadata.annotations',
    wanted: containing({ 'helm.sh/resource-policy': 'keep' }),
  },
  { set: 'crds.keep=false', object: CRD, at: 'metadata.annotations', wanted: undefined },
  { set: 'webhook.hostNetwork=true', object: WEBHOOK, at: `${PODS}.hostNetwork`, wanted: true, with: HOST_NETWORK },
  {
    set: 'webhook.hostNetwork=true',
    object: 'Namespace plimsoll-system',
    at: 'metadata.labels',
    wanted: containing({ 'pod-security.kubernetes.io/enforce': 'privileged' }),
    with: HOST_NETWORK,
  },
  { set: 'webhook.securePort=10260', object: WEBHOOK, at: ARGS, wanted: containing(['--port=10260']) },
  { set: 'webhook.healthPort=8081', object: WEBHOOK, at: `${PODS}.containers.0.ports.1.containerPort`, wanted: 8081 },
  { set: 'agent.enabled=true', object: COMPONENTS.agent[0] },
  { set: 'agent.mode="Enforce"', object: COMPONENTS.agent[0], at: ARGS, wanted: containing(['--mode=Enforce']) },
  ...(['scheduler', 'controlPlaneExtender'] as const).map((name) => {
    const [object, , needs] = COMPONENTS[name];
    return { set: `${name}.enabled=true`, object, with: needs };
  }),
  ...PARTS.map(([name, variable, value]) => ({
    set: `${name}.enabled=true`,
    object: CONTROLLER,
    at: ENV,
    wanted: containing([{ name: `PLIMSOLL_${variable}`, value }]),
  })),
  {
    set: 'scheduler.kubeSchedulerImage="kube-scheduler:2"',
    object: COMPONENTS.scheduler[0],
    at: `${PODS}.containers.1.image`,
    wanted: 'kube-scheduler:2',
    with: SECOND,
  },
  { set: 'certManager.enabled=true', object: 'Certificate plimsoll-system/plimsoll-webhook' },
  {
    set: 'certManager.issuerRef.name="company"',
    object: 'Certificate plimsoll-system/plimsoll-webhook',
    at: 'spec.issuerRef',
    wanted: { name: 'company', kind: 'Issuer' },
    with: ['certManager.enabled=true'],
  },
  {
    set: 'certManager.issuerRef.kind="ClusterIssuer"',
    object: 'Certificate plimsoll-system/plimsoll-webhook',
    at: 'spec.issuerRef',
    wanted: { name: 'company', kind: 'ClusterIssuer' },
    with: ['certManager.enabled=true', 'certManager.issuerRef.name="company"'],
  },
  { set: 'rulesOnly.enabled=true', object: 'ValidatingWebhookConfiguration plimsoll' },
  { set: 'admission="Both"', object: POLICY },
  { set: 'networkPolicies.enabled=true', object: 'NetworkPolicy plimsoll-system/plimsoll-egress' },
  { set: 'flowSchema.enabled=true', object: 'FlowSchema plimsoll-evictions' },
  { set: 'podMonitors.enabled=true', object: `PodMonitor ${SYSTEM}` },
  {
    set: `podMonitors.labels=${JSON.stringify(LABELS)}`,
    object: `PodMonitor ${SYSTEM}`,
    at: 'metadata.labels',
    wanted: containing(LABELS),
    with: ['podMonitors.enabled=true'],
  },
  { set: 'alerts.enabled=true', object: `PrometheusRule ${SYSTEM}` },
  {
    set: `alerts.labels=${JSON.stringify(LABELS)}`,
    object: `PrometheusRule ${SYSTEM}`,
    at: 'metadata.labels',
    wanted: containing(LABELS),
    with: ['alerts.enabled=true'],
  },
  {
    set: 'alerts.runbookUrl="https://runbooks.test/plimsoll"',
    object: `PrometheusRule ${SYSTEM}`,
    at: 'spec.groups.0.rules.0.annotations.runbook_url',
    wanted: expect.stringContaining('https://runbooks.test/plimsoll#'),
    with: ['alerts.enabled=true'],
  },
  {
    set: 'dashboard.clusterName="prod: eu-1"',
    object: CONTROLLER,
    at: ARGS,
    wanted: containing(['--dashboard-cluster-name=prod: eu-1']),
    with: ['dashboard.enabled=true'],
  },
  { set: 'dashboards.enabled=true', object: BOARD },
  ...['labels', 'annotations'].map((marks) => ({
    set: `dashboards.${marks}=${JSON.stringify(LABELS)}`,
    object: BOARD,
    at: `metadata.${marks}`,
    wanted: containing(LABELS),
    with: ['dashboards.enabled=true'],
  })),
];
