import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Severity } from '#shared/decide/eviction/history/inflight-eviction.ts';
import { lastingProtection, optOutForce } from '#shared/decide/eviction/ranking/rank-node.ts';
import { readNamedPolicy, selectPolicy } from '#shared/api/node-pressure-policy/select-policy.ts';
import { rankingFacts } from '#shared/domain/ranking/candidate.ts';
import { DEFAULT_POLICY } from '#shared/api/node-pressure-policy/policy.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { StoredObject } from '#test/fakes/stored-objects.ts';
import { pod, readAnswer, review, type Answer } from './support/reviews.ts';
import { CLASSES, NAMESPACES, PODS, runWebhook, type RunningWebhook } from './support/webhook-process.ts';

const AGENT = 'system:serviceaccount:plimsoll-node:plimsoll-agent';
const SCHEDULER = 'system:kube-scheduler';
const NODES = '/api/v1/nodes';
const NODE_POLICIES = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies';
const STAY = { 'plimsoll.dev/evict': 'never' };

const POLICIES: readonly StoredObject[] = [
  {
    metadata: { name: 'everywhere' },
    spec: { mode: 'Enforce', protect: { optOutCeiling: 50, namespaces: ['db'] } },
  },
  {
    metadata: { name: 'batch' },
    spec: {
      mode: 'Enforce',
      order: 5,
      nodeSelector: { matchLabels: { pool: 'batch' } },
      protect: { optOutCeiling: -10, optOut: 'Always' },
    },
  },
];
const NODE_LABELS: Readonly<Record<string, Record<string, string>>> = {
  web: { pool: 'web' },
  batch: { pool: 'batch' },
};
const IGNORED = 'ignored';
const PLACES = ['team-a', 'db', IGNORED, 'kube-system', 'plimsoll-node'];

/** Pods that differ in everything that protects one. */
const CANDIDATES: readonly StoredObject[] = PLACES.flatMap((namespace) =>
  Object.keys(NODE_LABELS).flatMap((nodeName) =>
    [-20, 10, 50, 51, 2_000_000_000].flatMap((priority) =>
      [{}, STAY, { 'plimsoll.dev/evict': 'last' }, { 'kubernetes.io/config.mirror': 'x' }].map((annotations, index) => {
        const name = `p${priority}-${nodeName}-${index}`;
        return pod(
          { nodeName, priority },
          { name, namespace, uid: `${namespace}-${name}`, annotations },
        ) as StoredObject;
      }),
    ),
  ),
);

const OPTED_OUT = CANDIDATES.filter(({ metadata }) => isDeepStrictEqual(metadata['annotations'], STAY));

describe('the gates', () => {
  let webhook: RunningWebhook;
  beforeAll(async () => {
    webhook = await runWebhook((api) => {
      for (const name of PLACES) {
        const labels = name === IGNORED ? { 'plimsoll.dev/ignore': 'true' } : {};
        api.put(NAMESPACES, { metadata: { name, labels } });
      }
      for (const [name, labels] of Object.entries(NODE_LABELS)) api.put(NODES, { metadata: { name, labels } });
      for (const policy of POLICIES) api.put(NODE_POLICIES, policy);
      for (const each of CANDIDATES) api.put(PODS, each);
      api.put(CLASSES, {
        metadata: { name: 'spared', annotations: { 'yunikorn.apache.org/allow-preemption': 'false' } },
        value: 1,
      });
      api.put(CLASSES, {
        metadata: { name: 'asked', annotations: { 'plimsoll.dev/allow-preemption': 'by-pod' } },
        value: 1,
      });
      api.put(CLASSES, {
        metadata: { name: 'fair', annotations: { 'plimsoll.dev/allow-preemption': 'true' } },
        value: 1,
      });
    });
  });
  afterAll(() => webhook.stop());

  /** A dry run: what protects a pod is decided, and no limit counts it. */
  async function evict(candidate: StoredObject, username: string, annotations: object = {}): Promise<Answer> {
    const { name, namespace, uid } = candidate.metadata;
    const { nodeName } = candidate['spec'] as { readonly nodeName: string };
    const eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace, annotations },
      deleteOptions: { preconditions: { uid }, gracePeriodSeconds: 5, dryRun: ['All'] },
    };
    const resource = { group: '', version: 'v1', resource: 'pods' };
    const userInfo = { username, groups: [], extra: { 'authentication.kubernetes.io/node-name': [nodeName] } };
    const request = { operation: 'CREATE', resource, subResource: 'eviction', name, namespace, userInfo };
    const body = review({ ...request, object: eviction, oldObject: null });
    return readAnswer((await webhook.post('/validate/evictions', body)).body);
  }

  async function preempt(spec: object, annotations: object): Promise<Answer> {
    const oldObject = pod({ ...spec }, { annotations, uid: 'victim' });
    const resource = { group: '', version: 'v1', resource: 'pods' };
    const userInfo = { username: SCHEDULER, groups: [] };
    const body = review({
      operation: 'DELETE',
      resource,
      namespace: 'team-a',
      name: '',
      userInfo,
      object: null,
      oldObject,
    });
    return readAnswer((await webhook.post('/validate/deletions', body)).body);
  }

  test.each<[string, Severity, boolean, readonly StoredObject[]]>([
    ['in the mild stage', 'mild', true, CANDIDATES],
    ['in the severe stage within its request', 'severe', false, OPTED_OUT],
    ['in the severe stage above its request', 'severe', true, OPTED_OUT],
  ])('protect from our own evictions exactly what the agent skips %s', async (_, stage, exceedsRequest, candidates) => {
    const policies = POLICIES.map(readNamedPolicy);
    const known = new Map(PLACES.map((name) => [name, name === IGNORED ? 'ignored' : 'open'] as const));
    // Only where the agent may overrule an opt-out does it name an urgency.
    const urgency = stage === 'severe' && exceedsRequest ? { 'plimsoll.dev/eviction-urgency': 'Severe' } : {};
    const answers = await Promise.all(candidates.map((candidate) => evict(candidate, AGENT, urgency)));
    const byGate = candidates.map(({ metadata }, index) => [metadata['uid'], answers[index]?.allowed]);
    const byAgent = candidates.map((candidate) => {
      const decoded = decodePod(candidate);
      if (!decoded.ok) throw new Error(decoded.message);
      const { uid, spec } = decoded.value;
      const selected = selectPolicy(policies, new Map(Object.entries(NODE_LABELS[spec.nodeName ?? ''] ?? {})));
      const policy = selected.kind === 'selected' ? selected.policy.policy : DEFAULT_POLICY;
      const measured = { exceedsRequest, facts: rankingFacts(decoded.value), signal: 'memory.available' } as const;
      const optOut = optOutForce(measured, stage, policy);
      return [uid, lastingProtection(decoded.value, policy, known, optOut) === undefined];
    });
    expect(Object.fromEntries(byGate)).toEqual(Object.fromEntries(byAgent));
    expect(new Set(byGate.map(([, isAllowed]) => isAllowed)).size).toBe(2);
  });

  test('refuse our own eviction of a pod that cannot be read', async () => {
    const broken = pod({ containers: 'none' }, { name: 'broken', namespace: 'team-a', uid: 'broken' }) as StoredObject;
    webhook.api.put(PODS, broken);
    expect(await evict(broken, AGENT)).toMatchObject({ allowed: false, code: 403 });
    expect(await evict(broken, 'alice')).toMatchObject({ allowed: true });
    webhook.api.remove(PODS, 'team-a/broken');
  });

  test('do not restrict other users', async () => {
    const [candidate] = CANDIDATES.filter(({ metadata }) => metadata['namespace'] === 'kube-system');
    if (candidate === undefined) throw new Error('a candidate');
    expect(await evict(candidate, 'alice')).toMatchObject({ allowed: true });
  });

  test('let the scheduler preempt unless the class asks that it does not, or lets its pods ask', async () => {
    const no = { 'plimsoll.dev/allow-preemption': 'false' };
    const answers = {
      'neither says anything': await preempt({}, {}),
      'the pod alone says no': await preempt({}, no),
      'the class leaves it to the pod, which says no': await preempt({ priorityClassName: 'asked' }, no),
      'the class says no': await preempt({ priorityClassName: 'spared' }, {}),
      'the class says no and the pod yes': await preempt(
        { priorityClassName: 'spared' },
        { 'plimsoll.dev/allow-preemption': 'true' },
      ),
      'the class says yes, whatever the pod says': await preempt({ priorityClassName: 'fair' }, no),
      'what the pod says cannot be read': await preempt({}, { 'plimsoll.dev/allow-preemption': 'perhaps' }),
      'the pod cannot be read': await preempt({ containers: 'none' }, no),
    };
    expect(Object.fromEntries(Object.entries(answers).map(([what, { code }]) => [what, code ?? 'allowed']))).toEqual({
      'neither says anything': 'allowed',
      'the pod alone says no': 'allowed',
      'the class leaves it to the pod, which says no': 429,
      'the class says no': 429,
      'the class says no and the pod yes': 'allowed',
      'the class says yes, whatever the pod says': 'allowed',
      'what the pod says cannot be read': 'allowed',
      'the pod cannot be read': 'allowed',
    });
  });

  describe('where a pod of a DaemonSet is nominated to the node (S2-29)', () => {
    const SETS = '/apis/apps/v1/daemonsets';
    const owners = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd', controller: true }];
    const named = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['alone'] }] };
    const required = { nodeSelectorTerms: [named] };
    const tied = { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
    const daemonSet = (uid: string): StoredObject => ({ metadata: { name: 'd', namespace: 'team-a', uid } });
    const onNode = (name: string, spec: object, metadata: object = {}): StoredObject =>
      pod({ nodeName: 'alone', ...spec }, { name, namespace: 'team-a', uid: name, ...metadata }) as StoredObject;
    const victim = onNode('victim', { priorityClassName: 'spared' });
    const agent = onNode('agent', tied, { ownerReferences: owners });
    const preemptor = (priority: number, ownerReferences: readonly object[], spec: object = tied): StoredObject => ({
      ...(pod(
        { priority, ...spec },
        { name: 'new', namespace: 'team-a', uid: 'new', ownerReferences },
      ) as StoredObject),
      status: { nominatedNodeName: 'alone' },
    });
    const other = [{ ...owners[0], name: 'e', uid: 'e' }];

    test.each<[string, readonly StoredObject[], number | undefined]>([
      [
        'an opted-out pod gives way where no other pod is on the node',
        [victim, agent, preemptor(5, owners)],
        undefined,
      ],
      ['it stays while another pod is there', [victim, onNode('web', {}), preemptor(5, owners)], 429],
      ['it stays for a pod that is not of a DaemonSet', [victim, agent, preemptor(5, [])], 429],
      [
        'it stays for a pod that names a DaemonSet and is tied to no node',
        [victim, agent, preemptor(5, owners, {})],
        429,
      ],
      ['it stays for a pod that names a DaemonSet which does not exist', [victim, agent, preemptor(5, other)], 429],
      [
        'it stays where another pod names a DaemonSet and is tied to no node',
        [victim, onNode('web', {}, { ownerReferences: owners }), preemptor(5, owners)],
        429,
      ],
      [
        'it stays where another pod names a DaemonSet which does not exist',
        [victim, onNode('web', tied, { ownerReferences: other }), preemptor(5, owners)],
        429,
      ],
      ['it stays for a pod of the same priority', [victim, agent, preemptor(0, owners)], 429],
      ['it stays where pods cannot be read', [victim, onNode('odd', { containers: 'x' }), preemptor(5, owners)], 429],
    ])('%s', async (_, objects, code) => {
      webhook.api.put(SETS, daemonSet('d'));
      expect(await codeWith(objects)).toBe(code);
    });

    test('it stays for the pod of a DaemonSet that was created anew', async () => {
      webhook.api.put(SETS, daemonSet('anew'));
      expect(await codeWith([victim, agent, preemptor(5, owners)])).toBe(429);
    });

    async function codeWith(objects: readonly StoredObject[]): Promise<number | undefined> {
      for (const each of objects) webhook.api.put(PODS, each);
      const { code } = await preempt({ nodeName: 'alone', priorityClassName: 'spared' }, {});
      for (const { metadata } of objects) webhook.api.remove(PODS, `team-a/${String(metadata['name'])}`);
      webhook.api.remove(SETS, 'team-a/d');
      return code;
    }
  });
});
