import { expect, test } from 'vitest';
import { at, contractHarness, type ContractTarget, namesOf, pod, textAt } from './harness.ts';
import { patched, type Reviewer } from './webhook-receiver.ts';
import { webhookRegistrar } from './webhook-registrar.ts';

/** What webhooks see of pods, and when, where that is no matter of course. */
export function podWebhookContract(target: () => ContractTarget): void {
  const api = contractHarness(target);
  const { receiver, register } = webhookRegistrar(api);
  const pods = (name = ''): string => api.core(name === '' ? 'pods' : `pods/${name}`);
  const onlyPods = (...operations: readonly string[]): object => ({
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations, resources: ['pods'] }],
  });

  test('a generated name that is taken is generated and reviewed again, for another UID', async () => {
    let collisions = 2;
    const reviewer: Reviewer = async (request) => {
      if ((collisions -= 1) >= 0) await api.post(pods(), pod(textAt(request, 'name')));
      return { allowed: true };
    };
    const objectSelector = { matchLabels: { taken: 'yes' } };
    await register('validating', { path: '/taken', reviewer, objectSelector, ...onlyPods('CREATE') });
    const wanted = pod('', {}, { name: undefined, generateName: 'taken-', labels: { taken: 'yes' } });
    const { status, body } = await api.post(pods(), wanted);
    const reviewed = receiver().received.map(({ request }) => textAt(request, 'object.metadata.uid'));
    expect([status, reviewed.length, new Set(reviewed).size]).toEqual([201, 3, 3]);
    expect(reviewed.at(-1)).toBe(at(body, 'metadata.uid'));
  });

  test('a name that is taken is reviewed, too, before it is refused', async () => {
    await api.post(pods(), pod('there'));
    await register('validating', { path: '/there', ...onlyPods('CREATE') });
    const { status, body } = await api.post(pods(), pod('there'));
    expect([status, at(body, 'reason'), receiver().received.length]).toEqual([409, 'AlreadyExists', 1]);
  });

  test('a change of the second mutating round is not looked at by the Priority plugin', async () => {
    let calls = 0;
    const late: Reviewer = () => {
      const isSecond = (calls += 1) === 2;
      return isSecond ? patched([{ op: 'replace', path: '/spec/priority', value: 4_242 }]) : { allowed: true };
    };
    const label: Reviewer = () => patched([{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }]);
    await register(
      'mutating',
      { path: '/late', reviewer: late, reinvocationPolicy: 'IfNeeded', ...onlyPods('CREATE') },
      { path: '/label', reviewer: label, ...onlyPods('CREATE') },
    );
    const { status, body } = await api.post(pods(), pod('late'));
    expect([status, at(body, 'spec.priority')]).toEqual([201, 4_242]);
  });

  test('a change of the first round is', async () => {
    const early: Reviewer = () => patched([{ op: 'replace', path: '/spec/priority', value: 4_242 }]);
    await register('mutating', { path: '/early', reviewer: early, ...onlyPods('CREATE') });
    const { status, body } = await api.post(pods(), pod('early'));
    expect([status, at(body, 'message')]).toEqual([
      403,
      'pods "early" is forbidden: the integer value of priority (4242) must not be provided in pod spec; ' +
        'priority admission controller computed 0 from the given PriorityClass name',
    ]);
  });

  test('of a deleted collection each pod is reviewed without its name in the request', async () => {
    const labels = { swept: 'yes' };
    for (const name of ['swept-1', 'swept-2']) await api.post(pods(), pod(name, {}, { labels }));
    await register('validating', { path: '/swept', ...onlyPods('DELETE') });
    const { status } = await api.remove(pods(), undefined, { query: { labelSelector: 'swept=yes' } });
    expect(status).toBe(200);
    const requests = receiver().received.map(({ request }) => request);
    expect(new Set(requests.map((request) => request['name']))).toEqual(new Set([undefined]));
    expect(new Set(requests.map((request) => at(request, 'oldObject.metadata.name')))).toEqual(
      new Set(['swept-1', 'swept-2']),
    );
  });

  test('of a collection one refusal is the answer, and the pod that it was about stays', async () => {
    const labels = { kept: 'yes' };
    for (const name of ['kept-1', 'kept-2']) await api.post(pods(), pod(name, {}, { labels }));
    const status = { code: 429, message: 'not this one', details: { retryAfterSeconds: 3 } };
    const reviewer: Reviewer = (request) =>
      at(request, 'oldObject.metadata.name') === 'kept-1' ? { allowed: false, status } : { allowed: true };
    await register('validating', { path: '/kept', reviewer, ...onlyPods('DELETE') });
    const answer = await api.remove(pods(), undefined, { query: { labelSelector: 'kept=yes' } });
    expect([answer.status, answer.headers['retry-after'], at(answer.body, 'message')]).toEqual([
      429,
      '3',
      'admission webhook "kept.plimsoll.dev" denied the request: not this one',
    ]);
    expect(namesOf(await api.get(pods(), { query: { labelSelector: 'kept=yes' } }))).toContain('kept-1');
  });
}
