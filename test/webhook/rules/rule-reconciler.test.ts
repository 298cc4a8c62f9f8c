import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startApiServer } from '#sandbox/api-server/start-api-server.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { createObject, deleteObject, getObject, patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, PRIORITY_POLICIES, PRIORITY_RULES } from '#shared/kube/resource.ts';
import { fastClock } from '#test/fakes/fast-clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { at } from '#test/contract/harness.ts';
import { createCaches, type Caches } from '#webhook/cluster-state/caches.ts';
import { liveReader } from '#webhook/cluster-state/read-own.ts';
import { RuleReconciler } from '#webhook/rules/rule-reconciler.ts';
import { CONDITIONS } from '#webhook/messages.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { leadPart } from '#test/webhook/support/lead-part.ts';

const WITHIN = 5_000;
/** Several times what it takes the leader to see a change and to write. */
const QUIET_MS = 1_000;
/** By which intervals pass faster. */
const FACTOR = 4;
const clock = fastClock(FACTOR);
const log = createLog({ component: 'test', level: 'silent', format: 'json' });

describe('RuleReconciler on the sandbox API server', () => {
  let server: Awaited<ReturnType<typeof startApiServer>>;
  let client: KubeClient;
  const running: AbortController[] = [];

  beforeAll(async () => {
    server = await startApiServer({ host: '127.0.0.1', port: 0, clock, log });
    const connection = directConnection({ server: server.url, token: server.token, ca: server.caPem });
    client = createClient(connection, { userAgent: 'test' });
    await installPlimsoll(client);
  });
  afterEach(async () => {
    for (const each of running.splice(0)) each.abort();
    for (const name of ['a', 'b', 'warns']) await deleteObject(client, { resource: PRIORITY_POLICIES, name });
    for (const name of ['plimsoll', 'plimsoll-warnings'])
      await deleteObject(client, { resource: PRIORITY_RULES, name });
  });
  afterAll(async () => {
    client.close();
    await server.close();
  });

  interface Replica {
    readonly reconciler: RuleReconciler;
    readonly caches: Caches;
    /** Begins to lead; answers how to lose the lease without ending. */
    readonly lead: () => { lose: () => void };
    readonly behindSeconds: () => Promise<number>;
  }

  async function replica(mode: 'Enforce' | 'DryRun' = 'Enforce', through: KubeClient = client): Promise<Replica> {
    const end = new AbortController();
    running.push(end);
    const metrics = createMetrics('webhook');
    const caches = createCaches({ client, clock, random: () => 0, log, metrics });
    for (const cache of [caches.policies, caches.classes]) void cache.run(end.signal);
    await Promise.all([caches.policies.synced, caches.classes.synced]);
    const reconciler = new RuleReconciler({
      client: through,
      read: liveReader(through),
      caches,
      mode,
      clock,
      log,
      metrics,
    });
    void reconciler.run(end.signal);
    return {
      reconciler,
      caches,
      lead: () => {
        let isHeld = true;
        const term = { fencingToken: randomUUID(), formerUntil: 0, isHeld: () => isHeld };
        leadPart(reconciler.part, term, end.signal, clock);
        return {
          lose: () => {
            isHeld = false;
          },
        };
      },
      behindSeconds: async () => {
        const [, value] = /^plimsoll_priority_rules_behind_seconds (\S+)$/m.exec(await metrics.text()) ?? [];
        return Number(value);
      },
    };
  }

  async function write(name: string, spec: object): Promise<void> {
    const address = { resource: PRIORITY_POLICIES, name };
    const object = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'PriorityPolicy', metadata: { name }, spec };
    const made = await createObject(client, { resource: PRIORITY_POLICIES }, object);
    expect(
      made.kind === 'alreadyExists' ? await patchObject(client, address, { spec }, { type: 'merge' }) : made,
    ).toMatchObject({ kind: 'ok' });
  }

  async function rulesIn(name: string): Promise<unknown> {
    const found = await getObject(client, { resource: PRIORITY_RULES, name });
    if (found.kind !== 'ok') return found.kind;
    const rules = at(found.object, 'spec.rules') as readonly {
      readonly policy: string;
      readonly maxPriority?: number;
    }[];
    return rules.map(({ policy, maxPriority }) => [policy, maxPriority]);
  }

  function eventuallyRules(name: string, wanted: unknown): Promise<void> {
    return eventually(async () => expect(await rulesIn(name)).toEqual(wanted), WITHIN);
  }

  test('every change of a policy changes the rules and their status', async () => {
    await write('a', { maxPriority: 1 });
    const { lead } = await replica();
    lead();
    await eventuallyRules('plimsoll', [['a', 1]]);
    await write('b', { maxPriority: 2 });
    await write('a', { maxPriority: 3 });
    await eventuallyRules('plimsoll', [
      ['a', 3],
      ['b', 2],
    ]);
    await deleteObject(client, { resource: PRIORITY_POLICIES, name: 'b' });
    await eventuallyRules('plimsoll', [['a', 3]]);
    await eventually(async () => {
      const found = await getObject(client, { resource: PRIORITY_RULES, name: 'plimsoll' });
      expect(at(found, 'object.status')).toMatchObject({
        policies: 1,
        observedGeneration: at(found, 'object.metadata.generation'),
        conditions: [{ type: 'Current', status: 'True', message: CONDITIONS.compiled(1) }],
      });
    }, WITHIN);
  });

  test('rules that warn are in an object that exists only while there are any', async () => {
    await write('warns', { maxPriority: 1, onViolation: 'Warn' });
    const { lead } = await replica();
    lead();
    await eventuallyRules('plimsoll-warnings', [['warns', 1]]);
    await eventuallyRules('plimsoll', []);
    await write('warns', { maxPriority: 1, onViolation: 'Deny' });
    await eventuallyRules('plimsoll', [['warns', 1]]);
    await eventuallyRules('plimsoll-warnings', 'notFound');
  });

  test('in DryRun nothing refuses, and the refusing rules are deleted last', async () => {
    await write('a', { maxPriority: 1 });
    const before = await replica();
    before.lead();
    await eventuallyRules('plimsoll', [['a', 1]]);
    running.splice(0).forEach((each) => each.abort());
    const asked: string[] = [];
    const { lead } = await replica('DryRun', recording(client, asked));
    lead();
    await eventuallyRules('plimsoll', 'notFound');
    expect(await rulesIn('plimsoll-warnings')).toEqual([['a', 1]]);
    expect(asked.filter((each) => /^(POST|DELETE)/.test(each))).toEqual([
      'POST /apis/plimsoll.dev/v1alpha1/priorityrules',
      'DELETE /apis/plimsoll.dev/v1alpha1/priorityrules/plimsoll',
    ]);
  });

  test('rules that another client changed or deleted are repaired', async () => {
    await write('a', { maxPriority: 1 });
    const first = await replica();
    first.lead();
    await eventuallyRules('plimsoll', [['a', 1]]);
    const address = { resource: PRIORITY_RULES, name: 'plimsoll' };
    await patchObject(client, address, { spec: { rules: [], everywhere: [] } }, { type: 'merge' });
    const second = await replica();
    second.lead();
    await eventuallyRules('plimsoll', [['a', 1]]);
    await deleteObject(client, address);
    (await replica()).lead();
    await eventuallyRules('plimsoll', [['a', 1]]);
  });

  test('a replica that does not lead (any more) writes nothing, and a metric shows the age of the rules', async () => {
    await write('a', { maxPriority: 1 });
    const leader = await replica();
    const term = leader.lead();
    const other = await replica();
    await eventuallyRules('plimsoll', [['a', 1]]);
    await eventually(async () => expect(await other.behindSeconds()).toBe(0), WITHIN);
    term.lose();
    await write('a', { maxPriority: 2 });
    // Both know that the rules are old, for longer than it takes a leader to write.
    await eventually(async () => {
      expect(await other.behindSeconds()).toBeGreaterThan((2 * QUIET_MS) / 1_000);
      expect(await leader.behindSeconds()).toBeGreaterThan((2 * QUIET_MS) / 1_000);
    }, WITHIN);
    expect(await rulesIn('plimsoll')).toEqual([['a', 1]]);
    other.lead();
    await eventuallyRules('plimsoll', [['a', 2]]);
    await eventually(async () => expect(await leader.behindSeconds()).toBe(0), WITHIN);
  });

  test('rules are compiled from live objects, so a stale cache reverts nothing', async () => {
    await write('a', { maxPriority: 1 });
    const stale = await replica();
    running.splice(0).forEach((each) => each.abort());
    await write('a', { maxPriority: 2 });
    const fresh = await replica();
    fresh.lead();
    await eventuallyRules('plimsoll', [['a', 2]]);
    running.splice(0).forEach((each) => each.abort());
    const end = new AbortController();
    running.push(end);
    expect([...stale.caches.policies.values()].map(({ maxPriority }) => maxPriority)).toEqual([1]);
    leadPart(stale.reconciler.part, { fencingToken: 'late', formerUntil: 0, isHeld: () => true }, end.signal, clock);
    await letTimePass(QUIET_MS / FACTOR, 'watched');
    expect(await rulesIn('plimsoll')).toEqual([['a', 2]]);
  });

  test('a missing kind is reported, and the rules are written once the kind exists', async () => {
    const address = { resource: CUSTOM_RESOURCE_DEFINITIONS, name: 'priorityrules.plimsoll.dev' };
    const definition = await getObject(client, address);
    await deleteObject(client, address);
    await write('a', { maxPriority: 1 });
    const { lead, reconciler, caches } = await replica();
    lead();
    const condition = (): unknown => reconciler.conditionOf([...caches.policies.values()][0] as never);
    await eventually(() => expect(condition()).toMatchObject({ status: 'False', reason: 'NotCompiled' }), 10_000);
    const spec = at(definition, 'object.spec');
    const { apiVersion, kind } = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
    const again = { apiVersion, kind, metadata: { name: address.name }, spec };
    expect(await createObject(client, { resource: CUSTOM_RESOURCE_DEFINITIONS }, again)).toMatchObject({ kind: 'ok' });
    await eventually(async () => expect(await rulesIn('plimsoll')).toEqual([['a', 1]]), 15_000);
    await eventually(() => expect(condition()).toMatchObject({ status: 'True', reason: 'Compiled' }), WITHIN);
  }, 40_000);
});

/** Notes each request on its way. */
function recording(client: KubeClient, asked: string[]): KubeClient {
  return {
    ...client,
    request: (request): Promise<Outcome<unknown>> => {
      asked.push(`${request.method ?? 'GET'} ${request.path}`);
      return client.request(request);
    },
  };
}
