import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeAccount } from '#shared/api/disruption-account.ts';
import type { Evidence } from '#shared/domain/disruption/cause.ts';
import { Removals } from '#shared/domain/disruption/removals.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { createObject, getObject, listObjects } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import {
  DISRUPTION_ACCOUNTS,
  DISRUPTION_LIMITS,
  DISRUPTION_POLICIES,
  NAMESPACES,
  PODS,
} from '#shared/kube/resource.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { SharedStreams } from '#shared/kube/reflector/shared-streams.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createDebits } from '#scheduler/disruptions/debit-removals.ts';
import { createKnownLimits } from '#scheduler/disruptions/known-limits.ts';
import { createLimitReports } from '#scheduler/disruptions/report-limits.ts';
import { startTestSandbox } from '#test/build/test-sandbox.ts';
import { valueOf } from '#test/build/value-of.ts';
import { eventually } from '#test/build/waiting.ts';
import { at } from '#test/contract/harness.ts';
import { seededJitter } from '#test/fakes/jitter.ts';
import { createDisruptionAccounts } from '#webhook/evictions/disruption-accounts.ts';
import { running } from '#test/shared/domain/disruption/accounts.ts';
import { DELETED, EVICTED, NO_EVIDENCE, PREEMPTED } from '#test/shared/domain/disruption/seen-removals.ts';

const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'owner', controller: true };
const KUBELET: Evidence = { ...NO_EVIDENCE, disruptionTarget: 'TerminationByKubelet', statusReason: 'Evicted' };
const OOM: Evidence = { ...NO_EVIDENCE, isOomKilled: true };
const DRAINED: Evidence = { ...EVICTED, node: { isCordoned: true, isSilent: false } };

describe('the account of all removals', () => {
  let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
  const ended = new AbortController();
  beforeAll(async () => {
    sandbox = await startTestSandbox();
  });
  afterAll(async () => {
    ended.abort();
    await sandbox.stop();
  });

  const create = async (resource: typeof PODS, object: object, namespace?: string) =>
    expectOk(await createObject(sandbox.client, { resource, namespace }, object), `create ${resource.kind}`);

  async function leader(budgets = new Map<string, Map<string, never>>()) {
    const log = createLog({ component: 'test', level: 'silent', format: 'json' });
    const context = { client: sandbox.client, clock, log, random: seededJitter(), metrics: createMetrics('test') };
    const streams = new SharedStreams();
    const known = createKnownLimits({ ...context, streams });
    void streams.run(ended.signal);
    await Promise.all([known.limits.synced, known.policies.synced]);
    const removals = new Removals();
    const options = { ...context, known, removals, snapshot: { budgets } };
    return { removals, debit: createDebits(options), report: createLimitReports(options) };
  }

  async function given(name: string, spec?: object): Promise<string> {
    await create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const head = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'DisruptionLimit', metadata: { name: 'web' } };
    if (spec !== undefined) await create(DISRUPTION_LIMITS, { ...head, spec: { selector: {}, ...spec } }, name);
    return name;
  }

  async function pod(namespace: string, name: string, owners: readonly object[] = []): Promise<Pod> {
    const spec = { containers: [{ name: 'main', image: 'i' }] };
    const metadata = { name, labels: { app: 'web' }, ownerReferences: owners };
    const created = await create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec }, namespace);
    return running(valueOf(decodePod(created)));
  }

  async function debits(namespace: string) {
    const found = await getObject(sandbox.client, { resource: DISRUPTION_ACCOUNTS, namespace, name: 'plimsoll' });
    return found.kind === 'ok' ? valueOf(decodeAccount(found.object)) : [];
  }

  test('every cause is one debit, each pod once, also where the webhook has debited it (S3-16, S3-21)', async () => {
    const namespace = await given('causes', { limits: [{ max: 9, window: '1h' }] });
    const { removals, debit } = await leader();
    const causes = [PREEMPTED, KUBELET, OOM, DELETED, DRAINED];
    const pods = await Promise.all(causes.map((_, index) => pod(namespace, `p${index}`)));
    const [webhook] = [createDisruptionAccounts({ client: sandbox.client, clock, metrics: createMetrics('test') })];
    const drained = pods[4] as Pod;
    const asked = { component: 'Others', caller: 'ann', kind: 'evict', isDryRun: false } as const;
    await webhook.debit({ ...asked, pod: drained, giveUpAt: clock.monotonic() + 5_000 });
    const now = clock.now();
    causes.forEach((evidence, index) => {
      removals.begin({ pod: pods[index] as Pod, node: 'n', evidence, at: now - 6_000 + index });
    });
    expect(await debit(ended.signal)).toEqual([namespace]);
    expect(await debit(ended.signal)).toEqual([]);
    const counted = (await debits(namespace)).map(({ pod: name, cause, component }) => [name, cause, component]);
    expect(counted.sort()).toEqual([
      ['p0', 'Preemption', 'KubeScheduler'],
      ['p1', 'KubeletEviction', 'Kubelet'],
      ['p2', 'OOMKill', 'Kubelet'],
      ['p3', 'Deletion', 'Others'],
      ['p4', 'Drain', 'Others'],
    ]);
    const record = removals.due(now, 99).find(({ uid }) => uid === drained.uid)?.removal;
    expect([record?.evidence.caller, record?.debited?.rules]).toEqual(['ann', ['limit/web']]);
  });

  test('the status of a limit shows rate, limit, what is left and pods up (S3-20)', async () => {
    const namespace = await given('status', { limits: [{ max: '50%', window: '1h' }], minAvailable: 1 });
    const { removals, debit, report } = await leader();
    const [gone] = [await pod(namespace, 'a'), await pod(namespace, 'b'), await pod(namespace, 'c')];
    removals.begin({ pod: gone, node: 'n', evidence: DELETED, at: clock.now() });
    await eventually(async () => {
      await report(await debit(ended.signal), ended.signal);
      const limit = await getObject(sandbox.client, { resource: DISRUPTION_LIMITS, namespace, name: 'web' });
      expect(at(limit, 'object.status')).toMatchObject({
        expectedPods: 3,
        podsUp: 0,
        minAvailable: 1,
        windows: [{ window: '1h', removed: 1, max: 2, left: 1 }],
        debits: [{ pod: 'a', cause: 'Deletion', component: 'Others' }],
      });
    });
  });

  test('each limit of a namespace gets a status, of more than twenty too (S3-20)', async () => {
    const namespace = await given('crowded');
    const names = Array.from({ length: 45 }, (_, index) => `limit-${index}`);
    const spec = { selector: {}, limits: [{ max: 1, window: '1h' }] };
    for (const name of names) {
      const head = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'DisruptionLimit', metadata: { name } };
      await create(DISRUPTION_LIMITS, { ...head, spec }, namespace);
    }
    const { report } = await leader();
    const counts = new Set<number>();
    // The namespaces of other tests have turns in between.
    for (let pass = 1; pass <= 6; pass += 1) {
      await report(pass === 1 ? [namespace] : [], ended.signal);
      const listed = expectOk(await listObjects(sandbox.client, { resource: DISRUPTION_LIMITS, namespace }), 'list');
      counts.add(listed.items.filter((limit) => at(limit, 'status.windows') !== undefined).length);
    }
    expect([...counts]).toEqual([20, 40, 45]);
  });

  test('an owner without limit and budget has the default of its priority in the one account of its namespace (S3-18)', async () => {
    const namespace = await given('defaults');
    const spec = { defaults: [{ limits: [{ max: 1, window: '1h' }] }] };
    const head = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'DisruptionPolicy', metadata: { name: 'plimsoll' } };
    await create(DISRUPTION_POLICIES, { ...head, spec });
    const { removals, debit } = await leader();
    const [first, second] = [await pod(namespace, 'a', [OWNER]), await pod(namespace, 'b', [OWNER])];
    removals.begin({ pod: first, node: 'n', evidence: DELETED, at: clock.now() });
    await debit(ended.signal);
    expect(await debits(namespace)).toMatchObject([{ rules: ['owner/owner'] }]);
    const webhook = createDisruptionAccounts({ client: sandbox.client, clock, metrics: createMetrics('test') });
    const asked = { component: 'Others', caller: 'ann', kind: 'evict', isDryRun: false, pod: second } as const;
    expect(await webhook.debit({ ...asked, giveUpAt: clock.monotonic() + 5_000 })).toMatchObject({
      kind: 'exceeded',
      key: 'owner/owner',
      most: 1,
    });
  });
});
