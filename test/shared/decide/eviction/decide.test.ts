import { describe, expect, test } from 'vitest';
import { type AgentState, FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import { describeEviction } from '#agent/report/eviction-events.ts';
import type { NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
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
import { REASONS } from '#shared/decide/eviction/messages.ts';
import { quiet, hog, small, run, evicted } from './run-scenes.ts';

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
    const kept: NodePod = { ...hog, namespace: 'kube-system' };
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
    const held = ['severe', 'NoEligiblePod'];
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

  test.each<[sentence: string, pod: Partial<NodePod>, instead: readonly string[]]>([
    ['the mirror of a static pod', MIRROR_POD, ['small']],
    ['a system-critical priority', { priority: 2_000_000_000 }, ['small']],
    ['a pod in kube-system, nor another in its stead,', { namespace: 'kube-system' }, []],
    ['a pod in our own namespaces, nor another in its stead,', { namespace: 'plimsoll-node' }, []],
    ['a pod without statistics', { usageMiB: undefined as unknown as number }, ['small']],
  ])('%s is never chosen', (_sentence, change, instead) => {
    const protectedPod = { ...hog, ...change };
    expect(evicted([{ now: 0, availableMiB: 10, pods: [protectedPod] }])).toEqual([[]]);
    expect(evicted([{ now: 0, availableMiB: 10, pods: [protectedPod, small] }])).toEqual([instead]);
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
    const soft = (now: number, other = small): Scene => {
      return { now, availableMiB: 150, pods: [hog, other], snapshot: { doubtfulPods } };
    };
    expect(evicted([soft(0), soft(30_000)])).toEqual([[], []]);
    const lower = { ...small, priority: -1 };
    expect(evicted([soft(0, lower), soft(30_000, lower)])).toEqual([[], ['small']]);
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
      { ...quiet, annotations: { 'plimsoll.dev/evict': 'never' } },
      { ...small, namespace: 'kube-system' },
      { ...quiet, namespace: 'kube-system' },
    ];
    const { assessment } = decide(FIRST_STATE, snapshot({ now: 0, availableMiB: 10, pods }), policy());
    expect(assessment.closedGates).toEqual([
      {
        code: 'NoEligiblePod',
        text: REASONS.noEligiblePod({
          reasons: '2 ProtectedNamespace, 1 ProtectedOptOut',
          held: { pod: 'kube-system/small', why: 'the pod is in the protected namespace kube-system' },
        }).text,
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
    const rules = policy({
      protect: { namespaces: [], optOutCeiling: 1000, optOut: 'WithinRequest', withinRequest: false },
    });
    const scenes = [0, 30_000].map((now) => ({ now, availableMiB: 150, pods: [proud, { ...small, priority: 1001 }] }));
    expect(evicted(scenes, rules)).toEqual([[], ['hog']]);
    expect(evicted(scenes)).toEqual([[], ['small']]);
    const higher = scenes.map((scene) => ({ ...scene, pods: [proud, { ...small, priority: 1002 }] }));
    expect(evicted(higher)).toEqual([[], ['hog']]);
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

  test('the same arguments give the same answer', () => {
    const scene = snapshot({ now: 0, availableMiB: 10, pods: [hog, small, quiet] });
    const first = decide(FIRST_STATE, scene, policy());
    const second = decide(FIRST_STATE, scene, policy());
    expect(second.state).toEqual(first.state);
    expect(second.evictions).toEqual(first.evictions);
    expect(FIRST_STATE.evictions.Enforce.inflight).toEqual([]);
    expect(first.state.evictions.Enforce.inflight[0]?.expected).toBe(500 * MIB);
  });
});
