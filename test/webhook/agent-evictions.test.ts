import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { StoredObject } from '#test/fakes/stored-objects.ts';
import { AGENT, type Asked, NODE_CLAIM, ownEvictions } from './support/own-evictions.ts';
import { pod, readAnswer, review } from './support/reviews.ts';
import { NAMESPACES, PODS, runWebhook, type RunningWebhook } from './support/webhook-process.ts';
import { at } from '#test/contract/harness.ts';
import { ERRORS } from '#webhook/messages.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { patternOf } from '#test/build/pattern-of.ts';

const OTHER_ACCOUNT = 'system:serviceaccount:plimsoll-system:plimsoll-scheduler';
const NODE_POLICIES = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies';
const BUDGETS = '/apis/policy/v1/poddisruptionbudgets';
const ACCOUNTS = '/apis/plimsoll.dev/v1alpha1/disruptionaccounts';
const ACCOUNT = 'plimsoll-system/plimsoll-evictions';
const SHARED = { evictions: { perMinute: 5 } };
const SOCKETS = 256;
/** 70 % of the default `requestSeconds` (`webhook/wire.ts`). */
const MAX_DECISION_MS = 1050;

describe('evictions by our own accounts', () => {
  let webhook: RunningWebhook;
  const { given, evict } = ownEvictions(() => webhook);
  beforeAll(async () => {
    webhook = await runWebhook(
      (api) => {
        api.put(NAMESPACES, { metadata: { name: 'team-a' } });
        api.put(NAMESPACES, { metadata: { name: 'ignored', labels: { 'plimsoll.dev/ignore': 'true' } } });
        for (const name of ['node-a', 'node-b']) api.put('/api/v1/nodes', { metadata: { name, labels: { name } } });
      },
      SHARED,
      SOCKETS,
    );
  });
  afterAll(() => webhook.stop());
  beforeEach(() => {
    webhook.api.remove(ACCOUNTS, ACCOUNT);
    for (const { metadata } of webhook.api.all(NODE_POLICIES))
      webhook.api.remove(NODE_POLICIES, String(metadata['name']));
  });

  test('an agent evicts from its own node', async () => {
    expect(await evict(given('node-a'))).toMatchObject({ allowed: true });
  });

  test.each<[what: string, asked: Asked, nodeName: string | undefined, message: string]>([
    ['a pod of another node', {}, 'node-b', MESSAGES.otherNode.text({ callerNode: 'node-a', node: 'node-b' })],
    ['a pod on no node', {}, undefined, MESSAGES.otherNode.text({ callerNode: 'node-a', node: '' })],
    ['with a token that no pod holds', { extra: {} }, 'node-a', MESSAGES.unboundToken.text()],
    [
      'with two nodes in its token',
      { extra: { [NODE_CLAIM]: ['node-a', 'node-b'] } },
      'node-b',
      MESSAGES.unboundToken.text(),
    ],
  ])('an agent does not evict %s', async (_, asked, nodeName, message) => {
    const victim = given(nodeName ?? '', nodeName === undefined ? { spec: { containers: [] } } : {});
    expect(await evict(victim, asked)).toMatchObject({ allowed: false, code: 403, message });
  });

  test.each([
    ['with a UID, which no other pod has', { preconditions: { uid: 'uid-gone' } }, { allowed: true }],
    ['without a UID, which would mean the next pod of that name', { preconditions: {} }, { allowed: false, code: 409 }],
  ])('an agent evicts a pod that is gone %s', async (_, options, answer) => {
    const gone = { metadata: { name: 'gone', namespace: 'team-a', uid: 'uid-gone' } };
    expect(await evict(gone, { options })).toMatchObject(answer);
  });

  test('nor from an ignored namespace, even if the label was set a moment ago', async () => {
    expect(await evict(given('node-a', {}, { namespace: 'ignored' }))).toMatchObject({ allowed: false, code: 403 });
  });

  test('nor on a node whose policy is a dry run', async () => {
    webhook.api.put(NODE_POLICIES, { metadata: { name: 'quiet' }, spec: { mode: 'DryRun' } });
    expect(await evict(given('node-a'))).toMatchObject({
      allowed: false,
      code: 403,
      message: MESSAGES.policyInDryRun.text({ policy: 'quiet' }),
    });
  });

  test('but a dry run of it is answered as if the policy enforced', async () => {
    webhook.api.put(NODE_POLICIES, { metadata: { name: 'quiet' }, spec: { mode: 'DryRun' } });
    expect(await evict(given('node-a'), { dryRun: true })).toMatchObject({ allowed: true });
    expect(await evict(given('node-a'), { options: { dryRun: ['All'] } })).toMatchObject({ allowed: true });
    expect(await evict(given('node-b'), { dryRun: true })).toMatchObject({ allowed: false, code: 403 });
    expect(webhook.api.all(ACCOUNTS)).toEqual([]);
  });

  test.each(['plimsoll-controller', 'plimsoll-rescheduling', 'plimsoll-queues', 'plimsoll-dashboard'])(
    'the token of %s does not evict a successor of the same name, without grace, or a critical pod',
    async (name) => {
      const asked = { username: `system:serviceaccount:plimsoll-system:${name}`, extra: {} };
      expect(await evict(given('node-a'), { ...asked, options: { preconditions: { uid: 'other' } } })).toMatchObject({
        allowed: false,
        code: 409,
      });
      expect(await evict(given('node-a'), { ...asked, options: { gracePeriodSeconds: 0 } })).toMatchObject({
        allowed: false,
        code: 403,
      });
      const critical = { spec: { nodeName: 'node-a', containers: [], priority: 2_000_001_000 } };
      expect(await evict(given('node-a', critical), asked)).toMatchObject({ allowed: false, code: 403 });
      expect(await evict(given('node-a'), asked)).toMatchObject({ allowed: true });
    },
  );

  test('the rescheduler leaves alone what a policy protects and who asks to stay; a guarantee of queues does not', async () => {
    webhook.api.put(NODE_POLICIES, { metadata: { name: 'p' }, spec: { protect: { namespaces: ['team-b'] } } });
    const stays = { annotations: { 'plimsoll.dev/evict': 'never' } };
    const allowedFor = async (name: string, metadata: object, annotations?: object): Promise<boolean> => {
      const asked = { username: `system:serviceaccount:plimsoll-system:${name}`, extra: {} };
      return (await evict(given('node-a', {}, metadata), { ...asked, ...(annotations && { annotations }) })).allowed;
    };
    webhook.api.put(NAMESPACES, { metadata: { name: 'team-b' } });
    expect(await allowedFor('plimsoll-rescheduling', { namespace: 'team-b' })).toBe(false);
    expect(await allowedFor('plimsoll-queues', { namespace: 'team-b' })).toBe(true);
    expect(await allowedFor('plimsoll-rescheduling', stays)).toBe(false);
    expect(await allowedFor('plimsoll-queues', stays)).toBe(true);
    expect(await allowedFor('plimsoll-queues', { namespace: 'ignored' })).toBe(false);
    const forQueues = { 'plimsoll.dev/eviction-part': 'queues' };
    for (const metadata of [{ namespace: 'team-b' }, stays]) {
      // Otherwise what was allowed before is counted.
      webhook.api.remove(ACCOUNTS, ACCOUNT);
      expect(await allowedFor('plimsoll-controller', metadata)).toBe(false);
      expect(await allowedFor('plimsoll-controller', metadata, forQueues)).toBe(true);
      // Only the controller says for which part it evicts.
      expect(await allowedFor('plimsoll-webhook', metadata, forQueues)).toBe(false);
    }
  });

  describe('are counted', () => {
    test('by node, and an agent beyond the limits of its policy learns when to retry', async () => {
      const limits = { perMinute: 3, perTenMinutes: 3 };
      webhook.api.put(NODE_POLICIES, { metadata: { name: 'three' }, spec: { mode: 'Enforce', limits } });
      const victims = Array.from({ length: 8 }, () => given('node-a'));
      const answers = await Promise.all(victims.map((victim) => evict(victim)));
      expect(answers.filter(({ allowed }) => allowed)).toHaveLength(3);
      const refused = answers.filter(({ allowed }) => !allowed);
      expect(new Set(refused.map(({ code, message }) => `${code} ${message}`))).toEqual(
        new Set(['429 the limit of 3 evictions a minute on node `node-a` is reached']),
      );
      for (const { raw } of refused) expect(raw).toMatch(/"retryAfterSeconds":60/);
      expect(await evict(given('node-b'), { node: 'node-b' })).toMatchObject({ allowed: true });
    });

    test('in the cluster, over all nodes and accounts', async () => {
      const limits = { perMinute: 100, perTenMinutes: 100, perNamespacePerTenMinutes: 100 };
      webhook.api.put(NODE_POLICIES, { metadata: { name: 'many' }, spec: { mode: 'Enforce', limits } });
      const answers = [];
      for (const node of ['node-a', 'node-b', 'node-a', 'node-b']) answers.push(await evict(given(node), { node }));
      answers.push(await evict(given('node-a'), { username: OTHER_ACCOUNT, extra: {} }));
      answers.push(await evict(given('node-a')));
      expect(answers.map(({ allowed, message }) => [allowed, message])).toEqual([
        ...Array.from({ length: 5 }, () => [true, undefined]),
        [false, 'the limit of 5 evictions a minute in the cluster is reached'],
      ]);
    });

    test('so that no node uses up the limit of the cluster', async () => {
      const limits = { perMinute: 100, perTenMinutes: 100, perNamespacePerTenMinutes: 100 };
      webhook.api.put(NODE_POLICIES, { metadata: { name: 'many' }, spec: { mode: 'Enforce', limits } });
      const answers = [];
      for (let eviction = 0; eviction < 5; eviction += 1) answers.push((await evict(given('node-a'))).allowed);
      expect(answers).toEqual([true, true, true, false, false]);
      expect(await evict(given('node-b'), { node: 'node-b' })).toMatchObject({ allowed: true });
    });

    test('in lanes, so that a flood from one node is refused and the evictions of another are not', async () => {
      webhook.api.silent = /namespaces\/flood\/pods/;
      const victims = Array.from({ length: 150 }, () => given('node-b', {}, { namespace: 'flood' }));
      const startedAt = performance.now();
      const flood = victims.map((victim) => evict(victim, { node: 'node-a' }));
      const others = await Promise.all([1, 2].map(() => evict(given('node-b'), { node: 'node-b' })));
      const answers = await Promise.all(flood);
      expect(others.map(({ allowed }) => allowed)).toEqual([true, true]);
      expect(answers.filter(({ allowed }) => allowed)).toEqual([]);
      const overloaded = answers.filter(
        ({ message }) => message === MESSAGES.overloaded.text({ cause: ERRORS.tooManyWaiting() }),
      );
      // The lane has eight places, which are free again after the time for a decision.
      const turns = 1 + Math.floor((performance.now() - startedAt) / MAX_DECISION_MS);
      expect(overloaded.length).toBeGreaterThanOrEqual(150 - 8 * turns);
      webhook.api.silent = undefined;
    });

    test('in an account, so that a restart forgets nothing', async () => {
      const { metadata } = given('node-a');
      await evict({ metadata });
      const rules = ['cluster', 'node/node-a', 'node/node-a/team-a'];
      expect(at(webhook.api.get(ACCOUNTS, ACCOUNT), 'status')).toMatchObject({
        accountVersion: 1,
        debits: [
          {
            uid: metadata['uid'],
            pod: metadata['name'],
            namespace: 'team-a',
            component: 'Agent',
            caller: AGENT,
            rules,
          },
        ],
      });
    });

    test('and not at all where the account is not what the webhook writes', async () => {
      for (const status of [{ debits: [{ uid: 'x' }] }, { accountVersion: 2 }, { debits: 'none' }]) {
        webhook.api.put(ACCOUNTS, { metadata: { namespace: 'plimsoll-system', name: 'plimsoll-evictions' }, status });
        const answer = await evict(given('node-a'));
        expect(answer).toMatchObject({ allowed: false, code: 429 });
        expect(answer.message).toContain('cannot read DisruptionAccount "plimsoll-system/plimsoll-evictions"');
      }
    });

    test('not when they are dry runs, nor for pods that are already terminating', async () => {
      const limits = { perMinute: 1, perTenMinutes: 1 };
      webhook.api.put(NODE_POLICIES, { metadata: { name: 'one' }, spec: { mode: 'Enforce', limits } });
      const going = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
      const answers = [
        await evict(given('node-a'), { dryRun: true }),
        await evict(given('node-a'), { options: { dryRun: ['All'] } }),
        await evict(given('node-a', {}, going)),
        await evict(given('node-a')),
        await evict(given('node-a')),
      ];
      expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, true, true, false]);
    });

    test("not when a budget forbids them, which is answered with the API server's own message", async () => {
      const limits = { perMinute: 1, perTenMinutes: 1 };
      webhook.api.put(NODE_POLICIES, { metadata: { name: 'one' }, spec: { mode: 'Enforce', limits } });
      webhook.api.put(BUDGETS, {
        metadata: { name: 'all', namespace: 'team-a' },
        spec: { selector: { matchLabels: { app: 'db' } } },
        status: { observedGeneration: 1, disruptionsAllowed: 0 },
      });
      const held = { labels: { app: 'db' } };
      for (const victim of [given('node-a', {}, held), given('node-a', {}, held)]) {
        const answer = await evict(victim);
        expect(answer).toMatchObject({ allowed: false, code: 429 });
        expect(answer.raw).toMatch(/"causes":\[\{"reason":"DisruptionBudget"/);
      }
      expect(await evict(given('node-a'))).toMatchObject({ allowed: true });
    });
  });

  describe('are refused when something cannot be read', () => {
    test.each([
      ['the pod', /\/pods\/p\d+$/],
      ['the policies of nodes', /nodepressurepolicies$/],
      ['the namespace', /namespaces\/team-a$/],
      ['the count', /disruptionaccounts\/plimsoll-evictions/],
    ])('%s', async (_, path) => {
      const victim = given('node-a');
      webhook.api.silent = path;
      const answer = await evict(victim);
      webhook.api.silent = undefined;
      expect(answer).toMatchObject({ allowed: false, code: 429 });
      expect(answer.message).toMatch(patternOf((cause) => MESSAGES.evictionUnclear.text({ cause })));
    });

    test('one of the policies', async () => {
      webhook.api.put(NODE_POLICIES, { metadata: { name: 'strange' }, spec: { order: 'first' } });
      expect(await evict(given('node-a'))).toMatchObject({ allowed: false, code: 429 });
      webhook.api.put(NODE_POLICIES, { metadata: { name: 'strange' }, spec: { evictionHard: { 'no.signal': '1' } } });
      expect(await evict(given('node-a'))).toMatchObject({ allowed: false, code: 429 });
    });

    test('unless the unreadable policy is for other nodes', async () => {
      const nodeSelector = { matchLabels: { pool: 'elsewhere' } };
      webhook.api.put(NODE_POLICIES, { metadata: { name: 'strange' }, spec: { nodeSelector, mode: 'Sometimes' } });
      expect(await evict(given('node-a'))).toMatchObject({ allowed: true });
    });

    test('but not for other callers, to whom no rule applies', async () => {
      const victim = given('node-a');
      webhook.api.silent = /\/pods\/p\d+$/;
      expect(await evict(victim, { username: 'alice', extra: {} })).toMatchObject({ allowed: true });
      webhook.api.silent = undefined;
    });
  });
});

test('the webhook in DryRun still enforces the rules for our own accounts', async () => {
  const webhook = await runWebhook(
    (api) => api.put(PODS, pod({ nodeName: 'node-b' }, { name: 'web', uid: 'uid-web' }) as StoredObject),
    { mode: 'DryRun' },
  );
  const deleteOptions = { preconditions: { uid: 'uid-web' } };
  const userInfo = { username: AGENT, groups: [], extra: { [NODE_CLAIM]: ['node-a'] } };
  const object = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web' }, deleteOptions };
  const resource = { group: '', version: 'v1', resource: 'pods' };
  const about = { operation: 'CREATE', resource, subResource: 'eviction', name: 'web', namespace: 'team-a' };
  const { body } = await webhook.post('/validate/evictions', review({ ...about, userInfo, object }));
  await webhook.stop();
  expect(readAnswer(body)).toMatchObject({ allowed: false, code: 403 });
});
