import { describe, expect, test } from 'vitest';
import { buildPod } from '#test/build/cluster.ts';
import { loopsAfter } from '#test/scheduler/preemptions/loops-after.ts';
import { ask, Pod, proposal, start } from './asked-extender.ts';

const PODS = 10_000;
const TERMS = 1_000;

/** Pods that all differ in their labels, among them the two that a preemption is proposed for. */
const others = [
  buildPod({ name: 'ordinary', node: 'n0', priority: 10, requests: { cpu: '1' } }),
  buildPod({ name: 'opted-out', node: 'n1', priority: 5, spec: { priorityClassName: 'spared' } }),
  ...Array.from({ length: PODS }, (_, at) =>
    buildPod({ name: `p${at}`, node: `n${at % 2}`, priority: 1_000, labels: { app: `app-${at}` } }),
  ),
];

/** A pod whose terms no index helps with: each is about all pods but a few. */
const greedy = {
  ...Pod,
  spec: {
    ...Pod.spec,
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: Array.from({ length: TERMS }, (_, at) => ({
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: {
            matchExpressions: [
              { key: 'app', operator: 'NotIn', values: [`app-${at}`] },
              { key: 'never', operator: 'Exists' },
            ],
          },
        })),
      },
    },
  },
};

/** One millisecond passes with each question about the time, that is with each step of work. */
function steppingClock() {
  let ms = 0;
  return () => (ms += 1);
}

const bodyLimitBytes = 2_000_000;
const LARGE_TEXTS = ['\u0001"NodeNameToVictims":null'.repeat(20_000)];
const MANY_PORTS = Array.from({ length: 20_000 }, (_, at) => ({ containerPort: at, protocol: 'TCP' }));
const proposed = JSON.stringify({ Pod: greedy, NodeNameToMetaVictims: proposal });
const n0 = { NodeNameToMetaVictims: { n0: proposal.n0 } };

describe('a tenant whose pods take much work to judge (T-99)', () => {
  test('preempt answers by protection alone once its work is used up, and counts that', async () => {
    const { body, metrics } = await ask(proposed, { others, bodyLimitBytes, monotonic: steppingClock() });
    expect(body).toEqual(n0);
    expect(metrics).toContain('plimsoll_extender_undecided_total{verb="preempt",reason="TooMuchWork"} 1');
    expect(metrics).toContain('plimsoll_extender_duration_seconds_count{verb="preempt"} 1');
  });

  test.each<[string, object, object, number]>([
    ['texts that nothing is decided by: is decided as any other', { args: LARGE_TEXTS }, proposal.n0, 0],
    ['ports: is answered by protection alone', { ports: MANY_PORTS }, proposal.n0, 1],
  ])('a preemptor of more than 256 KiB of %s', async (_, large, left, undecided) => {
    const [container] = Pod.spec.containers;
    const spec = { ...Pod.spec, containers: [{ ...container, ...large }] };
    const question = { Pod: { ...Pod, spec }, NodeNameToVictims: null, NodeNameToMetaVictims: proposal };
    const { body, metrics } = await ask(JSON.stringify(question), { bodyLimitBytes });
    expect(body).toEqual({ NodeNameToMetaVictims: { n0: left } });
    expect(metrics).toContain(`plimsoll_extender_undecided_total{verb="preempt",reason="TooMuchWork"} ${undecided}`);
  });

  test('a preemptor continues no loop of preemptions by being too large', async () => {
    const metadata = { ...Pod.metadata, name: 'a' };
    const spec = { ...Pod.spec, containers: [{ ports: MANY_PORTS }] };
    const NodeNameToMetaVictims = { n0: { Pods: [{ UID: 'uid-b' }], NumPDBViolations: 0 } };
    const question = { Pod: { metadata, spec }, NodeNameToVictims: null, NodeNameToMetaVictims };
    const victim = buildPod({ name: 'b', node: 'n0', priority: 5, requests: { cpu: '1' } });
    const asking = { bodyLimitBytes, others: [victim], loops: loopsAfter(3) };
    const { body, recorded } = await ask(JSON.stringify(question), asking);
    expect(body).toEqual({ NodeNameToMetaVictims: {} });
    expect(recorded).toHaveLength(1);
  });

  test('a process that waits for its processor decides all the same', async () => {
    const monotonic = steppingClock();
    const { body, metrics } = await ask(JSON.stringify({ Pod, NodeNameToMetaVictims: proposal }), {
      monotonic: () => monotonic() * 20,
      processorMs: () => 0,
    });
    expect(body).toEqual(n0);
    expect(metrics).toContain('plimsoll_extender_undecided_total{verb="preempt",reason="TooMuchWork"} 0');
    expect(metrics).toContain('plimsoll_extender_undecided_total{verb="preempt",reason="Overloaded"} 0');
  });

  test('of many requests at once, each is answered, and none gives the protected pod away', async () => {
    const { url, metrics } = await start({ others, bodyLimitBytes, monotonic: steppingClock(), maxRequests: 4 });
    const answers = await Promise.all(
      Array.from({ length: 12 }, async () =>
        (await fetch(`${url}/preempt`, { method: 'POST', body: proposed })).json(),
      ),
    );
    expect(answers).toEqual(Array.from({ length: 12 }, () => n0));
    expect(await metrics.text()).toContain('plimsoll_extender_duration_seconds_count{verb="preempt"} 12');
  });

  test.each([
    ['filter', { NodeNames: ['n0', 'n1'] }],
    ['prioritize', [0, 0]],
  ])('%s answers without a decision', async (verb, expected) => {
    const nominated = buildPod({ name: 'waits', nominatedTo: 'n0', priority: 2_000 });
    // Each question about the time is a large part of all work.
    let ms = 0;
    const monotonic = () => (ms += 60);
    const args = JSON.stringify({ Pod: greedy, NodeNames: ['n0', 'n1'] });
    const { body, metrics } = await ask(args, { path: `/${verb}`, others: [nominated], bodyLimitBytes, monotonic });
    if (verb === 'filter') expect(body).toMatchObject(expected);
    else expect((body as { Score: number }[]).map(({ Score }) => Score)).toEqual(expected);
    expect(metrics).toContain(`plimsoll_extender_undecided_total{verb="${verb}",reason="TooMuchWork"} 1`);
  });

  test('durations and undecided answers exist as metrics from the start', async () => {
    const text = await (await start({})).metrics.text();
    for (const verb of ['preempt', 'filter', 'prioritize']) {
      expect(text).toContain(`plimsoll_extender_duration_seconds_count{verb="${verb}"} 0`);
      for (const reason of ['Unsynced', 'Overloaded', 'TooMuchWork'])
        expect(text).toContain(`plimsoll_extender_undecided_total{verb="${verb}",reason="${reason}"} 0`);
    }
    expect(text).toContain('plimsoll_extender_undecided_total{verb="preempt",reason="Stale"} 0');
  });
});
