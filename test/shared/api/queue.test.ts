import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  declaredCapacity,
  declaredGangTimeout,
  declaredReclaim,
  decodeQueue,
  encodeQueue,
  QUEUE_SPEC,
  QUEUE_TEMPLATE,
  queueDirectory,
} from '#shared/api/queue.ts';
import { valueOf } from '#test/build/value-of.ts';
import { amounts, selector, word } from './generated-fields.ts';

const share = {
  weight: fc.integer({ min: 0, max: 10_000 }),
  guaranteed: amounts,
  max: amounts,
  preemption: fc.oneof(
    fc.record({
      policy: fc.constantFrom('Default', 'Fence', 'Disabled'),
      delay: word,
      preferNear: fc.constant(true),
    }),
    fc.record({ delay: fc.constantFrom('30s', '-1s', 'soon') }),
  ),
  ordering: fc.constantFrom('BestEffort', 'Strict'),
};
const fields = {
  parent: word,
  ...share,
  childTemplate: fc.record(share, { requiredKeys: ['weight'] }),
  namespaceSelector: selector,
  capacity: amounts,
  reclaim: fc.record(
    { mode: word, by: word, overuse: word, replacements: fc.constantFrom('First', 'InTurn') },
    { requiredKeys: ['replacements'] },
  ),
  gangTimeout: fc.constantFrom('60s', '90s', 'soon'),
};
const spec = fc.record(fields, { requiredKeys: ['weight'] });
const queue = fc.record({
  apiVersion: fc.constant('plimsoll.dev/v1alpha1'),
  kind: fc.constant('Queue'),
  metadata: fc.record({ name: word, generation: fc.integer({ min: 1, max: 1_000 }) }),
  spec,
});

describe('decodeQueue and encodeQueue', () => {
  test('an object that is read and written again is the same', () => {
    fc.assert(
      fc.property(queue, (object) => {
        expect(encodeQueue(valueOf(decodeQueue(object)))).toEqual(object);
      }),
      { seed: 28, numRuns: 300 },
    );
  });

  test('the objects above have every field that a queue can have', () => {
    expect(Object.keys(share).sort()).toEqual(Object.keys(QUEUE_TEMPLATE.shape).sort());
    expect(Object.keys(fields).sort()).toEqual(Object.keys(QUEUE_SPEC.shape).sort());
  });

  test.each(Object.entries(fields))('decisions know the field %s of some queue', (name, values) => {
    const known = (written: object): unknown => {
      const queues = ['root', 'a'].map((each) => valueOf(decodeQueue({ metadata: { name: each }, spec: written })));
      const { tree, selectors } = queueDirectory(queues);
      const selected = Array.from(selectors.values(), (each) => each.matches(new Map()));
      const settings = [declaredCapacity(queues), declaredReclaim(queues), declaredGangTimeout(queues)];
      return [tree.queues, selected, settings];
    };
    const samples = fc.sample<unknown>(values, { seed: 28, numRuns: 50 });
    expect(samples.some((value) => !isDeepStrictEqual(known({ [name]: value }), known({})))).toBe(true);
  });

  test('a queue that says nothing has the weight 1 and selects no namespace', () => {
    const read = valueOf(decodeQueue({ metadata: { name: 'plain' } }));
    expect(read).toMatchObject({ name: 'plain', weight: 1 });
    expect([read.parent, read.preemption, read.capacity]).toEqual([undefined, undefined, undefined]);
    expect(read.namespaces.matches(new Map([['team', 'a']]))).toBe(false);
    const open = valueOf(decodeQueue({ metadata: { name: 'open' }, spec: { namespaceSelector: {} } }));
    expect(open.namespaces.matches(new Map())).toBe(true);
  });

  test.each([
    ['spec.weight', { weight: -1 }],
    ['spec.weight', { weight: 10_001 }],
    ['spec.weight', { weight: 1.5 }],
    ['spec.guaranteed.cpu', { guaranteed: { cpu: -1 } }],
    ['spec.max.memory', { max: { memory: 'much' } }],
    ['spec.capacity.cpu', { capacity: { cpu: '-1m' } }],
    ['spec.preemption.policy', { preemption: { policy: 'Never' } }],
    ['spec.preemption.preferNear', { preemption: { preferNear: 'yes' } }],
    ['spec.ordering', { ordering: 'Random' }],
    ['spec.parent', { parent: 7 }],
    ['spec.childTemplate', { childTemplate: 'plain' }],
    ['spec.childTemplate.max.cpu', { childTemplate: { max: { cpu: -1 } } }],
    ['spec.childTemplate.preemption.policy', { childTemplate: { preemption: { policy: 'Never' } } }],
    ['spec.namespaceSelector.matchLabels', { namespaceSelector: { matchLabels: [] } }],
  ])('%s that cannot be read is refused by its name: %j', (field, bad) => {
    expect(decodeQueue({ metadata: { name: 'bad' }, spec: bad })).toMatchObject({ ok: false, field });
  });

  test.each([
    [{ weight: 10_001 }, 'expected 0 to 10000, got 10001'],
    [{ weight: 1.5 }, 'expected a whole number, got 1.5'],
    [{ weight: 'heavy' }, 'expected a whole number, got "heavy"'],
    [{ parent: 7 }, 'expected a text, got 7'],
    [{ parent: 'x'.repeat(4_097) }, 'expected at most 4096 characters'],
    [{ ordering: 'Random' }, 'expected BestEffort or Strict, got "Random"'],
    [{ ordering: [] }, 'expected a text, got a list'],
    [{ preemption: [] }, 'expected an object, got a list'],
    [{ preemption: { preferNear: 'yes' } }, 'expected true or false, got "yes"'],
    [{ max: { cpu: 'much' } }, 'expected a quantity such as 500m, 2 or 1Gi, got "much"'],
    [{ max: { cpu: -1 } }, 'expected at least 0'],
    [{ namespaceSelector: { matchExpressions: {} } }, 'expected a list, got an object'],
  ])('%j is refused in the words of all readers', (bad, message) => {
    expect(decodeQueue({ metadata: { name: 'bad' }, spec: bad })).toMatchObject({ ok: false, message });
  });

  test.each([null, 7, 'queue', []])('%j is no object', (raw) => {
    expect(decodeQueue(raw)).toEqual({ ok: false, field: '', message: 'expected an object' });
  });

  test('however deep a field is that no queue has, the wrong one is named', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown;
    const spec = JSON.parse('{"weight": -1, "__proto__": {"weight": 1}}') as object;
    const read = decodeQueue({ metadata: { name: 'bad', more: deep }, spec: { ...spec, deep }, status: deep });
    expect(read).toMatchObject({ ok: false, field: 'spec.weight' });
  });

  test('null and an empty text are absent, and fields that no queue has are left out', () => {
    const spec = { parent: '', weight: null, max: { cpu: null }, preemption: { delay: '', policy: null }, more: 1 };
    const read = valueOf(decodeQueue({ metadata: { name: 'plain', labels: null }, spec, status: 'lost' }));
    expect(encodeQueue(read)).toEqual({
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'Queue',
      metadata: { name: 'plain' },
      spec: { weight: 1, preemption: {} },
    });
  });
});
