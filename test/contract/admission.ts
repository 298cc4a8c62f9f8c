import { afterAll, beforeAll, expect, test } from 'vitest';
import { at, contractHarness, type ContractTarget, pod, refusal, uniqueName } from './harness.ts';
import { eventually } from '#test/build/waiting.ts';

const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';

/** The in-tree Priority and ResourceQuota plugins. */
export function admissionContract(target: () => ContractTarget): void {
  const api = contractHarness(target);
  const high = uniqueName('high');
  const never = uniqueName('never');
  const pods = (): string => api.core('pods');
  const quotas = (name = ''): string => api.core(name === '' ? 'resourcequotas' : `resourcequotas/${name}`);

  beforeAll(async () => {
    await api.post(CLASSES, { metadata: { name: high }, value: 1000 });
    await api.post(CLASSES, { metadata: { name: never }, value: 1000, preemptionPolicy: 'Never' });
  });
  afterAll(async () => {
    for (const name of [high, never]) await api.remove(`${CLASSES}/${name}`);
  });

  test('the two system classes are there and cannot be deleted', async () => {
    const { body } = await api.get(`${CLASSES}/system-node-critical`);
    expect(body).toMatchObject({ value: 2000001000, preemptionPolicy: 'PreemptLowerPriority' });
    const { status } = await api.remove(`${CLASSES}/system-cluster-critical`);
    expect(status).toBe(403);
  });

  test('a pod without class gets priority 0', async () => {
    const { body } = await api.post(pods(), pod('plain'));
    expect(body).toMatchObject({ spec: { priority: 0, preemptionPolicy: 'PreemptLowerPriority' } });
    expect(at(body, 'spec.priorityClassName')).toBeUndefined();
  });

  test('a class gives its value and policy', async () => {
    const { body } = await api.post(pods(), pod('classy', { priorityClassName: never }));
    expect(body).toMatchObject({ spec: { priorityClassName: never, priority: 1000, preemptionPolicy: 'Never' } });
  });

  test.each<[string, object, (high: string) => string]>([
    ['an unknown class', { priorityClassName: 'missing' }, () => 'no PriorityClass with name missing was found'],
    [
      'a number that is not the class',
      { priority: 77 },
      () =>
        'the integer value of priority (77) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    ],
  ])('a pod with %s is refused', async (_, spec, text) => {
    const { status, body } = await api.post(pods(), pod('bad', spec));
    expect(status).toBe(403);
    expect(body).toMatchObject(refusal(403, 'Forbidden', `pods "bad" is forbidden: ${text(high)}`));
  });

  test('a pod whose policy differs from its class is refused', async () => {
    const spec = { priorityClassName: high, preemptionPolicy: 'Never' };
    const { status, body } = await api.post(pods(), pod('bad', spec));
    expect(status).toBe(403);
    expect(at(body, 'message')).toBe(
      'pods "bad" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    );
  });

  test('priority cannot change afterwards', async () => {
    await api.post(pods(), pod('fixed', { priorityClassName: high }));
    const { status, body } = await api.patch(`${pods()}/fixed`, { spec: { priority: 5 } }, 'merge');
    expect(status).toBe(422);
    expect(at(body, 'message')).toContain('Forbidden: pod updates may not change fields other than');
  });

  test('class values are immutable and bounded, the prefix is reserved', async () => {
    const changed = await api.patch(`${CLASSES}/${high}`, { value: 5 }, 'merge');
    expect(changed.status).toBe(422);
    expect(at(changed.body, 'details.causes')).toEqual([
      { reason: 'FieldValueForbidden', message: 'Forbidden: may not be changed in an update.', field: 'value' },
    ]);
    for (const value of [-2147483648, 1000000000]) {
      const name = uniqueName('bound');
      expect((await api.post(CLASSES, { metadata: { name }, value })).body).toMatchObject({ value });
      await api.remove(`${CLASSES}/${name}`);
    }
    for (const value of [-2147483649, 2147483648]) {
      expect((await api.post(CLASSES, { metadata: { name: uniqueName('beyond') }, value })).status).toBe(400);
    }
    const large = await api.post(CLASSES, { metadata: { name: uniqueName('big') }, value: 1000000001 });
    expect(large.status).toBe(422);
    expect(at(large.body, 'message')).toContain('maximum allowed value of a user defined priority is 1000000000');
    const reserved = await api.post(CLASSES, { metadata: { name: 'system-mine' }, value: 1 });
    expect(reserved.status).toBe(422);
    expect(at(reserved.body, 'message')).toContain("priority class names with 'system-' prefix are reserved");
  });

  test('a quota with a priority scope counts and refuses', async () => {
    const quota = {
      metadata: { name: 'gold' },
      spec: {
        hard: { pods: '1', 'requests.memory': '1Gi' },
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: [high] }] },
      },
    };
    await api.remove(`${pods()}/fixed`);
    await api.post(quotas(), quota);
    await eventually(async () => {
      const { body } = await api.get(quotas('gold'));
      expect(at(body, 'status')).toEqual({
        hard: { pods: '1', 'requests.memory': '1Gi' },
        used: { pods: '0', 'requests.memory': '0' },
      });
    });
    const sized = (name: string, memory = '512Mi'): object =>
      pod(name, {
        priorityClassName: high,
        containers: [{ name: 'c', image: 'i', resources: { requests: { memory } } }],
      });
    // The plugin of a real server sees a quota a moment after its status can be read.
    await eventually(async () => {
      expect((await api.post(pods(), sized('probe', '2Gi'), { query: { dryRun: 'All' } })).status).toBe(403);
    });
    expect((await api.post(pods(), sized('first'))).status).toBe(201);
    const { status, body } = await api.post(pods(), sized('second'));
    expect(status).toBe(403);
    const message =
      'pods "second" is forbidden: exceeded quota: gold, requested: pods=1, used: pods=1, limited: pods=1';
    expect(body).toMatchObject(refusal(403, 'Forbidden', message));
    expect(at((await api.get(quotas('gold'))).body, 'status.used')).toEqual({ pods: '1', 'requests.memory': '512Mi' });
    await api.remove(`${pods()}/first`);
    await eventually(async () => {
      const used = at((await api.get(quotas('gold'))).body, 'status.used');
      expect(used).toEqual({ pods: '0', 'requests.memory': '0' });
    });
    const bare = await api.post(pods(), pod('bare', { priorityClassName: high }));
    expect(bare.status).toBe(403);
    expect(at(bare.body, 'message')).toBe(
      'pods "bare" is forbidden: failed quota: gold: must specify requests.memory for: main',
    );
  });
}
