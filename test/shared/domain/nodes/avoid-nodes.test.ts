import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import { avoidedNodes, filterNodes, type PlacementQuestion, whyAvoided } from '#shared/domain/nodes/avoid-nodes.ts';
import type { OwnerKey } from '#shared/domain/pod/pod.ts';
import type { NodePressureFacts } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { buildPressure } from '#test/build/node-pressure.ts';

const NOW = 1_000_000;
const web: OwnerKey = { namespace: 'shop', kind: 'ReplicaSet', name: 'web', uid: 'u1' };
const entry = (changes: Partial<NodePressureFacts['avoid'][number]> = {}) => ({
  avoid: [{ owner: web, until: NOW + 1, isHard: false, ...changes }],
});
const enforced = { isEnforced: true, observedAt: NOW };

function placement(facts: Partial<NodePressureFacts>, owner: OwnerKey | undefined = web): PlacementQuestion {
  return { owner, pressures: new Map([['n0', buildPressure('n0', facts)]]), now: NOW };
}

function avoided(facts: Partial<NodePressureFacts>, owner?: OwnerKey): string {
  const found = whyAvoided('n0', placement(facts, owner));
  return found === undefined ? 'open' : `${found.because.code}${found.isForbidden ? ', forbidden' : ''}`;
}

test('an entry that ends later than we ever write counts nowhere', () => {
  const hours = (count: number) => entry({ until: NOW + count * 3_600_000 });
  expect([avoided(hours(24)), avoided(hours(26)), avoided(hours(87_600))]).toEqual(['OwnerAvoided', 'open', 'open']);
});

describe('whyAvoided', () => {
  test.each<[string, Partial<NodePressureFacts>, string]>([
    ['no entry', {}, 'open'],
    ['an entry of its owner', entry(), 'OwnerAvoided'],
    ['a hard entry of its owner', entry({ isHard: true }), 'OwnerAvoided, forbidden'],
    ['an entry that has ended', entry({ until: NOW }), 'open'],
    ['an entry of another owner', entry({ owner: { ...web, name: 'api' } }), 'open'],
    [
      'an entry of an owner of the same name in another namespace',
      entry({ owner: { ...web, namespace: 'x' } }),
      'open',
    ],
    ['an entry of an owner that was replaced by one of the same name', entry({ owner: { ...web, uid: 'u0' } }), 'open'],
    ['an entry without UID', entry({ owner: { ...web, uid: undefined } }), 'OwnerAvoided'],
    ['a soft threshold met', { ...enforced, pressure: 'Soft' }, 'AboutToEvict'],
    ['a hard threshold met', { ...enforced, pressure: 'Hard' }, 'AboutToEvict, forbidden'],
    ['a hard threshold met, and an entry', { ...enforced, pressure: 'Hard', ...entry() }, 'AboutToEvict, forbidden'],
    ['a soft threshold met, and an entry', { ...enforced, pressure: 'Soft', ...entry() }, 'OwnerAvoided'],
    ['a hard threshold met, in a dry run', { ...enforced, isEnforced: false, pressure: 'Hard' }, 'open'],
    [
      'a hard threshold met a minute ago',
      { ...enforced, observedAt: NOW - 60_000, pressure: 'Hard' },
      'AboutToEvict, forbidden',
    ],
    ['a hard threshold met longer ago', { ...enforced, observedAt: NOW - 60_001, pressure: 'Hard' }, 'open'],
    ['a hard threshold met in the future', { ...enforced, observedAt: NOW + 60_001, pressure: 'Hard' }, 'open'],
    ['a status that was never written', { ...enforced, observedAt: undefined, pressure: 'Hard' }, 'open'],
  ])('%s', (_, facts, expected) => {
    expect(avoided(facts)).toBe(expected);
  });

  test('a pod without a controller has no entries', () => {
    const pressures = new Map([['n0', buildPressure('n0', entry())]]);
    expect(whyAvoided('n0', { owner: undefined, pressures, now: NOW })).toBeUndefined();
  });
});

describe('filterNodes', () => {
  const names = ['forbidden', 'unwanted', 'open'];
  const pressures = new Map([
    ['forbidden', buildPressure('forbidden', entry({ isHard: true }))],
    ['unwanted', buildPressure('unwanted', entry())],
  ]);

  test.each<[string, readonly string[], readonly string[]]>([
    ['leaves out nodes to avoid', names, ['open']],
    ['leaves unwanted nodes where no other is left', ['forbidden', 'unwanted'], ['unwanted']],
    ['leaves all unwanted nodes where there are no others', ['unwanted'], ['unwanted']],
    ['leaves all nodes where all are forbidden', ['forbidden'], ['forbidden']],
    [
      'leaves all nodes where all are forbidden, one named twice',
      ['forbidden', 'forbidden'],
      ['forbidden', 'forbidden'],
    ],
    ['leaves all nodes where nothing speaks against them', ['open'], ['open']],
    ['leaves no nodes of none', [], []],
  ])('%s', (_, nodes, expected) => {
    const { left, leftOut } = filterNodes(nodes, finish(avoidedNodes(nodes, { owner: web, pressures, now: NOW })));
    expect(left).toEqual(expected);
    expect([...leftOut.keys()]).toEqual(nodes.filter((node) => !expected.includes(node)));
  });

  test('says which of those that it leaves out are forbidden', () => {
    const { leftOut } = filterNodes(names, finish(avoidedNodes(names, { owner: web, pressures, now: NOW })));
    expect(Array.from(leftOut, ([node, { isForbidden }]) => [node, isForbidden])).toEqual([
      ['forbidden', true],
      ['unwanted', false],
    ]);
  });
});
