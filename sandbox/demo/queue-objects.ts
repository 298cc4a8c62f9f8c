import { LABEL_QUEUES, QUEUE_GATE, QUEUES_MANAGED } from '#shared/kube/api-names.ts';
import { NAMESPACES, PODS, QUEUES } from '#shared/kube/resource.ts';
import type { ScenarioObject } from './scenario-objects.ts';

/** Of the node's four processors: small enough that neither the jobs of the demo nor their preemption change. */
const POD_MILLI_CPU = 50;
/** More than an idle demo process uses, so that these pods are not the first to be evicted. */
const POD_REQUEST_MI = 24;

interface PlannedQueue {
  readonly name: string;
  readonly weight: number;
  readonly guaranteedMilli: number;
  readonly maxMilli: number;
  readonly pods: number;
}

const PLANNED: readonly PlannedQueue[] = [
  { name: 'research', weight: 2, guaranteedMilli: 100, maxMilli: 200, pods: 3 },
  { name: 'reports', weight: 1, guaranteedMilli: 50, maxMilli: 50, pods: 2 },
];

/** Two queues below one that limits both, each with a namespace and more pods than it may let in. */
export function queueObjects(): readonly ScenarioObject[] {
  return [
    queue('teams', { weight: 1, max: { cpu: `${3 * POD_MILLI_CPU}m` } }),
    ...PLANNED.flatMap((planned) => [
      queue(planned.name, {
        parent: 'teams',
        weight: planned.weight,
        guaranteed: { cpu: `${planned.guaranteedMilli}m` },
        max: { cpu: `${planned.maxMilli}m` },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': planned.name } },
      }),
      namespace(planned.name),
      ...Array.from({ length: planned.pods }, (_, index) => waitingPod(planned.name, index)),
    ]),
  ];
}

function queue(name: string, spec: object): ScenarioObject {
  return { resource: QUEUES, object: { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue', metadata: { name }, spec } };
}

function namespace(name: string): ScenarioObject {
  const labels = { [LABEL_QUEUES]: QUEUES_MANAGED };
  return { resource: NAMESPACES, object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } } };
}

/** In a cluster the API server adds the gate (deploy/components/queues/gate-policy.yaml); the one of the sandbox cannot. */
function waitingPod(inNamespace: string, index: number): ScenarioObject {
  const resources = { requests: { cpu: `${POD_MILLI_CPU}m`, memory: `${POD_REQUEST_MI}Mi` } };
  const spec = {
    priorityClassName: 'standard',
    terminationGracePeriodSeconds: 5,
    schedulingGates: [{ name: QUEUE_GATE }],
    containers: [{ name: 'main', image: 'demo/service', args: ['--memory=0Mi'], resources }],
  };
  const metadata = { name: `${inNamespace}-${index}`, namespace: inNamespace };
  return { resource: PODS, namespace: inNamespace, object: { apiVersion: 'v1', kind: 'Pod', metadata, spec } };
}
