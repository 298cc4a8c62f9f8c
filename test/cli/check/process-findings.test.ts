import { expect, test } from 'vitest';
import { processFindings } from '#cli/check/process-findings.ts';
import { manifestsOf } from '#test/cli/vector-cluster.ts';

const READY = { conditions: [{ type: 'Ready', status: 'True' }] };

interface Given {
  readonly namespace?: string;
  readonly component?: string;
  readonly image?: string;
  readonly status?: object;
  readonly metadata?: object;
}

function pod(name: string, given: Given = {}): object {
  const { namespace = 'plimsoll-system', component = 'webhook', image = 'plimsoll:1', status = READY } = given;
  const labels = { 'app.kubernetes.io/name': 'plimsoll', 'app.kubernetes.io/component': component };
  const ownerReferences = [{ kind: 'ReplicaSet', name: component, uid: component }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels, ownerReferences, ...given.metadata },
    spec: { containers: [{ name: component, image }] },
    status,
  };
}

function waiting(reason: string, more: object = {}): object {
  return { containerStatuses: [{ name: 'webhook', restartCount: 7, state: { waiting: { reason } }, ...more }] };
}

const CRASHES = waiting('CrashLoopBackOff', { lastState: { terminated: { exitCode: 2, reason: 'Error' } } });
const STARVES = waiting('CrashLoopBackOff', { lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } } });
const NO_NODE = {
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' }],
};

const found = (...pods: readonly object[]) =>
  processFindings(manifestsOf(pods)).map(({ level, text }) => `${level}: ${text}`);

test.each<[string, readonly object[], readonly string[]]>([
  ['nothing where all run', [pod('a'), pod('b'), pod('c', { component: 'controller' })], []],
  ['nothing of what is not installed', [], []],
  [
    'a crash loop, with what the container ended with',
    [pod('a'), pod('b', { status: CRASHES })],
    ['Error: webhook does not run in b (webhook: CrashLoopBackOff, exit code 2, restarted 7 times)'],
  ],
  [
    'the same fault once, and that nothing is behind the Service',
    [pod('a', { status: STARVES }), pod('b', { status: STARVES })],
    [
      'Error: webhook does not run in a, b (webhook: CrashLoopBackOff, out of memory, restarted 7 times)',
      'Error: no pod of webhook is ready, so its Services have no endpoints',
    ],
  ],
  [
    'an image that cannot be pulled',
    [pod('a'), pod('b', { status: waiting('ImagePullBackOff') })],
    ['Error: webhook does not run in b (webhook: ImagePullBackOff)'],
  ],
  [
    'an init container that fails',
    [pod('a'), pod('b', { status: { initContainerStatuses: itemsWaiting('CreateContainerConfigError') } })],
    ['Error: webhook does not run in b (init: CreateContainerConfigError)'],
  ],
  [
    'a pod without a node',
    [pod('a'), pod('b', { status: NO_NODE })],
    ['Error: webhook does not run in b (Unschedulable: 0/3 nodes are available)'],
  ],
  [
    'a pod that starts or is not ready',
    [pod('a'), pod('b', { status: waiting('ContainerCreating') }), pod('c', { status: {} })],
    ['Warning: webhook is not ready in b, c'],
  ],
  [
    'an agent without a Service, by its fault alone',
    [pod('a', { namespace: 'plimsoll-node', component: 'agent', status: NO_NODE })],
    ['Error: agent does not run in a (Unschedulable: 0/3 nodes are available)'],
  ],
  [
    'earlier versions that still run',
    [pod('a'), pod('b', { image: 'plimsoll:0' }), pod('c', { component: 'controller', image: 'plimsoll:0' })],
    ['Warning: processes run different images: plimsoll:0 (controller, webhook), plimsoll:1 (webhook)'],
  ],
  [
    'nothing of pods that end, have ended, belong to a test or to others',
    [
      pod('a', { status: CRASHES, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      pod('b', { status: { phase: 'Failed', ...CRASHES } }),
      pod('c', { status: CRASHES, metadata: { ownerReferences: [] } }),
      pod('d', { status: CRASHES, namespace: 'shop' }),
      pod('e', { status: CRASHES, metadata: { labels: { 'app.kubernetes.io/component': 'webhook' } } }),
    ],
    [],
  ],
])('of processes, check finds %s', (_, pods, expected) => {
  expect(found(...pods)).toEqual(expected);
});

function itemsWaiting(reason: string): readonly object[] {
  return [{ name: 'init', restartCount: 0, state: { waiting: { reason } } }];
}
