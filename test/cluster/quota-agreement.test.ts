import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkQuotas } from '#shared/domain/quota/resource-quota/check-quotas.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeResourceQuota } from '#shared/kube/decode/decode-objects.ts';
import { at, contractHarness, pod, uniqueName } from '#test/contract/harness.ts';
import { clusterObjects } from './admission/support/cluster-objects.ts';
import { clusterTarget, hasCluster } from './support/control-plane/cluster-target.ts';
import { quotaPodSpecs, quotaSpecs } from './support/quota-arbitraries.ts';
import { valueOf } from '#test/build/value-of.ts';
import { eventually } from '#test/build/waiting.ts';

const NAMESPACES = 6;
const QUOTAS = 3;
const PODS = 3;
const RUNS = 300;
const SEED = 20_261_123;

/** What a request comes to: its code, and what is said about it. */
type Verdict = readonly [code: number, message: unknown];

/** The in-tree ResourceQuota plugin is the judge: every pod is asked of it as a dry run. */
describe.skipIf(!hasCluster())('checkQuotas agrees with the ResourceQuota plugin', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  const quotas = new Map<string, readonly ResourceQuota[]>();
  const classes: string[] = [];

  beforeAll(async () => {
    for (const name of ['high', 'low']) classes.push(await objects.priorityClass(name, name.length));
    const choices = fc.sample(
      fc.record({
        pods: fc.array(quotaPodSpecs(classes), { minLength: PODS, maxLength: PODS }),
        quotas: fc.array(quotaSpecs(classes), { minLength: QUOTAS, maxLength: QUOTAS }),
      }),
      { numRuns: NAMESPACES, seed: SEED },
    );
    await Promise.all(choices.map(async (choice) => quotas.set(...(await prepare(choice)))));
  });
  afterAll(() => Promise.all([...quotas.keys()].map((name) => api.remove(`/api/v1/namespaces/${name}`))));

  /** A namespace with these pods and, of these quotas, those that the API server accepts; all of them counted. */
  async function prepare(choice: { readonly pods: readonly object[]; readonly quotas: readonly object[] }) {
    const namespace = uniqueName('quotas');
    const path = (plural: string): string => `/api/v1/namespaces/${namespace}/${plural}`;
    await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
    await eventually(async () => expect((await api.get(path('serviceaccounts/default'))).status).toBe(200));
    for (const spec of choice.pods) await api.post(path('pods'), pod(uniqueName('pod'), spec));
    for (const spec of choice.quotas)
      await api.post(path('resourcequotas'), { metadata: { name: uniqueName('quota') }, spec });
    const items = await eventually(async () => {
      const counted = at((await api.get(path('resourcequotas'))).body, 'items') as readonly object[];
      for (const each of counted) expect(at(each, 'status.hard')).toEqual(at(each, 'spec.hard'));
      return counted;
    }, 30_000);
    return [namespace, items.map((item) => valueOf(decodeResourceQuota(item)))] as const;
  }

  async function judged(namespace: string, raw: object): Promise<{ verdict: Verdict; body: unknown }> {
    const query = { dryRun: 'All' };
    const { status, body } = await api.post(`/api/v1/namespaces/${namespace}/pods`, raw, { query });
    return { verdict: [status, at(body, 'message')], body };
  }

  function decided(raw: unknown, inOrder: readonly ResourceQuota[]): Verdict {
    const request = { operation: 'CREATE', subresource: '', pod: valueOf(decodePod(raw)), oldPod: undefined };
    const verdict = checkQuotas({ ...request, isDryRun: true, now: Date.now() }, inOrder, []);
    return verdict.kind === 'allowed' ? [201, undefined] : [verdict.code, verdict.message];
  }

  test(`on ${RUNS} random pods in ${NAMESPACES} namespaces with random quotas (seed ${SEED})`, async () => {
    const outcomes = new Set<number>();
    const where = fc.constantFrom(...quotas.keys());
    await fc.assert(
      fc.asyncProperty(where, quotaPodSpecs(classes), async (namespace, spec) => {
        const raw = pod('random', spec);
        // Without a quota the plugin lets everything pass: that is the pod as it sees it, with all defaults.
        const { verdict: valid, body } = await judged(api.namespace, raw);
        fc.pre(valid[0] === 201);
        const { verdict } = await judged(namespace, raw);
        const orders = permutations(quotas.get(namespace) ?? []);
        // The plugin looks at a namespace's quotas in no order, and its first failure is the answer.
        expect(
          orders.map((order) => decided({ ...(body as object), metadata: { name: 'random', namespace } }, order)),
        ).toContainEqual(verdict);
        outcomes.add(verdict[0]);
      }),
      { numRuns: RUNS, seed: SEED },
    );
    expect(outcomes).toEqual(new Set([201, 403]));
  });
});

function permutations<T>(all: readonly T[]): readonly (readonly T[])[] {
  if (all.length === 0) return [[]];
  return all.flatMap((first, index) => permutations(all.toSpliced(index, 1)).map((rest) => [first, ...rest]));
}
