import { describe, expect, test } from 'vitest';
import { ineffectiveSettings } from '#shared/domain/queue/queue-settings.ts';
import { plainQueue } from '#shared/domain/queue/queue.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { at } from '#test/contract/harness.ts';
import { policyStage } from './policy-stage.ts';

const API = '/apis/plimsoll.dev/v1alpha1';
const LONG = 'a'.repeat(64);

describe('names that nothing can have are refused by the definitions', () => {
  const { user, create } = policyStage();
  const queue = (name: string, spec: object = {}): object => of('Queue', name, spec);

  function of(kind: string, name: string, spec: object): object {
    return { apiVersion: 'plimsoll.dev/v1alpha1', kind, metadata: { name }, spec };
  }

  async function answerTo(plural: string, body: object): Promise<readonly unknown[]> {
    const { status, body: answer } = await user()('POST', `${API}/${plural}?dryRun=All`, body);
    return [status, at(answer, 'message')];
  }

  const mistakesOf = (type: string): readonly string[] =>
    ineffectiveSettings(
      { name: 'q', policy: undefined, delay: undefined, isSelecting: false, types: [['max', type]] },
      { tree: createQueueTree([plainQueue('q')]), index: 0 },
    );

  test.each(['cpu', 'memory', 'ephemeral-storage', 'pods', 'hugepages-2Mi', 'nvidia.com/gpu'])(
    'a queue may bound %s',
    async (type) => {
      const amounts = { [type]: '1' };
      const spec = { guaranteed: amounts, max: amounts, childTemplate: { guaranteed: amounts, max: amounts } };
      expect(await answerTo('queues', queue('fine', spec))).toEqual([201, undefined]);
      expect(mistakesOf(type)).toEqual([]);
    },
  );

  test.each([
    'cpus',
    'gpu',
    'storage',
    'services',
    'requests.cpu',
    'limits.memory',
    'requests.nvidia.com/gpu',
    'count/pods',
  ])('no queue may bound %s, because no pod requests it', async (type) => {
    const amounts = { [type]: '1' };
    for (const spec of [{ guaranteed: amounts }, { max: amounts }, { childTemplate: { max: amounts } }])
      expect(await answerTo('queues', queue('wrong', spec))).toEqual([
        422,
        expect.stringContaining('must name resources that pods request') as unknown,
      ]);
    expect(await answerTo('queues', queue('root', { capacity: amounts }))).toEqual([422, expect.any(String)]);
    expect(mistakesOf(type)).toHaveLength(1);
  });

  test('a queue that a label cannot name is not created, except as one of a template', async () => {
    const tooLong = expect.stringContaining('must have at most 63 characters') as unknown;
    expect(await answerTo('queues', queue(LONG))).toEqual([422, tooLong]);
    expect(await answerTo('queues', queue(`other.${LONG}`, { parent: 'teams' }))).toEqual([422, tooLong]);
    expect(await answerTo('queues', queue(LONG.slice(1)))).toEqual([201, undefined]);
    await create(`${API}/queues`, queue(`teams.${LONG}`, { parent: 'teams' }));
    const patched = await user()('PATCH', `${API}/queues/teams.${LONG}`, { spec: { parent: 'moved' } });
    expect([patched.status, at(patched.body, 'spec.parent')]).toEqual([200, 'moved']);
  });

  test.each<[plural: string, kind: string, spec: (selector: object) => object]>([
    ['queues', 'Queue', (namespaceSelector) => ({ namespaceSelector })],
    ['prioritypolicies', 'PriorityPolicy', (namespaceSelector) => ({ namespaceSelector })],
    [
      'priorityquotas',
      'PriorityQuota',
      (namespaceSelector) => ({ namespaceSelector, priority: { min: 1 }, hard: { pods: '1' } }),
    ],
  ])('no selector of %s has a value that no label can have', async (plural, kind, specOf) => {
    const matchExpressions = [{ key: 'team', operator: 'In', values: [LONG] }];
    for (const selector of [{ matchLabels: { team: LONG } }, { matchExpressions }])
      expect(await answerTo(plural, of(kind, 'selecting', specOf(selector)))).toEqual([422, expect.any(String)]);
    const fitting = { matchLabels: { team: LONG.slice(1) } };
    expect(await answerTo(plural, of(kind, 'selecting', specOf(fitting)))).toEqual([201, undefined]);
  });
});
