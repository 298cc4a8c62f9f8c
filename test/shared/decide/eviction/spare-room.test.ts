import { describe, expect, test } from 'vitest';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { applyOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import { MIRROR_POD, type NodePod, policy, type Scene, snapshot } from '#test/agent/node-scene.ts';
import { evicted, hog, quiet, run } from './run-scenes.ts';

const SPARE = { cpu: '0', memory: '0', 'plimsoll.dev/spare-memory': '400Mi' };
const grace = (seconds: number) => ({ terminationGracePeriodSeconds: seconds });

function spare(name: string, usageMiB: number, more: Partial<NodePod> = {}): NodePod {
  return { name, priority: 0, requests: SPARE, usageMiB, owner: `${name}-owner`, ...more };
}

/** A scene a second, with what is available in each. */
function seconds(available: readonly number[], pods: readonly NodePod[]): readonly Scene[] {
  return available.map((availableMiB, index) => ({ now: index * 1_000, availableMiB, pods }));
}

const flat = (all: readonly (readonly string[])[]): readonly string[] => all.flat();

describe('pods in spare room', () => {
  test.each([
    [
      'whatever their priority, and ranked as usual among themselves',
      [hog, spare('important', 200, { priority: 5_000 })],
      ['important'],
    ],
    ['the largest of equal priority', [hog, spare('little', 60), spare('large', 300)], ['large']],
    ['those of lower priority', [hog, spare('high', 300, { priority: 10 }), spare('low', 250)], ['low']],
    [
      'though they ask to be last',
      [hog, spare('last', 300, { annotations: { 'plimsoll.dev/evict': 'last' } })],
      ['last'],
    ],
    [
      'though they ask to stay',
      [hog, spare('never', 300, { annotations: { 'plimsoll.dev/evict': 'never' } })],
      ['never'],
    ],
  ])('go before all others, %s', (_, pods, victims) => {
    expect(evicted([{ now: 0, availableMiB: 50, pods }])).toEqual([victims]);
  });

  test('go by their usage like others where something else is short', () => {
    const disk = snapshot({ now: 0, availableMiB: 900, pods: [hog, spare('spare', 10)] });
    const { assessment } = decide(FIRST_STATE, disk, policy());
    expect(assessment.trigger).toBeUndefined();
    expect(assessment.candidates().map(({ facts }) => facts.pod.name)).toEqual(['spare', 'hog']);
  });

  test('stay while memory is there, whatever they were promised', () => {
    const promised = spare('spare', 300, { requests: { ...SPARE, 'plimsoll.dev/spare-memory': '1Ti' } });
    expect(
      flat(
        evicted(
          seconds(
            Array.from({ length: 60 }, () => 260),
            [quiet, promised],
          ),
        ),
      ),
    ).toEqual([]);
  });

  test('go without the grace period of the soft threshold, and nobody else does', () => {
    const scene: Scene = { now: 0, availableMiB: 190, pods: [hog, spare('spare', 100)] };
    expect(evicted([scene])).toEqual([['spare']]);
    expect(evicted([{ ...scene, pods: [hog] }])).toEqual([[]]);
  });

  test('go so early that the hard threshold is not met before they are gone, at the rate at which memory is lost', () => {
    // An important pod takes 20 MiB a second; hard at 100, soft at 200.
    const falling = Array.from({ length: 60 }, (_, second) => 900 - 20 * second);
    const pods = [{ ...quiet, usageMiB: 390 }, spare('slow', 300, { spec: grace(10) })];
    const steps = evicted(seconds(falling, pods));
    const at = steps.findIndex((names) => names.includes('slow'));
    // Two seconds until it is asked, ten until it is gone.
    expect((falling[at] ?? 0) - 12 * 20).toBeGreaterThanOrEqual(100);
    expect(falling[at]).toBeLessThan(600);
  });

  test('get a grace period that is over before the hard threshold though memory runs out twice as fast meanwhile', () => {
    // Hard at 100.
    const falling = Array.from({ length: 60 }, (_, second) => 900 - 15 * second);
    const pods = [{ ...quiet, usageMiB: 390 }, spare('slow', 300, { spec: grace(30) })];
    let state = FIRST_STATE;
    const graces = seconds(falling, pods).map((scene) => {
      const decision = decide(state, snapshot(scene), policy());
      ({ state } = decision);
      return decision.evictions[0]?.graceSeconds ?? 0;
    });
    const at = graces.findIndex((graceSeconds) => graceSeconds > 0);
    expect(graces[at]).toBeGreaterThan(1);
    expect((falling[at] ?? 0) - 2 * 15 * (graces[at] ?? 0)).toBeGreaterThanOrEqual(100);
  });

  test.each([
    ['hold up no other eviction', 60, 'leaker'],
    ['go all the same if that is enough', 500, 'spare'],
  ])('%s once there is time for one more only', (_, usageMiB, first) => {
    const scenes = [900, 750, 600, 450, 300, 150, 90, 60, 50].map((availableMiB, index): Scene => {
      const leaker = { ...hog, name: 'leaker', usageMiB: 1_000 - availableMiB };
      return { now: index * 1_000, availableMiB, pods: [leaker, spare('spare', usageMiB)] };
    });
    expect(flat(evicted(scenes))[0]).toBe(first);
  });

  test('go one at a time, and the next one only if the first was not enough', () => {
    const small = spare('small', 100);
    const large = spare('large', 300);
    const leaving = { ...large, deletion: { at: 0, gracePeriodSeconds: 30 } };
    const scenes: readonly Scene[] = [
      { now: 0, availableMiB: 150, pods: [large, small] },
      { now: 1_000, availableMiB: 150, pods: [leaving, small] },
      { now: 40_000, availableMiB: 450, pods: [small] },
    ];
    expect(evicted(scenes)).toEqual([['large'], [], []]);
  });

  test('get their own grace period, up to that of the policy', () => {
    const { evictions } = decide(
      FIRST_STATE,
      snapshot({ now: 0, availableMiB: 190, pods: [spare('spare', 100, { spec: grace(17) })] }),
      policy(),
    );
    expect(evictions).toMatchObject([{ graceSeconds: 17, stage: 'mild', because: { code: 'SpareRoomNeeded' } }]);
  });

  test('go though another pod causes the shortage and stays, and then nobody goes in its stead', () => {
    const leaker: NodePod = { ...hog, annotations: { 'plimsoll.dev/evict': 'never' } };
    const other: NodePod = { name: 'other', priority: 0, requests: { memory: '10Mi' }, usageMiB: 20 };
    const soft = (pods: readonly NodePod[]) =>
      flat(
        evicted(
          seconds(
            Array.from({ length: 60 }, () => 190),
            pods,
          ),
        ),
      );
    expect(soft([leaker, other])).toEqual([]);
    expect(soft([leaker, other, spare('spare', 100)])[0]).toBe('spare');
  });

  test('go though their owner has lost as many pods as it may in an hour', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const scenes = names.flatMap((name, index): readonly Scene[] => {
      const pod = spare(name, 300, { owner: 'batch', uid: `uid-${name}` });
      const now = index * 400_000;
      return [
        { now, availableMiB: 50, pods: [hog, pod] },
        { now: now + 10_000, availableMiB: 900, pods: [hog] },
      ];
    });
    expect(flat(evicted(scenes))).toEqual(names);
  });

  test.each([0, 1])('do not keep each other as they grow where their owner may lose %i pods in an hour', (most) => {
    const names = ['a', 'b', 'c', 'd'];
    const scenes = names.flatMap((_, gone): readonly Scene[] =>
      Array.from({ length: 12 }, (__, step): Scene => {
        const pods = names
          .slice(gone)
          .map((name) => spare(name, 100 + 20 * step, { owner: 'batch', uid: `uid-${name}` }));
        return { now: gone * 400_000 + step * 1_000, availableMiB: 700 - 50 * step, pods };
      }),
    );
    expect(new Set(flat(evicted(scenes, policy({ perOwnerPerHour: most }))))).toEqual(new Set(names));
  });

  test('are told apart from pods that would go by the policy in a dry run', () => {
    const scene = snapshot({ now: 0, availableMiB: 190, pods: [hog, spare('spare', 100)] });
    expect(decide(FIRST_STATE, scene, policy({ mode: 'DryRun' })).evictions).toMatchObject([{ mode: 'DryRun' }]);
  });

  test('go before the thresholds that evict are met, though a higher one is only tried', () => {
    const [hard, soft] = policy().thresholds;
    if (hard === undefined || soft === undefined) throw new Error('expected two thresholds');
    const tried = { thresholdModes: new Map([[soft.id, 'DryRun' as const]]) };
    const victims = (availableMiB: number) =>
      decide(FIRST_STATE, snapshot({ now: 0, availableMiB, pods: [hog, spare('spare', 100)] }), policy(tried))
        .evictions;
    // Hard at 100, of 1000: its line is at 120.
    expect(victims(110)).toMatchObject([
      { mode: 'Enforce', pod: { name: 'spare' }, because: { code: 'SpareRoomNeeded' } },
      { mode: 'DryRun' },
    ]);
    expect(victims(150)).toMatchObject([{ mode: 'DryRun' }]);
  });

  test.each<[string, Partial<NodePod>]>([
    ['of the system', { namespace: 'kube-system' }],
    ['with a system priority', { priority: 2_000_001_000 }],
    ['that are static', MIRROR_POD],
    ['in an ignored namespace', { namespace: 'ignored' }],
  ])('%s stay like others, in both stages', (_, more) => {
    const namespaces = new Map([
      ['default', 'open'],
      ['kube-system', 'open'],
      ['ignored', 'ignored'],
    ] as const);
    const at = (availableMiB: number, pods: readonly NodePod[]) =>
      evicted([{ now: 0, availableMiB, pods, snapshot: { namespaces } }]);
    expect(at(190, [spare('spare', 300, more)])).toEqual([[]]);
    expect(at(50, [spare('spare', 300, more)])).toEqual([[]]);
    expect(at(190, [spare('spare', 300, more), spare('other', 100)])).toEqual([['other']]);
  });

  test.each([
    ['the largest of them has a budget that keeps it, before a threshold is met', 1, 190],
    ['the largest of them has a budget that keeps it, in the severe stage', 1, 60],
    ['a tenant has many with a budget, before a threshold is met', 15, 190],
    ['a tenant has many with a budget, in the severe stage', 40, 60],
  ])('go though %s', (_, count, availableMiB) => {
    const guarded = Array.from({ length: count }, (__, index) => spare(`guarded-${index}`, 300 / count + 5));
    const pods = [...guarded, spare('other', 5)];
    const refusal = { kind: 'tooManyRequests', cause: 'budget', message: '', retryAfterSeconds: undefined } as const;
    const asked: string[] = [];
    let state = FIRST_STATE;
    for (let now = 0; now < 20_000 && !asked.includes('other'); now += 100) {
      const decision = decide(state, snapshot({ now, availableMiB, pods }), policy());
      ({ state } = decision);
      for (const { pod, mode } of decision.evictions) {
        asked.push(pod.name);
        state = applyOutcome(state, { uid: pod.uid, mode }, refusal, now);
      }
    }
    expect(asked).toHaveLength(count + 1);
    expect(asked.at(-1)).toBe('other');
  });

  test('stay while it is not known what memory is left', () => {
    expect(evicted([{ now: 0, pods: [hog, spare('spare', 300)] }])).toEqual([[]]);
    const falling = { now: 0, availableMiB: 300, pods: [hog, spare('spare', 300)] };
    expect(evicted([falling, { ...falling, now: 1_000, availableMiB: undefined }])).toEqual([[], []]);
  });

  test('that have no figures stay, as others do', () => {
    const unmeasured: NodePod = { name: 'unmeasured', priority: 0, requests: SPARE };
    expect(evicted([{ now: 0, availableMiB: 190, pods: [quiet, unmeasured] }])).toEqual([[]]);
    expect(run([{ now: 0, availableMiB: 190, pods: [quiet, unmeasured] }]).steps[0]?.closedGates).toContain(
      'NoEligiblePod',
    );
  });
});
