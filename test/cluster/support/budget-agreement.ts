import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askSnapshot, type BudgetAnswer } from '#shared/domain/eviction/ask-budgets.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { decodeBudget } from '#shared/kube/decode/decode-objects.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { valueOf } from '#test/build/value-of.ts';
import { eventually } from '#test/build/waiting.ts';
import { at, contractHarness, pod, textAt, uniqueName } from '#test/contract/harness.ts';
import { clusterTarget, hasCluster } from './control-plane/cluster-target.ts';
import { inFlight } from './in-flight.ts';

const PODS = 25;
const AT_ONCE = 16;
const PREPARED_WITHIN_MS = 600_000;
/** Without it a pod that has no node is gone as soon as it is deleted. */
const HELD = { finalizers: ['plimsoll.test/held'] };

const labels = fc.record({ app: fc.constantFrom('a', 'b'), tier: fc.constantFrom('x', 'y') });
const podStates = fc.record({
  labels,
  phase: fc.constantFrom('Pending', 'Running', 'Running', 'Running', 'Succeeded', 'Failed', 'Unknown'),
  ready: fc.constantFrom('True', 'True', 'False', 'Unknown', undefined),
  isDeleted: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn === 0),
});
const selectors = fc.oneof(
  fc.constant({}),
  labels.map((matchLabels) => ({ matchLabels })),
  labels.map(({ app }) => ({ matchLabels: { app } })),
  labels.map(({ app }) => ({ matchExpressions: [{ key: 'app', operator: 'NotIn', values: [app] }] })),
);
const budgetSpecs = fc
  .record({
    selector: fc.option(selectors, { nil: undefined }),
    minAvailable: fc.oneof(fc.nat(5), fc.constantFrom('0%', '30%', '100%')),
    unhealthyPodEvictionPolicy: fc.constantFrom('AlwaysAllow', 'IfHealthyBudget', undefined),
  })
  .map((drawn) => Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined)));
const scenes = fc.record({
  pods: fc.array(podStates, { minLength: PODS, maxLength: PODS }),
  budgets: fc.array(budgetSpecs, { minLength: 0, maxLength: 3 }),
});

const CODES: Readonly<Record<Extract<BudgetAnswer, { kind: 'Refused' }>['why'], number>> = {
  Several: 500,
  Stale: 429,
  Unusable: 403,
  Spent: 429,
};

function codeOf(answer: BudgetAnswer): number {
  return answer.kind === 'Refused' ? CODES[answer.why] : 201;
}

type Answered = readonly [pod: string, code: number];

/**
 * Registers the comparison: the Eviction API is the judge, and every pod is asked of it as a dry run, under the budgets as
 * their controller left them.
 */
export function budgetAgreement(namespaces: number, seed: number): void {
  describe.skipIf(!hasCluster())('askBudgets agrees with the Eviction API', () => {
    const api = contractHarness(clusterTarget());
    const names: string[] = [];
    const core = (namespace: string, path: string): string => `/api/v1/namespaces/${namespace}/${path}`;
    const budgetsIn = (namespace: string): string => `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;

    beforeAll(async () => {
      const drawn = fc.sample(scenes, { numRuns: namespaces, seed });
      names.push(...(await inFlight(AT_ONCE, drawn, prepare)));
    }, PREPARED_WITHIN_MS);
    afterAll(async () => {
      await inFlight(AT_ONCE, names, async (namespace) => {
        for (const each of await list(core(namespace, 'pods')))
          await api.patch(
            core(namespace, `pods/${textAt(each, 'metadata.name')}`),
            { metadata: { finalizers: null } },
            'merge',
          );
        await api.remove(`/api/v1/namespaces/${namespace}`);
      });
    }, PREPARED_WITHIN_MS);

    async function list(path: string): Promise<readonly object[]> {
      return at((await api.get(path)).body, 'items') as readonly object[];
    }

    async function prepare({ pods, budgets }: typeof scenes extends fc.Arbitrary<infer Scene> ? Scene : never) {
      const namespace = uniqueName('budgets');
      await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
      await eventually(async () =>
        expect((await api.get(core(namespace, 'serviceaccounts/default'))).status).toBe(200),
      );
      for (const [index, spec] of budgets.entries())
        await api.post(budgetsIn(namespace), { metadata: { name: `budget-${index}` }, spec });
      for (const [index, { phase, ready, isDeleted, labels: own }] of pods.entries()) {
        const path = core(namespace, `pods/pod-${index}`);
        await api.post(core(namespace, 'pods'), pod(`pod-${index}`, {}, { labels: own, ...HELD }));
        const conditions = ready === undefined ? [] : [{ type: 'Ready', status: ready }];
        expect((await api.patch(`${path}/status`, { status: { phase, conditions } }, 'merge')).status).toBe(200);
        if (isDeleted) await api.remove(path);
      }
      return namespace;
    }

    async function read(namespace: string) {
      const budgets = await list(budgetsIn(namespace));
      const pods = await list(core(namespace, 'pods'));
      const versions = [...budgets, ...pods].map((each) => textAt(each, 'metadata.resourceVersion')).join();
      return { budgets, pods, versions };
    }

    function decided({ budgets, pods }: Awaited<ReturnType<typeof read>>): readonly Answered[] {
      const placed = pods.map((raw) =>
        valueOf(decodePod({ ...raw, spec: { ...(at(raw, 'spec') as object), nodeName: 'n' } })),
      );
      const decoded = budgets.map((raw) => valueOf(decodeBudget(raw)));
      const snapshot = createSnapshot({ nodes: [], pods: placed, budgets: decoded });
      return placed.map(({ uid, name }) => {
        const found = snapshot.placedPods.get(uid);
        // One that has ended is not among them, and goes freely.
        return [name, found === undefined ? 201 : codeOf(askSnapshot(snapshot, found))];
      });
    }

    async function judged(namespace: string, name: string): Promise<Answered> {
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
      const body = { ...eviction, deleteOptions: { dryRun: ['All'] } };
      return [name, (await api.post(core(namespace, `pods/${name}/eviction`), body)).status];
    }

    /** Of one state: again where the controller of the budgets wrote meanwhile. */
    async function compared(namespace: string) {
      return eventually(async () => {
        const found = await read(namespace);
        for (const each of found.budgets)
          expect(at(each, 'status.observedGeneration')).toBe(at(each, 'metadata.generation'));
        const ours = decided(found);
        const theirs = await inFlight(4, ours, ([name]) => judged(namespace, name));
        expect((await read(namespace)).versions).toBe(found.versions);
        return { ours, theirs, budgets: found.budgets.map((each) => [at(each, 'spec'), at(each, 'status')]) };
      }, 60_000);
    }

    test(`on ${namespaces * PODS} random pods in ${namespaces} namespaces with random budgets (seed ${seed})`, async () => {
      const codes = await inFlight(AT_ONCE, names, async (namespace) => {
        const { ours, theirs, budgets } = await compared(namespace);
        expect(theirs, JSON.stringify(budgets)).toEqual(ours);
        return theirs.map(([, code]) => code);
      });
      expect(codes.flat()).toHaveLength(namespaces * PODS);
      expect([...new Set(codes.flat())].sort()).toEqual([201, 429, 500]);
    });
  });
}
