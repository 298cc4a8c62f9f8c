import { expect, test } from 'vitest';
import { spareShortages } from '#cli/why-not/spare-room.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { amountsOf, buildPod } from '#test/build/cluster.ts';

const GIB = 1024 ** 3;

function nodeOf(name: string, memory?: number, cpu?: number): Node {
  const allocatable = amountsOf({
    cpu: '64',
    memory: '256Gi',
    ...(memory !== undefined && { 'plimsoll.dev/spare-memory': String(memory) }),
    ...(cpu !== undefined && { 'plimsoll.dev/spare-cpu': String(cpu) }),
  });
  return { name, uid: name, labels: new Map(), taints: [], isUnschedulable: false, allocatable };
}

function spare(name: string, memory: number, cpu: number, node?: string) {
  const requests = { 'plimsoll.dev/spare-memory': String(memory), 'plimsoll.dev/spare-cpu': String(cpu) };
  return buildPod({ name, requests, ...(node !== undefined && { node }) });
}

const waiting = spare('waiting', 2 * GIB, 500);
const texts = (nodes: readonly Node[], pods: readonly ReturnType<typeof buildPod>[] = []) =>
  spareShortages(waiting, { nodes, pods }).map(({ text }) => text);

test('a pod in spare room is told what is missing, and which node lends most of it', () => {
  const nodes = [nodeOf('node-1', GIB, 4_000), nodeOf('node-2'), nodeOf('node-3', 3 * GIB, 100)];
  expect(texts(nodes, [spare('other', 1.5 * GIB, 0, 'node-3')])).toEqual([
    'no node lends 2Gi of spare memory; node-3 lends most: 1.5Gi',
  ]);
  expect(texts(nodes)).toEqual([]);
});

test.each([
  ['no node lends any', [nodeOf('node-1')], ['no node lends spare memory', 'no node lends spare cpu']],
  [
    'more is taken than lent',
    [nodeOf('node-1', 0, 400)],
    [
      'no node lends 2Gi of spare memory; node-1 lends most: 0',
      'no node lends 500m of spare cpu; node-1 lends most: 400m',
    ],
  ],
])('where %s', (_, nodes, wanted) => {
  expect(texts(nodes)).toEqual(wanted);
});

test('a pod that does not run in spare room is told nothing of it', () => {
  expect(
    spareShortages(buildPod({ name: 'usual', requests: { cpu: '1' } }), { nodes: [nodeOf('a')], pods: [] }),
  ).toEqual([]);
});
