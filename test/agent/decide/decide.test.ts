import { describe, expect, test } from 'vitest';
import { type AgentState, FIRST_STATE } from '#agent/decide/agent-state.ts';
import { applyOutcome, type AttemptOutcome } from '#agent/decide/apply-outcome.ts';
import { decide } from '#agent/decide/decide.ts';
import { describeEviction } from '#agent/report/describe-eviction.ts';
import type { NodeSnapshot } from '#agent/decide/snapshot/node-snapshot.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import {
  because,
  memoryReadings,
  snapshot,
  MIB,
  MIRROR_POD,
  type NodePod,
  policy,
  type Scene,
} from '#test/agent/node-scene.ts';
import { REASONS } from '#agent/messages.ts';

const quiet: NodePod = { name: 'quiet', priority: 1000, requests: { memory: '400Mi' }, usageMiB: 300 };
const hog: NodePod = { name: 'hog', priority: 0, requests: { memory: '100Mi' }, usageMiB: 500 };
const small: NodePod = { name: 'small', priority: 0, requests: { memory: '10Mi' }, usageMiB: 60 };

/** Runs passes one after another; outcomes are applied after the pass that requested them. */
function run(scenes: readonly Scene[], rules: AgentPolicy = policy(), outcome: AttemptOutcome = { kind: 'evicted' }) {
  let state: AgentState = FIRST_STATE;
  const steps = scenes.map((scene) => {
    const decision = decide(state, snapshot(scene), rules);
    state = decision.state;
    for (const { pod, mode } of decision.evictions)
      state = applyOutcome(state, { uid: pod.uid, mode }, outcome, scene.now);
    return {
      evicted: decision.evictions.map(({ pod }) => pod.name),
      closedGates: decision.assessment.closedGates.map(({ code }) => code),
    };
  });
  return { steps, state };
}

function evicted(scenes: readonly Scene[], rules?: AgentPolicy, outcome?: AttemptOutcome): (readonly string[])[] {
  return run(scenes, rules, outcome).steps.map((step) => step.evicted);
}

describe('decide', () => {
  test('evicts no pod while plenty of memory is available', () => {
    expect(evicted([{ now: 0, availableMiB: 500, pods: [quiet, hog] }])).toEqual([[]]);
  });

  test('a hard threshold evicts the pod above its request at once, with the kubelet’s message', () => {
    const scene = snapshot({ now: 0, availableMiB: 50, pods: [quiet, hog] });
    const decision = decide(FIRST_STATE, scene, policy());
    expect(decision.evictions).toMatchObject([
      {
        pod: { name: 'hog', uid: 'uid-hog' },
        signal: 'memory.available',
        stage: 'severe',
        mode: 'Enforce',
        graceSeconds: 1,
        because: {
          code: 'HardThresholdMet',
          text: REASONS.thresholdMet({
            signal: 'memory.available',
            isHard: true,
            available: '50Mi',
            kubeletAvailable: undefined,
            needed: '100Mi',
          }).text,
          facts: { signal: 'memory.available', available: '50Mi', threshold: '100Mi', gracePeriodSeconds: 0 },
        },
      },
    ]);
    const [eviction] = decision.evictions;
    expect(eviction && describeEviction(eviction, [])).toEqual({
      text: 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container main was using 500Mi, request is 100Mi, has larger consumption of memory. ',
      annotations: { offending_containers: 'main', offending_containers_usage: '500Mi', starved_resource: 'memory' },
    });
  });

  test('a soft threshold waits for its grace period', () => {
    const short = (now: number): Scene => ({ now, availableMiB: 150, pods: [hog] });
    expect(evicted([short(0), short(29_999), short(30_000)])).toEqual([[], [], ['hog']]);
  });

  test('one measurement above the threshold does not restart the grace period, and the reported amount is the median of the last second', () => {
    const looks = Array.from({ length: 301 }, (_, index) => index * 100);
    let state: AgentState = FIRST_STATE;
    const texts = looks.flatMap((now) => {
      const isGood = now % 2000 === 1000;
      const decision = decide(state, snapshot({ now, availableMiB: isGood ? 900 : 150, pods: [hog] }), policy());
      state = decision.state;
      return decision.evictions.map(({ because: { text } }) => [now, text]);
    });
    expect(texts).toEqual([
      [
        30_000,
        REASONS.thresholdMet({
          signal: 'memory.available',
          isHard: false,
          available: '150Mi',
          kubeletAvailable: undefined,
          needed: '200Mi',
        }).text,
      ],
    ]);
  });

  test('a soft eviction leaves the pod its own grace up to the limit of the policy', () => {
    const patient: NodePod = { ...hog, spec: { terminationGracePeriodSeconds: 3600 } };
    let state = FIRST_STATE;
    for (const now of [0, 30_000]) {
      const decision = decide(state, snapshot({ now, availableMiB: 150, pods: [patient] }), policy());
      state = decision.state;
      if (now > 0) expect(decision.evictions[0]?.graceSeconds).toBe(30);
    }
  });

  test('one at a time: the next one waits until the first is gone and its relief was measured (I6)', () => {
    const terminating: NodePod = { ...hog, deletion: { at: 0, gracePeriodSeconds: 1 } };
    const first: Scene = { now: 0, availableMiB: 50, pods: [hog, small] };
    const leaving: Scene = { now: 100, availableMiB: 50, pods: [terminating, small] };
    const gone: Scene = { now: 1200, availableMiB: 50, pods: [small] };
    const { steps } = run([first, leaving, gone, { ...gone, now: 2000 }, { ...gone, now: 3300 }]);
    expect(steps.map((step) => step.evicted)).toEqual([['hog'], [], [], [], ['small']]);
    expect(steps.map((step) => step.closedGates)).toEqual([
      [],
      ['Outstanding', 'EnoughEnding'],
      ['AwaitingRelief'],
      ['AwaitingRelief'],
      [],
    ]);
  });

  test('a shortage and what holds evictions back stay between two readings of a slow source, and end with the shortage', () => {
    const kept: NodePod = { ...hog, annotations: { 'plimsoll.dev/evict': 'never' } };
    const read = (at: number, availableMiB: number) => ({ readings: memoryReadings(availableMiB, 1000, at) });
    const scene = (now: number, readings: Partial<NodeSnapshot>): Scene => ({ now, pods: [kept], snapshot: readings });
    let state = FIRST_STATE;
    const shown = [
      scene(0, read(0, 50)),
      scene(100, read(0, 50)),
      scene(1000, read(1000, 50)),
      scene(1100, read(1000, 50)),
      scene(2000, read(2000, 500)),
      scene(2100, read(2000, 500)),
    ].map((each) => {
      const decision = decide(state, snapshot(each), policy());
      state = decision.state;
      const { trigger, closedGates } = decision.assessment;
      return [trigger?.stage, ...closedGates.map(({ code }) => code)];
    });
    const held = ['severe', 'NobodyMayGo'];
    expect(shown).toEqual([held, held, held, held, [undefined], [undefined]]);
  });

  test('several victims go together when the policy allows it and the gap needs them', () => {
    const rules = policy({ limits: { concurrent: 3, perMinute: 3, perTenMinutes: 10, perNamespacePerTenMinutes: 10 } });
    const pods = [1, 2, 3, 4].map((index) => ({ ...small, name: `small-${index}` }));
    expect(evicted([{ now: 0, availableMiB: 10, pods }], rules)).toEqual([['small-1', 'small-2']]);
    const small90 = { availableMiB: 90, pods };
    expect(
      evicted(
        [0, 1000].map((now) => ({ now, ...small90 })),
        rules,
      ),
    ).toEqual([[], ['small-1']]);
  });

  test('victims of one pass count together against their namespace’s limit', () => {
    const rules = policy({ limits: { concurrent: 3, perMinute: 3, perTenMinutes: 10, perNamespacePerTenMinutes: 1 } });
    const pods = [1, 2, 3].map((index) => ({ ...small, name: `small-${index}` }));
    const stranger = { ...small, name: 'stranger', namespace: 'other', usageMiB: 55 };
    expect(evicted([{ now: 0, availableMiB: 1, pods: [...pods, stranger] }], rules)).toEqual([['small-1', 'stranger']]);
  });

  test.each<[sentence: string, pod: Partial<NodePod>]>([
    ['the mirror of a static pod', MIRROR_POD],
    ['a system-critical priority', { priority: 2_000_000_000 }],
    ['a pod in kube-system', { namespace: 'kube-system' }],
    ['a pod in our own namespaces', { namespace: 'plimsoll-node' }],
    ['a pod that opted out below the ceiling', { annotations: { 'plimsoll.dev/evict': 'never' } }],
    ['a pod without statistics', { usageMiB: undefined as unknown as number }],
  ])('%s is never chosen', (_sentence, change) => {
    const protectedPod = { ...hog, ...change };
    expect(evicted([{ now: 0, availableMiB: 10, pods: [protectedPod] }])).toEqual([[]]);
    expect(evicted([{ now: 0, availableMiB: 10, pods: [protectedPod, small] }])).toEqual([['small']]);
  });

  test.each(['kubernetes.io/config.source', 'kubernetes.io/config.mirror'])(
    'the annotation %s alone, which any tenant may write, protects no pod',
    (annotation) => {
      const pretender = { ...hog, annotations: { [annotation]: 'file' } };
      expect(evicted([{ now: 0, availableMiB: 10, pods: [pretender, small] }])).toEqual([['hog']]);
    },
  );

  test('a pod with contradicted figures is evicted only in the severe stage, ranked by the smaller figure', () => {
    const doubt = { theirsBytes: 450 * MIB, because: because('StatisticsDoubtful') };
    const doubtfulPods = new Map([['uid-hog', doubt]]);
    const soft = (now: number): Scene => ({ now, availableMiB: 150, pods: [hog, small], snapshot: { doubtfulPods } });
    expect(evicted([soft(0), soft(30_000)])).toEqual([[], ['small']]);
    const hard: Scene = { now: 0, availableMiB: 10, pods: [hog, small] };
    expect(evicted([{ ...hard, snapshot: { doubtfulPods } }])).toEqual([['hog']]);
    const little = new Map([['uid-hog', { ...doubt, theirsBytes: 5 * MIB }]]);
    expect(evicted([{ ...hard, snapshot: { doubtfulPods: little } }])).toEqual([['small']]);
  });

  test('an opt-out above the priority ceiling is ignored', () => {
    const proud: NodePod = { ...hog, priority: 1_000_001, annotations: { 'plimsoll.dev/evict': 'never' } };
    expect(evicted([{ now: 0, availableMiB: 10, pods: [proud] }])).toEqual([['hog']]);
  });

  test('evicts no pod from an ignored or unknown namespace', () => {
    const scene: Scene = { now: 0, availableMiB: 10, pods: [hog] };
    expect(evicted([{ ...scene, snapshot: { namespaces: new Map([['default', 'ignored']]) } }])).toEqual([[]]);
    expect(evicted([{ ...scene, snapshot: { namespaces: new Map() } }])).toEqual([[]]);
  });

  test('reports the reasons when no pod may be evicted', () => {
    const pods = [
      { ...hog, annotations: { 'plimsoll.dev/evict': 'never' } },
      { ...small, namespace: 'kube-system' },
      { ...quiet, namespace: 'kube-system' },
    ];
    const { assessment } = decide(FIRST_STATE, snapshot({ now: 0, availableMiB: 10, pods }), policy());
    expect(assessment.closedGates).toEqual([
      {
        code: 'NobodyMayGo',
        text: REASONS.noEligiblePod({ reasons: '1 ProtectedOptOut, 2 ProtectedNamespace' }).text,
        facts: { ProtectedOptOut: 1, ProtectedNamespace: 2 },
      },
    ]);
  });

  describe.each<[wish: string, change: Partial<NodePod>]>([
    ['evict: last', { annotations: { 'plimsoll.dev/evict': 'last' } }],
    ['prefer-no-eviction', { annotations: { 'descheduler.alpha.kubernetes.io/prefer-no-eviction': 'true' } }],
    ['a DaemonSet as owner', { owner: 'agents', ownerKind: 'DaemonSet' }],
  ])('a pod with %s', (_wish, change) => {
    const wishing: NodePod = { ...hog, name: 'wishing', ...change };
    const mild = (...pods: readonly NodePod[]): readonly Scene[] =>
      [0, 30_000].map((now) => ({ now, availableMiB: 150, pods }));

    test('is evicted after others above their request', () => {
      expect(evicted(mild(wishing, small))).toEqual([[], ['small']]);
    });

    test('is evicted before pods within their request: the annotation never causes their eviction', () => {
      expect(evicted(mild(wishing, quiet))).toEqual([[], ['wishing']]);
    });

    test('is evicted like any other in the severe stage', () => {
      expect(evicted([{ now: 0, availableMiB: 10, pods: [wishing, small] }])).toEqual([['wishing']]);
    });
  });

  test('evict: last above the priority ceiling is ignored', () => {
    const proud: NodePod = { ...hog, priority: 1001, annotations: { 'plimsoll.dev/evict': 'last' } };
    const rules = policy({ protect: { namespaces: [], optOutCeiling: 1000, withinRequest: false } });
    const scenes = [0, 30_000].map((now) => ({ now, availableMiB: 150, pods: [proud, { ...small, priority: 1002 }] }));
    expect(evicted(scenes, rules)).toEqual([[], ['hog']]);
    expect(evicted(scenes)).toEqual([[], ['small']]);
  });

  test('missingStats First evicts a pod without statistics first, as the kubelet does', () => {
    const rules = policy({ ranking: { ranking: 'Kubernetes', missingStats: 'First', daemonSets: 'Last' } });
    const silent: NodePod = { name: 'silent', priority: 5 };
    expect(evicted([{ now: 0, availableMiB: 10, pods: [hog, silent] }], rules)).toEqual([['silent']]);
  });

  test('pods of a recently disrupted owner rank last when all else is equal', () => {
    const twin = (name: string, owner: string): NodePod => ({ ...small, name, uid: `${name}-uid`, owner });
    const rules = policy({ limits: { concurrent: 1, perMinute: 9, perTenMinutes: 9, perNamespacePerTenMinutes: 9 } });
    const scenes: Scene[] = [
      { now: 0, availableMiB: 50, pods: [twin('a1', 'a'), twin('a2', 'a'), twin('b1', 'b')] },
      { now: 1000, availableMiB: 90, pods: [twin('a2', 'a'), twin('b1', 'b')] },
      { now: 4000, availableMiB: 90, pods: [twin('a2', 'a'), twin('b1', 'b')] },
    ];
    expect(evicted(scenes, rules)).toEqual([['a1'], [], ['b1']]);
  });

  describe('closed gates', () => {
    const scene: Scene = { now: 0, availableMiB: 10, pods: [hog] };

    test.each<[code: string, change: Partial<NodeSnapshot>]>([
      ['WarmingUp', { closedGates: [because('WarmingUp')] }],
      ['SourcesDisagree', { doubts: new Map([['memory.available', because('SourcesDisagree')]]) }],
    ])('%s', (code, change) => {
      expect(run([{ ...scene, snapshot: change }]).steps).toEqual([{ evicted: [], closedGates: [code] }]);
    });

    test('a signal that could not be read causes no eviction (law 3)', () => {
      expect(run([{ now: 0, availableMiB: undefined, pods: [hog] }]).steps).toEqual([{ evicted: [], closedGates: [] }]);
    });

    test('the same measurement is not acted on twice', () => {
      const stale = { ...scene, snapshot: { readings: snapshot({ now: 0, availableMiB: 10 }).readings } };
      const rules = policy({ limits: { concurrent: 5, perMinute: 5, perTenMinutes: 5, perNamespacePerTenMinutes: 5 } });
      const twins = [hog, { ...hog, name: 'hog-2' }];
      const scenes = [0, 5000].map((now) => ({ ...stale, now, pods: now === 0 ? [hog] : twins }));
      expect(evicted(scenes, rules)).toEqual([['hog'], []]);
    });

    test('a limit of 0 means none, not unlimited (law 4)', () => {
      for (const key of ['concurrent', 'perMinute', 'perTenMinutes', 'perNamespacePerTenMinutes'] as const) {
        const limits = { ...policy().limits, [key]: 0 };
        expect(evicted([scene], policy({ limits }))).toEqual([[]]);
      }
    });

    test('the node’s limits apply to every minute and every ten minutes', () => {
      const pods = Array.from({ length: 20 }, (_, index) => ({
        ...small,
        usageMiB: 20,
        name: `p${String(index).padStart(2, '0')}`,
      }));
      const rules = policy({ limits: { concurrent: 1, perMinute: 2, perTenMinutes: 3, perNamespacePerTenMinutes: 9 } });
      let left = pods;
      const times: number[] = [];
      let state = FIRST_STATE;
      for (let now = 0; now < 700_000; now += 1000) {
        const decision = decide(
          state,
          snapshot({ now, availableMiB: 10 + 20 * (20 - left.length) - 20 * times.length + now / 1e6, pods: left }),
          rules,
        );
        state = decision.state;
        for (const { pod, mode } of decision.evictions) {
          times.push(now);
          state = applyOutcome(state, { uid: pod.uid, mode }, { kind: 'evicted' }, now);
          left = left.filter(({ name }) => name !== pod.name);
        }
      }
      for (const start of times) {
        expect(times.filter((at) => at >= start && at - start < 60_000).length).toBeLessThanOrEqual(2);
        expect(times.filter((at) => at >= start && at - start < 600_000).length).toBeLessThanOrEqual(3);
      }
      expect(times.length).toBeGreaterThan(1);
    });

    test('two evictions without relief stop the agent for ten minutes (F-33)', () => {
      const pods = ['a', 'b', 'c'].map((name) => ({ ...small, name }));
      const rules = policy({ limits: { concurrent: 1, perMinute: 9, perTenMinutes: 9, perNamespacePerTenMinutes: 9 } });
      const scenes: Scene[] = [
        { now: 0, availableMiB: 50, pods },
        { now: 1000, availableMiB: 50, pods: pods.slice(1) },
        { now: 3100, availableMiB: 50, pods: pods.slice(1) },
        { now: 4000, availableMiB: 50, pods: pods.slice(2) },
        { now: 6100, availableMiB: 50, pods: pods.slice(2) },
        { now: 600_000, availableMiB: 50, pods: pods.slice(2) },
        { now: 606_200, availableMiB: 50, pods: pods.slice(2) },
      ];
      const { steps } = run(scenes, rules);
      expect(steps.map((step) => step.evicted)).toEqual([['a'], [], ['b'], [], [], [], ['c']]);
      expect(steps.map((step) => step.closedGates)).toEqual([
        [],
        ['AwaitingRelief'],
        [],
        ['AwaitingRelief'],
        ['Ineffective'],
        ['Ineffective'],
        [],
      ]);
    });

    test('does not wait forever for relief that can never be measured', () => {
      const pods = ['a', 'b'].map((name) => ({ ...small, name }));
      const blind = (now: number): Scene => ({ now, availableMiB: undefined, pods: pods.slice(1) });
      const scenes: Scene[] = [
        { now: 0, availableMiB: 50, pods },
        blind(1000),
        blind(61_000),
        { now: 61_500, availableMiB: 50, pods: pods.slice(1) },
      ];
      expect(evicted(scenes)).toEqual([['a'], [], [], ['b']]);
    });

    test('pid.available ranks and measures relief by processes', () => {
      const parsed = parseThresholds({ evictionHard: { 'pid.available': '100' } });
      const rules = policy({
        thresholds: parsed.ok ? parsed.thresholds : [],
        limits: { concurrent: 1, perMinute: 9, perTenMinutes: 9, perNamespacePerTenMinutes: 9 },
      });
      const forker = (name: string, processCount: number): NodePod => ({ ...small, name, processCount });
      const at = (now: number, running: number, pods: readonly NodePod[]): Scene => ({
        now,
        pods,
        snapshot: { readings: { ...snapshot({ now }).readings, processes: { at: now, maximum: 1000, running } } },
      });
      const pods = [forker('few', 10), forker('many', 400), forker('more', 500)];
      const scenes = [
        at(0, 950, pods),
        at(1000, 910, pods.slice(0, 2)),
        at(3000, 910, pods.slice(0, 2)),
        at(4000, 905, pods.slice(0, 1)),
        at(6000, 905, pods.slice(0, 1)),
      ];
      expect(run(scenes, rules).steps.map((step) => [step.evicted, step.closedGates])).toEqual([
        [['more'], []],
        [[], ['AwaitingRelief']],
        [['many'], []],
        [[], ['AwaitingRelief']],
        [[], ['Ineffective']],
      ]);
    });

    test('waits for a while after the kubelet has evicted a pod (F-25)', () => {
      const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' }];
      const victim: NodePod = { ...small, name: 'victim', phase: 'Failed', conditions };
      const at = (now: number): Scene => ({ ...scene, now, pods: [hog, victim] });
      expect(run([at(0), at(30_000), at(30_001)]).steps).toEqual([
        { evicted: [], closedGates: ['KubeletActs'] },
        { evicted: [], closedGates: ['KubeletActs'] },
        { evicted: ['hog'], closedGates: [] },
      ]);
    });
  });

  describe('dry run', () => {
    test('decides the same, and reports it once in five minutes', () => {
      const at = (now: number): Scene => ({ now, availableMiB: 10, pods: [hog] });
      const scenes = [0, 1000, 60_000, 299_000, 301_000].map(at);
      expect(evicted(scenes, policy({ mode: 'DryRun' }), { kind: 'pretended' })).toEqual([
        ['hog'],
        [],
        [],
        [],
        ['hog'],
      ]);
    });
  });

  describe('stall rules', () => {
    const memoryStalls = (short: number, long: number, now = short) => [
      { signal: 'memory.pressure' as const, share: 'full' as const, windowMs: 500, ratio: now },
      { signal: 'memory.pressure' as const, share: 'full' as const, windowMs: 10_000, ratio: short },
      { signal: 'memory.pressure' as const, share: 'full' as const, windowMs: 60_000, ratio: long },
    ];
    /** The kernel scans more in ten seconds than is available, half of it in vain. */
    const reclaim = { scanned: 100 * MIB, stolen: 50 * MIB, refaulted: 0, swappedIn: 0 };
    const none = policy({ thresholds: [] });

    test.each<[sentence: string, availableMiB: number, short: number, long: number, expected: readonly string[]]>([
      ['waiting in both windows while memory is short', 90, 0.2, 0.1, ['hog']],
      ['stalls while gigabytes are free come from a pod inside its own limit', 500, 0.9, 0.9, []],
      ['the long window says it is not real', 90, 0.9, 0.05, []],
      ['the short window says it is over', 90, 0.1, 0.9, []],
    ])('%s', (_sentence, availableMiB, short, long, expected) => {
      const scene = {
        now: 0,
        availableMiB,
        pods: [hog, small],
        snapshot: { stalls: memoryStalls(short, long), reclaim },
      };
      expect(evicted([scene], none)).toEqual([expected]);
    });

    test('what is left is the figure that decides: page cache is no shortage', () => {
      const snapshot = { stalls: memoryStalls(0.9, 0.9), reclaim };
      expect(evicted([{ now: 0, availableMiB: 50, reclaimableMiB: 900, pods: [hog], snapshot }], none)).toEqual([[]]);
      expect(evicted([{ now: 0, availableMiB: 900, reclaimableMiB: 50, pods: [hog], snapshot }], none)).toEqual([
        ['hog'],
      ]);
    });

    const patient = policy({
      thresholds: [],
      limits: { concurrent: 1, perMinute: 9, perTenMinutes: 9, perNamespacePerTenMinutes: 9 },
    });
    const twins = ['a', 'b'].map((name) => ({ ...small, name }));

    test('the windows restart once the victim is gone', () => {
      const snapshot = { stalls: memoryStalls(0.9, 0.9), reclaim };
      const after = (now: number): Scene => ({ now, availableMiB: 90, pods: twins.slice(1), snapshot });
      const leaving: Scene = { now: 900, availableMiB: 50, pods: twins, snapshot };
      const scenes = [{ ...leaving, now: 0 }, leaving, after(1000), after(3100), after(60_900), after(61_000)];
      expect(evicted(scenes, patient)).toEqual([['a'], [], [], [], [], ['b']]);
    });

    test('the windows restart after an eviction for a memory threshold, but not for another resource', () => {
      const snapshot = { stalls: memoryStalls(0.9, 0.9), reclaim };
      const rules = policy({ limits: patient.limits });
      const after = (now: number): Scene => ({ now, availableMiB: 95, pods: twins.slice(1), snapshot });
      const busy = { ...snapshot, stalls: snapshot.stalls.slice(1) };
      const scenes = [
        { now: 0, availableMiB: 40, pods: twins, snapshot: busy },
        { ...after(1000), availableMiB: 250 },
      ];
      const later = [4000, 30_000, 59_000].map((now) => ({ ...after(now), availableMiB: 250 }));
      expect(evicted([...scenes, ...later], { ...rules, stallRules: withRoom(rules) })).toEqual([
        ['a'],
        [],
        [],
        [],
        [],
      ]);
    });

    /** The rule of memory pressure for a node with a quarter of its memory left. */
    const withRoom = ({ stallRules }: AgentPolicy): AgentPolicy['stallRules'] =>
      stallRules.map((rule) => ({ ...rule, evidence: { ...rule.evidence, below: { kind: 'share', share: 0.3 } } }));

    test('evicts no pod when no task stalls any more, whatever the windows say', () => {
      const at = (now: number, waitsNow: number): Scene => ({
        now,
        availableMiB: 50,
        pods: [hog],
        snapshot: { stalls: memoryStalls(0.9, 0.9, waitsNow), reclaim },
      });
      expect(run([at(0, 0), at(100, 0.1)], none).steps).toEqual([
        { evicted: [], closedGates: [] },
        { evicted: [], closedGates: [] },
      ]);
      expect(evicted([at(0, 0), at(100, 0.2)], none)).toEqual([[], ['hog']]);
    });

    test('a window that is not full causes no eviction', () => {
      const snapshot = { stalls: memoryStalls(0.9, 0.9).slice(0, 2), reclaim };
      expect(evicted([{ now: 0, availableMiB: 90, pods: [hog], snapshot }], none)).toEqual([[]]);
    });

    test('CPU pressure ranks by CPU above requests, and is only reported unless an operator enabled it (law 6)', () => {
      const stalls = [
        { signal: 'cpu.pressure' as const, share: 'some' as const, windowMs: 500, ratio: 0.9 },
        { signal: 'cpu.pressure' as const, share: 'some' as const, windowMs: 10_000, ratio: 0.9 },
        { signal: 'cpu.pressure' as const, share: 'some' as const, windowMs: 300_000, ratio: 0.9 },
      ];
      const burner: NodePod = { name: 'burner', requests: { cpu: '100m' }, cpuNanoCores: 2e9, usageMiB: 1 };
      const scene = {
        now: 0,
        availableMiB: 900,
        pods: [hog, burner],
        snapshot: { stalls, cpu: { availableCores: 0.02, cores: 2 } },
      };
      const first = decide(FIRST_STATE, snapshot(scene), none);
      expect(first.evictions).toEqual([]);
      const later = decide(first.state, snapshot({ ...scene, now: 300_000 }), none);
      expect(later.evictions.map(({ pod, mode, signal }) => [pod.name, mode, signal])).toEqual([
        ['burner', 'DryRun', 'cpu.pressure'],
      ]);
    });
  });

  test('the same arguments give the same answer (law 9)', () => {
    const scene = snapshot({ now: 0, availableMiB: 10, pods: [hog, small, quiet] });
    const first = decide(FIRST_STATE, scene, policy());
    const second = decide(FIRST_STATE, scene, policy());
    expect(second.state).toEqual(first.state);
    expect(second.evictions).toEqual(first.evictions);
    expect(FIRST_STATE.evictions.Enforce.inflight).toEqual([]);
    expect(first.state.evictions.Enforce.inflight[0]?.expected).toBe(500 * MIB);
  });
});
