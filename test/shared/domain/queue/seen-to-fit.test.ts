import { describe, expect, test } from 'vitest';
import { decideReclaim } from '#shared/domain/queue/reclaim.ts';
import { fitCheck } from '#shared/domain/queue/make-room.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode, buildPod, buildTerm } from '#test/build/cluster.ts';
import { cpu, node, question, queue, running, waiting } from './builders.ts';

const QUEUES = [queue('taker', undefined, { guaranteed: cpu(9_000) }), queue('giver')];
const NODES = ['n', 'm'];

const pods = NODES.map((name) =>
  buildPod({ name: `v-${name}`, node: name, labels: { app: 'x' }, requests: { cpu: '2' } }),
);
const snapshot = createSnapshot({
  nodes: NODES.map((name) =>
    buildNode({ name, allocatable: { cpu: '2', memory: '8Gi' }, labels: { disk: name === 'n' ? 'ssd' : 'hdd' } }),
  ),
  pods,
});
const giving = NODES.map((name) => {
  const uid = pods.find(({ spec }) => spec.nodeName === name)?.uid ?? '';
  return node(name, cpu(2_000), [running(`v-${name}`, 'giver', { uid, requests: cpu(2_000) })]);
});
const incoming = buildPod({ name: 'p', requests: { cpu: '2' } });

describe('fitCheck (S2-24)', () => {
  test('says whether the pod fits without the victims, by the filters of kube-scheduler', () => {
    const fits = fitCheck(snapshot, incoming);
    expect(fits('n', [])).toBe(false);
    expect(fits('n', giving[0]?.pods ?? [])).toBe(true);
    expect(fits('gone', [])).toBe(false);
  });

  test('a node that is not ready is no place, also before its taint is set', () => {
    const unready = { ...buildNode({ name: 'n', allocatable: { cpu: '8', memory: '8Gi' } }), isUnready: true };
    expect(fitCheck(createSnapshot({ nodes: [unready], pods: [] }), incoming)('n', [])).toBe(false);
  });

  test('a victim that is not on that node is no answer', () => {
    expect(fitCheck(snapshot, incoming)('n', giving[1]?.pods ?? [])).toBe(false);
  });

  test('a pod that would stand beside the taker goes, although another one would go first', () => {
    const node1 = buildNode({ name: 'n', allocatable: { cpu: '4', memory: '8Gi' } });
    const placed = ['first', 'enemy'].map((name) =>
      buildPod({ name, node: 'n', labels: { app: name }, requests: { cpu: '2' } }),
    );
    const apart = buildPod({
      name: 'p',
      requests: { cpu: '2' },
      scheduling: { podAntiAffinity: [buildTerm({ app: 'enemy' })] },
    });
    const victims = placed.map(({ name, uid }, index) =>
      running(name, 'giver', { uid, requests: cpu(2_000), priority: index - 1 }),
    );
    const asked = question(QUEUES, [node('n', cpu(4_000), victims)], waiting('p', 'taker', { requests: cpu(2_000) }));
    expect(decideReclaim(asked)).toMatchObject({ victims: [{ name: 'first' }] });
    const fits = fitCheck(createSnapshot({ nodes: [node1], pods: placed }), apart);
    expect(decideReclaim({ ...asked, fits })).toMatchObject({ victims: [{ name: 'enemy' }] });
  });

  test('no pod goes on a node that the pod does not tolerate or does not select', () => {
    const selecting = {
      ...incoming,
      spec: { ...incoming.spec, scheduling: { ...incoming.spec.scheduling, nodeSelector: new Map([['disk', 'hdd']]) } },
    };
    const asked = question(QUEUES, giving, waiting('p', 'taker', { requests: cpu(2_000) }));
    expect(decideReclaim({ ...asked, fits: fitCheck(snapshot, incoming) })).toMatchObject({ node: 'm' });
    expect(decideReclaim({ ...asked, fits: fitCheck(snapshot, selecting) })).toMatchObject({ node: 'm' });
    const other = {
      ...selecting,
      spec: {
        ...selecting.spec,
        scheduling: { ...selecting.spec.scheduling, nodeSelector: new Map([['disk', 'ssd']]) },
      },
    };
    expect(decideReclaim({ ...asked, fits: fitCheck(snapshot, other) })).toMatchObject({ node: 'n' });
  });
});
