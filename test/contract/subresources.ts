import fc from 'fast-check';
import { expect, test } from 'vitest';
import { askBudgets, type BudgetAnswer } from '#shared/domain/eviction/ask-budgets.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { decodeBudget } from '#shared/kube/decode/decode-objects.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { valueOf } from '#test/build/value-of.ts';
import { at, contractHarness, type ContractTarget, namesOf, pod, refusal, uniqueName } from './harness.ts';
import { eventually } from '#test/build/waiting.ts';

const READY = {
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
};

/** status, binding, scale and eviction. */
export function subresourceContract(target: () => ContractTarget): void {
  const api = contractHarness(target);
  const pods = (path = ''): string => api.core(path === '' ? 'pods' : `pods/${path}`);
  const budgets = (): string => `/apis/policy/v1/namespaces/${api.namespace}/poddisruptionbudgets`;

  async function runningPod(name: string, labels: object): Promise<string> {
    const { body } = await api.post(pods(), pod(name, { nodeName: uniqueName('node') }, { labels }));
    await api.patch(pods(`${name}/status`), READY, 'strategic');
    return String(at(body, 'metadata.uid'));
  }

  async function budget(name: string, labels: object, minAvailable: number, healthy = 1): Promise<void> {
    await api.post(budgets(), { metadata: { name }, spec: { minAvailable, selector: { matchLabels: labels } } });
    await eventually(async () => {
      const { body } = await api.get(`${budgets()}/${name}`);
      expect(at(body, 'status.observedGeneration')).toBe(1);
      expect(at(body, 'status.currentHealthy')).toBe(healthy);
    });
  }

  function eviction(name: string, deleteOptions?: object): object {
    return { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: api.namespace }, deleteOptions };
  }

  test('status changes status alone, and everything else leaves it alone', async () => {
    await api.post(pods(), pod('status'));
    const patch = { metadata: { labels: { x: 'y' } }, spec: { nodeName: 'n' }, ...READY };
    const { status, body } = await api.patch(pods('status/status'), patch, 'strategic');
    expect(status).toBe(200);
    expect([at(body, 'status.phase'), at(body, 'spec.nodeName')]).toEqual(['Running', undefined]);
    const main = await api.patch(pods('status'), { status: { phase: 'Failed' } }, 'merge');
    expect(at(main.body, 'status.phase')).toBe('Running');
  });

  test('binding schedules a pod once', async () => {
    const node = uniqueName('node');
    const binding = { metadata: { name: 'bound' }, target: { kind: 'Node', name: node } };
    await api.post(pods(), pod('bound'));
    const first = await api.post(pods('bound/binding'), binding);
    expect([first.status, at(first.body, 'status')]).toEqual([201, 'Success']);
    const { body } = await api.get(pods('bound'));
    expect(at(body, 'spec.nodeName')).toBe(node);
    expect(at(body, 'status.conditions')).toMatchObject([{ type: 'PodScheduled', status: 'True' }]);
    const second = await api.post(pods('bound/binding'), binding);
    expect(second.status).toBe(409);
    expect(second.body).toMatchObject(
      refusal(409, 'Conflict', expect.stringContaining(`pod bound is already assigned to node "${node}"`)),
    );
    expect((await api.post(pods('none/binding'), binding)).status).toBe(400);
  });

  test('scale reads and writes the replicas', async () => {
    const path = `/apis/apps/v1/namespaces/${api.namespace}/deployments`;
    const template = { metadata: { labels: { app: 'scaled' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { replicas: 0, selector: { matchLabels: { app: 'scaled' } }, template };
    expect((await api.post(path, { metadata: { name: 'scaled' }, spec })).status).toBe(201);
    const { body } = await api.get(`${path}/scaled/scale`);
    expect(body).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: {}, status: { replicas: 0 } });
    expect(at(body, 'status.selector')).toBe('app=scaled');
    const changed = await api.patch(`${path}/scaled/scale`, { spec: { replicas: 2 } }, 'merge');
    expect(at(changed.body, 'spec.replicas')).toBe(2);
    expect(at((await api.get(`${path}/scaled`)).body, 'spec.replicas')).toBe(2);
    await api.remove(`${path}/scaled`, { propagationPolicy: 'Background' });
  });

  test('an eviction removes a pod that no budget protects', async () => {
    const uid = await runningPod('free', { app: 'free' });
    const { status, body } = await api.post(pods('free/eviction'), eviction('free', { preconditions: { uid } }));
    expect(status).toBe(201);
    expect(body).toMatchObject({ kind: 'Status', status: 'Success', code: 201 });
    expect((await api.get(pods('free'))).status).toBe(404);
  });

  test('an eviction marks the pod before it ends', async () => {
    await api.post(pods(), pod('marked', { nodeName: 'node-x', terminationGracePeriodSeconds: 30 }));
    await api.patch(pods('marked/status'), READY, 'strategic');
    await api.post(pods('marked/eviction'), eviction('marked'));
    const { body } = await api.get(pods('marked'));
    expect(at(body, 'metadata.deletionGracePeriodSeconds')).toBe(30);
    expect(at(body, 'status.conditions')).toContainEqual(
      expect.objectContaining({
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
      }),
    );
    await api.remove(pods('marked'), { gracePeriodSeconds: 0 });
  });

  test('an eviction is refused for another UID, another name, or no pod', async () => {
    const uid = await runningPod('judged', { app: 'judged' });
    const other = uid.replace(/^./, 'x');
    const wrong = await api.post(pods('judged/eviction'), eviction('judged', { preconditions: { uid: other } }));
    expect(wrong.status).toBe(409);
    expect(at(wrong.body, 'message')).toContain(
      `the UID in the precondition (${other}) does not match the UID in record (${uid})`,
    );
    const renamed = await api.post(pods('judged/eviction'), eviction('other'));
    expect(renamed.status).toBe(400);
    expect(at(renamed.body, 'message')).toBe('name in URL does not match name in Eviction object');
    expect((await api.post(pods('none/eviction'), eviction('none'))).status).toBe(404);
    expect((await api.get(pods('judged'))).status).toBe(200);
  });

  test('a dry run of an eviction is judged and removes nothing', async () => {
    await runningPod('dry', { app: 'dry' });
    const { status } = await api.post(pods('dry/eviction'), eviction('dry'), { query: { dryRun: 'All' } });
    expect(status).toBe(201);
    expect(at((await api.get(pods('dry'))).body, 'metadata.deletionTimestamp')).toBeUndefined();
  });

  test('a budget with nothing to spare answers 429 and says why', async () => {
    await runningPod('kept', { app: 'kept' });
    await budget('kept', { app: 'kept' }, 1);
    const { status, body, headers } = await api.post(pods('kept/eviction'), eviction('kept'));
    expect(status).toBe(429);
    expect(headers['retry-after']).toBeUndefined();
    const message = "Cannot evict pod as it would violate the pod's disruption budget.";
    expect(body).toMatchObject(refusal(429, 'TooManyRequests', message));
    expect(at(body, 'details.causes')).toEqual([
      { reason: 'DisruptionBudget', message: 'The disruption budget kept needs 1 healthy pods and has 1 currently' },
    ]);
  });

  test('a budget with something to spare is charged once', async () => {
    await runningPod('spare', { app: 'spare' });
    await budget('spare', { app: 'spare' }, 0);
    expect((await api.post(pods('spare/eviction'), eviction('spare'))).status).toBe(201);
    const { body } = await api.get(`${budgets()}/spare`);
    expect(Number(at(body, 'status.disruptionsAllowed'))).toBe(0);
  });

  test('of two evictions at once, where a budget has room for one, exactly one is accepted', async () => {
    const names = ['either', 'or'];
    for (const name of names) await runningPod(name, { app: 'pair' });
    await budget('pair', { app: 'pair' }, 1, names.length);
    const answers = await Promise.all(names.map((name) => api.post(pods(`${name}/eviction`), eviction(name))));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 429]);
    const left = names.filter((_, index) => answers[index]?.status === 429);
    expect(namesOf(await api.get(pods(), { query: { labelSelector: 'app=pair' } }))).toEqual(left);
  });

  test('a pod under two budgets cannot be evicted: 500', async () => {
    await runningPod('double', { app: 'double' });
    await budget('double-1', { app: 'double' }, 0);
    await budget('double-2', { app: 'double' }, 0);
    const { status, body } = await api.post(pods('double/eviction'), eviction('double'));
    expect(status).toBe(500);
    expect(at(body, 'message')).toBe(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  });

  test('a pending pod goes, whatever its budget says', async () => {
    await runningPod('steady', { app: 'pending' });
    await budget('pending', { app: 'pending' }, 1);
    await api.post(pods(), pod('idle', {}, { labels: { app: 'pending' } }));
    expect((await api.post(pods('idle/eviction'), eviction('idle'))).status).toBe(201);
    expect((await api.get(pods('idle'))).status).toBe(404);
  });

  test(
    'budgets are asked as `askBudgets` says, in random states',
    { timeout: BUDGET_STATES * 1_000 + 5_000 },
    async () => {
      const states = fc.sample(budgetState, { numRuns: BUDGET_STATES, seed: 7 });
      for (const [index, state] of states.entries()) await prepareState(`state-${index}`, state);
      for (const [index, state] of states.entries()) {
        const names = state.pods.map((_, at) => `state-${index}-${at}`);
        // The controller of budgets may just have seen another pod.
        for (const name of names) await eventually(() => expectAnswer(name, state));
      }
    },
  );

  async function expectAnswer(name: string, state: BudgetState): Promise<void> {
    const read = itemsOf(fieldOf((await api.get(budgets())).body, 'items')).map((each) => valueOf(decodeBudget(each)));
    const evicted = valueOf(decodePod((await api.get(pods(name))).body));
    const covering = read.filter(({ selector }) => prepareSelector(selector).matches(evicted.labels));
    const { status } = await api.post(pods(`${name}/eviction`), eviction(name), { query: { dryRun: 'All' } });
    const answer = askBudgets(evicted, covering);
    expect(status, JSON.stringify({ state, name, answer })).toBe(statusOf(answer));
  }

  async function prepareState(app: string, { pods: shown, budgets: wanted }: BudgetState): Promise<void> {
    for (const [at, { phase, ready }] of shown.entries()) {
      const name = `${app}-${at}`;
      await api.post(pods(), pod(name, { nodeName: uniqueName('node') }, { labels: { app } }));
      await api.patch(
        pods(`${name}/status`),
        { status: { phase, conditions: [{ type: 'Ready', status: ready }] } },
        'strategic',
      );
    }
    for (const [index, spec] of wanted.entries()) {
      const name = `${app}-${index}`;
      await api.post(budgets(), { metadata: { name }, spec: { ...spec, selector: { matchLabels: { app } } } });
      await eventually(async () => {
        const { body } = await api.get(`${budgets()}/${name}`);
        expect(Number(at(body, 'status.observedGeneration'))).toBe(1);
      });
    }
  }
}

const BUDGET_STATES = Number(process.env['PLIMSOLL_BUDGET_STATES'] ?? 30);

interface BudgetState {
  readonly pods: readonly { readonly phase: string; readonly ready: string }[];
  readonly budgets: readonly object[];
}

const budgetState: fc.Arbitrary<BudgetState> = fc.record({
  pods: fc.array(
    fc.record({
      phase: fc.constantFrom('Running', 'Running', 'Running', 'Pending', 'Failed'),
      ready: fc.constantFrom('True', 'True', 'False'),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  budgets: fc.array(
    fc.record(
      {
        minAvailable: fc.constantFrom<number | string>(0, 1, 2, '50%'),
        unhealthyPodEvictionPolicy: fc.constantFrom('AlwaysAllow', 'IfHealthyBudget'),
      },
      { requiredKeys: ['minAvailable'] },
    ),
    { maxLength: 2 },
  ),
});

function statusOf(answer: BudgetAnswer): number {
  if (answer.kind !== 'Refused') return 201;
  return answer.why === 'Several' ? 500 : 429;
}
