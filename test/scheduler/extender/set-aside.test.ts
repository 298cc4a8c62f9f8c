import { describe, expect, test } from 'vitest';
import { buildPod } from '#test/build/cluster.ts';
import { daemonSetPod } from '#test/build/daemon-set-pod.ts';
import { buildPressure } from '#test/build/node-pressure.ts';
import { ask, type Asking, NOW, Pod, proposal, start } from './asked-extender.ts';

/** Nominated to a node of one CPU, of which the pod that is asked about needs all. */
const promised = buildPod({ name: 'promised', nominatedTo: 'n0', priority: 100, requests: { cpu: '100m' } });
const SET_ASIDE = 'Plimsoll: the room is set aside for a pending pod';

describe('a pod that its queue has no room for any more', () => {
  const because = { code: 'ShareReturned', text: 'queue q would be above its maximum', facts: {} };
  const keeper = { note: function* () {}, whyNotPlaced: () => because };
  const asked = (annotations: object) => {
    const body = { Pod: { ...Pod, metadata: { ...Pod.metadata, annotations } }, Nodes: null, NodeNames: ['n0', 'n1'] };
    return ask(JSON.stringify(body), { path: '/filter', keeper });
  };

  test('gets no node, and the reason', async () => {
    const text = 'Plimsoll: queue q would be above its maximum';
    const { body } = await asked({ 'plimsoll.dev/admitted': '{"queue":"q"}' });
    expect(body).toMatchObject({ NodeNames: [], FailedAndUnresolvableNodes: { n0: text, n1: text } });
  });

  test('is asked about only where it carries the mark of the queues', async () => {
    expect((await asked({})).body).toMatchObject({ NodeNames: ['n0', 'n1'] });
  });
});

describe('room that is set aside (S2-26)', () => {
  const byName = JSON.stringify({ Pod, Nodes: null, NodeNames: ['n0', 'n1'] });
  const allNamed = { NodeNames: ['n0', 'n1'], FailedAndUnresolvableNodes: {} };

  test('filter leaves the node out, and counts it', async () => {
    const { body, metrics } = await ask(byName, { path: '/filter', others: [promised] });
    expect(body).toMatchObject({ NodeNames: ['n1'], FailedAndUnresolvableNodes: { n0: SET_ASIDE } });
    expect(metrics).toContain('plimsoll_extender_forbidden_nodes_total{reason="RoomSetAside"} 1');
  });

  test('filter leaves it out also where no other node is left', async () => {
    const second = buildPod({ name: 'second', nominatedTo: 'n1', priority: 100, requests: { cpu: '100m' } });
    const { body } = await ask(byName, { path: '/filter', others: [promised, second] });
    expect(body).toMatchObject({ NodeNames: [], FailedAndUnresolvableNodes: { n0: SET_ASIDE, n1: SET_ASIDE } });
  });

  test('filter leaves it out also where the only other node should be avoided', async () => {
    const pressures = [buildPressure('n1', { isEnforced: true, observedAt: NOW, pressure: 'Hard' })];
    const { body } = await ask(byName, { path: '/filter', others: [promised], pressures });
    expect(body).toMatchObject({ NodeNames: ['n1'], FailedAndUnresolvableNodes: { n0: SET_ASIDE } });
  });

  test.each<[string, string, Asking]>([
    ['by a stale view of the pods', byName, { isStale: true }],
    ['while the cluster has not been read', byName, { missing: ['pods'] }],
    ['to a pod that cannot be read', byName.replace('"priority":100', '"priority":"x"'), {}],
    ['to a pod of higher priority', byName.replace('"priority":100', '"priority":101'), {}],
  ])('filter leaves all nodes %s', async (_, body, asking) => {
    expect((await ask(body, { path: '/filter', others: [promised], ...asking })).body).toMatchObject(allNamed);
  });

  describe('to a pod of more than 256 KiB (T-99)', () => {
    const [container] = Pod.spec.containers;
    const args = ['x'.repeat(300_000)];
    const free = { ...container, resources: { requests: { cpu: '900m' } } };
    const bodyLimitBytes = 2_000_000;
    const all = ['n0', 'n1'];

    test.each<[string, object, readonly string[]]>([
      ['that needs it', { containers: [{ ...container, args }] }, ['n1']],
      ['that fits beside it', { containers: [{ ...free, args }] }, all],
      ['that is more important', { containers: [{ ...container, args }], priority: 101 }, all],
      [
        'whose containers are too many to be read',
        { containers: Array.from({ length: 30_000 }, () => ({ resources: {} })) },
        ['n1'],
      ],
    ])('filter leaves only the nodes that it may use: %s', async (_, spec, NodeNames) => {
      const question = { Pod: { ...Pod, spec: { ...Pod.spec, ...spec } }, Nodes: null, NodeNames: all };
      const asking = { path: '/filter', others: [promised], bodyLimitBytes };
      expect((await ask(JSON.stringify(question), asking)).body).toMatchObject({ NodeNames });
    });

    test.each<[string, object]>([
      ['filter', { NodeNames: ['n1'] }],
      ['prioritize', [{ Score: 0 }, { Score: 10 }]],
    ])('%s keeps it also where to read the pod was too much work', async (verb, expected) => {
      const spec = { ...Pod.spec, containers: [{ ...free, args }] };
      const question = { Pod: { ...Pod, spec }, Nodes: null, NodeNames: all };
      let ms = 0;
      const asking = { path: `/${verb}`, others: [promised], bodyLimitBytes, monotonic: () => (ms += 60) };
      const { body, metrics } = await ask(JSON.stringify(question), asking);
      expect(body).toMatchObject(expected);
      expect(metrics).toContain(`plimsoll_extender_undecided_total{verb="${verb}",reason="TooMuchWork"} 1`);
    });

    test('preempt removes no pod for one that would not get the room', async () => {
      const ports = Array.from({ length: 30_000 }, (_, containerPort) => ({ containerPort }));
      const others = [promised, buildPod({ name: 'ordinary', node: 'n0', priority: 10, requests: { cpu: '1' } })];
      const preemptor = { ...Pod, spec: { ...Pod.spec, containers: [{ ...container, ports }] } };
      const question = { Pod: preemptor, NodeNameToVictims: null, NodeNameToMetaVictims: { n0: proposal.n0 } };
      const { body } = await ask(JSON.stringify(question), { others, bodyLimitBytes });
      expect(body).toEqual({ NodeNameToMetaVictims: {} });
    });
  });

  test('a nomination that nothing is awaited for keeps the room for a minute', async () => {
    let now = NOW;
    const { url } = await start({ others: [promised], now: () => now });
    const filtered = async () => (await fetch(`${url}/filter`, { method: 'POST', body: byName })).json();
    expect(await filtered()).toMatchObject({ NodeNames: ['n1'] });
    now += 60_000;
    expect(await filtered()).toMatchObject({ NodeNames: ['n1'] });
    now += 1;
    expect(await filtered()).toMatchObject(allNamed);
  });

  test('prioritize gives the node no score', async () => {
    const { body } = await ask(byName, { path: '/prioritize', others: [promised] });
    expect(body).toEqual([
      { Host: 'n0', Score: 0 },
      { Host: 'n1', Score: 10 },
    ]);
  });

  test.each<[string, number, object]>([
    ['removes no pod for one that would not get the room', 100, {}],
    ['makes room for a pod of higher priority', 101, { n0: proposal.n0 }],
  ])('preempt %s', async (_, priority, left) => {
    const others = [promised, buildPod({ name: 'ordinary', node: 'n0', priority: 10, requests: { cpu: '1' } })];
    const preemptor = { ...Pod, spec: { ...Pod.spec, priority } };
    const { body } = await ask(JSON.stringify({ Pod: preemptor, NodeNameToMetaVictims: { n0: proposal.n0 } }), {
      others,
    });
    expect(body).toEqual({ NodeNameToMetaVictims: left });
  });

  test('preempt nominates no pod of higher priority to the room that a DaemonSet pod waits for (S2-38)', async () => {
    const deletion = { at: NOW + 1_000, gracePeriodSeconds: 30 };
    const ending = buildPod({ name: 'ordinary', node: 'n0', priority: 1, requests: { cpu: '1' }, deletion });
    const proposed = JSON.stringify({ Pod, NodeNameToMetaVictims: { n0: proposal.n0 } });
    const waiting = daemonSetPod({ ...promised, spec: { ...promised.spec, priority: 50 } });
    expect((await ask(proposed, { others: [ending, waiting] })).body).toEqual({ NodeNameToMetaVictims: {} });
  });
});
