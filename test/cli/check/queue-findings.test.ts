import { describe, expect, test } from 'vitest';
import { checkCluster } from '#cli/check/check-cluster.ts';
import { TAKEN_AT } from '#test/cli/node-pressures.ts';
import { manifestsOf } from '#test/cli/vector-cluster.ts';

const OK =
  'OK: the extender holds preemptions by kube-scheduler to the guarantees and fences of queues, if the configuration of kube-scheduler names it, for pods of the managed namespaces ';
const TEXT =
  'Warning: kube-scheduler itself preempts by priority alone, past the guarantees and fences of queues, for pods of the managed namespaces ';

describe("kube-scheduler's own preemption, where pods wait in queues", () => {
  const namespace = (name: string, labels: object = { 'plimsoll.dev/queues': 'managed' }) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { team: name, ...labels } },
  });
  const policy = (spec: object, team = 'a') => ({
    apiVersion: 'plimsoll.dev/v1alpha1',
    kind: 'PriorityPolicy',
    metadata: { name: 'p' },
    spec: { namespaceSelector: { matchLabels: { team } }, preemption: 'Never', ...spec },
  });

  function aboutQueues(unread: readonly string[], ...objects: readonly object[]) {
    const read = { manifests: manifestsOf(objects), now: Date.parse(TAKEN_AT), namespace: 'default' };
    const findings = checkCluster(read, '1.0.0', new Set(unread)).filter(({ subject }) => subject === 'queues');
    return findings.map(({ level, text }) => `${level}: ${text}`);
  }

  const [A, B] = [namespace('a'), namespace('b')];
  const ALL = { 'plimsoll.dev/managed': 'true' };
  const GATE_POLICY = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: 'gate.queues.plimsoll.dev' },
  };
  test.each<[string, readonly object[], readonly string[]]>([
    ['no namespace is managed', [namespace('a', {})], []],
    ['no policy forbids it', [B, A], [`${TEXT}a, b`]],
    ['all parts are on, and queues are not installed', [namespace('a', ALL)], []],
    ['all parts are on, and queues are installed', [namespace('a', ALL), GATE_POLICY], [`${TEXT}a`]],
    ['all parts are on but queues', [namespace('a', { ...ALL, 'plimsoll.dev/queues': 'off' }), GATE_POLICY], []],
    ['a policy forbids it in one of them', [A, B, policy({})], [`${TEXT}b`]],
    ['a policy only warns', [A, policy({ onViolation: 'Warn' })], [`${TEXT}a`]],
    ['a policy allows it', [A, policy({ preemption: 'Allow' })], [`${TEXT}a`]],
    ['a policy is for some people', [A, policy({ subjects: [{ kind: 'User', name: 'x' }] })], [`${TEXT}a`]],
  ])('%s', (_, objects, expected) => {
    expect(aboutQueues([], ...objects)).toEqual(expected);
  });

  const pod = (namespace: string, name: string, spec: object = {}, labels: object = {}, phase = 'Running') => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels },
    spec: { containers: [], ...spec },
    status: { phase },
  });
  const extender = (component: string, phase?: string) =>
    pod(
      'plimsoll-node',
      component,
      {},
      { 'app.kubernetes.io/name': 'plimsoll', 'app.kubernetes.io/component': component },
      phase,
    );
  const ofSecond = pod('b', 'web', { schedulerName: 'plimsoll' });

  test.each<[string, readonly object[], readonly string[]]>([
    ['an extender runs beside kube-scheduler', [extender('control-plane-extender')], [`${OK}a, b`]],
    ['it does not run', [extender('control-plane-extender', 'Pending')], [`${TEXT}a, b`]],
    ['pods have another scheduler', [extender('control-plane-extender'), ofSecond], [`${TEXT}b`, `${OK}a`]],
    ['only the second scheduler asks one', [extender('scheduler'), ofSecond], [`${TEXT}a`, `${OK}b`]],
    ['a process of another kind runs', [extender('queues')], [`${TEXT}a, b`]],
  ])('%s', (_, pods, expected) => {
    expect(aboutQueues([], A, B, ...pods)).toEqual(expected);
  });

  test('policies that could not be read are not mistaken for none', () => {
    expect(aboutQueues(['PriorityPolicy'], A)).toEqual([]);
  });
});
