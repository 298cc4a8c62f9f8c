import { describe, expect, test } from 'vitest';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { restoreState, type EvictionRecord } from '#shared/decide/eviction/decide.ts';
import { because, type NodePod, policy } from '#test/agent/node-scene.ts';
import { type Moment, runEpisode, whoWent } from '#test/shared/decide/eviction/episode.ts';

const BY_PREEMPTION = [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }];
const BY_EVICTION = [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }];
const hog: NodePod = { name: 'hog', requests: { memory: '100Mi' }, usageMiB: 500 };
const small: NodePod = { name: 'small', requests: { memory: '10Mi' }, usageMiB: 120 };
const third: NodePod = { name: 'third', requests: { memory: '10Mi' }, usageMiB: 110 };
const rules = policy({
  mostGraceSeconds: 3600,
  limits: { concurrent: 1, perMinute: 9, perTenMinutes: 9, perNamespacePerTenMinutes: 9 },
});

function terminating(pod: NodePod, gracePeriodSeconds: number, changes: Partial<NodePod> = {}): NodePod {
  return { ...pod, deletion: { at: 0, gracePeriodSeconds }, ...changes };
}

/** Below the soft threshold of 200Mi for its 30 s; nothing triggers before. */
const MILD = 150;
/** Below the hard threshold of 100Mi. */
const SEVERE = 50;

function every(ms: number, untilMs: number): readonly number[] {
  return Array.from({ length: Math.floor(untilMs / ms) + 1 }, (_, index) => index * ms);
}

function at(now: number, availableMiB: number, ...pods: readonly NodePod[]): Moment {
  return { now, availableMiB, pods };
}

describe('pods that others terminate', () => {
  const long = terminating(hog, 3600);
  /** The kubelet evicts it before the hog, by its priority. */
  const early: NodePod = { ...small, priority: -1 };

  test('count as freed in the mild stage during their grace period and a moment more, at most ten minutes', () => {
    const times = [0, 30_000, 600_000, 600_001];
    expect(
      whoWent(
        times.map((now) => at(now, MILD, long, early)),
        rules,
      ),
    ).toEqual([[], [], [], ['small']]);
    const brief = terminating(hog, 30);
    expect(
      whoWent(
        [0, 30_000, 40_000, 40_001].map((now) => at(now, MILD, brief, early)),
        rules,
      ),
    ).toEqual([[], [], [], ['small']]);
  });

  test('count as freed when kube-scheduler preempts them, so that no pod goes for the same bytes', () => {
    const preempted = terminating(hog, 30, { conditions: BY_PREEMPTION });
    expect(
      whoWent(
        [0, 30_000].map((now) => at(now, MILD, preempted, small)),
        rules,
      ),
    ).toEqual([[], []]);
    expect(
      whoWent(
        [0, 30_000].map((now) => at(now, MILD, hog, small)),
        rules,
      ),
    ).toEqual([[], ['hog']]);
  });

  test.each([
    ['an ordinary delete with an hour of grace', long],
    ['an eviction by another program with ten minutes of grace', terminating(hog, 600, { conditions: BY_EVICTION })],
  ])('%s does not block the severe stage', (_, pod) => {
    expect(whoWent([at(0, SEVERE, pod, early)], rules)).toEqual([['small']]);
  });

  test('count as freed in the severe stage only if they terminate within seconds', () => {
    const brief = terminating(hog, 1);
    expect(
      whoWent(
        [0, 1000, 6000, 6001].map((now) => at(now, SEVERE, brief, early)),
        rules,
      ),
    ).toEqual([[], [], [], ['small']]);
    const later = terminating(hog, 30);
    const near = [at(0, 500, later, early), at(26_900, SEVERE, later, early)];
    expect(whoWent(near, rules)).toEqual([[], ['small']]);
    expect(whoWent([at(0, 500, later, early), at(27_100, SEVERE, later, early)], rules)).toEqual([[], []]);
  });

  test('count as freed in the severe stage while their memory falls', () => {
    const falling = (usageMiB: number): NodePod => ({ ...long, usageMiB });
    const moments = [
      at(0, 110, falling(500), early),
      at(1000, SEVERE, falling(400), early),
      at(4000, SEVERE, falling(400), early),
      at(4001, SEVERE, falling(400), early),
    ];
    expect(whoWent(moments, rules)).toEqual([[], [], [], ['small']]);
  });

  test('occupy no slot, and two that never terminate do not stop the agent', () => {
    const stuck = ['a', 'b'].map((name) => terminating({ ...small, name }, 1, { conditions: BY_EVICTION }));
    const moments = [0, 3_600_000].map((now) => at(now, SEVERE, ...stuck, hog));
    expect(whoWent(moments, rules)[1]).toEqual(['hog']);
    expect(runEpisode(moments, rules).steps[1]?.closedGates).toEqual([]);
  });
});

describe('pods that this agent terminates', () => {
  const patient: NodePod = { ...hog, spec: { terminationGracePeriodSeconds: 30 } };
  /** The kubelet would not evict the hog before it. */
  const peer: NodePod = { ...small, name: 'peer', usageMiB: 410 };
  const began = [at(0, MILD, patient, small, third), at(30_000, MILD, patient, small, third)];

  test.each([
    ['while memory lasts, for five seconds after it', 49, [3001, 6000, 6001]],
    ['when memory is gone within seconds, for two seconds after it', 20, [2000, 3000, 3001]],
  ])('count as freed and keep their slot after a grace period of a second: %s', (_, availableMiB, times) => {
    const ending = terminating(hog, 1);
    const later = times.map((now, index) => at(now, availableMiB - index, ending, peer));
    expect(whoWent([at(0, SEVERE, hog, peer), at(1000, SEVERE - 1, ending, peer), ...later], rules)).toEqual([
      ['hog'],
      [],
      [],
      [],
      ['peer'],
    ]);
  });

  test('with a long grace period are requested again in the severe stage and not waited for, but by none in their stead', () => {
    const evictedWith = (...others: readonly NodePod[]) => {
      const ending = terminating(hog, 30);
      const moments = [
        at(0, MILD, patient, ...others),
        at(30_000, MILD, patient, ...others),
        at(31_000, MILD, ending, ...others),
        at(32_000, SEVERE, ending, ...others),
      ];
      return runEpisode(moments, rules).steps.map(({ evictions }) =>
        evictions.map(({ pod, graceSeconds, stage, isShortening }) => [pod.name, graceSeconds, stage, isShortening]),
      );
    };
    const shortened = ['hog', 1, 'severe', true];
    const before = [[], [['hog', 30, 'mild', false]], []];
    expect(evictedWith(peer)).toEqual([...before, [shortened, ['peer', 1, 'severe', false]]]);
    expect(evictedWith({ ...small, priority: 1 }, { ...third, priority: 1 })).toEqual([...before, [shortened]]);
  });

  test('keep their own grace period in the mild stage only as far as the node has that time', () => {
    const filling = (megabytesPerSecond: number) =>
      every(1000, 36_000).map((now) => at(now, 190 - (megabytesPerSecond * now) / 1000, patient));
    const graces = (megabytesPerSecond: number): readonly number[] =>
      runEpisode(filling(megabytesPerSecond), rules).steps.flatMap(({ evictions }) =>
        evictions.map(({ graceSeconds }) => graceSeconds),
      );
    expect(graces(0)).toEqual([30]);
    // 60 MB per half minute: after it 30 are left above the hard threshold, which last 15 s.
    expect(graces(2)).toEqual([15]);
  });

  test('are requested again once, even if that is refused, and count once in the windows', () => {
    const also: NodePod = { ...peer, name: 'third' };
    const two = { ...rules, limits: { ...rules.limits, perMinute: 2 } };
    const moments: readonly Moment[] = [
      at(0, MILD, patient, peer, also),
      at(30_000, MILD, patient, peer, also),
      { ...at(32_000, SEVERE, terminating(hog, 30), peer, also), outcome: { kind: 'forbidden', message: 'm' } },
      at(33_000, SEVERE, terminating(hog, 30), peer, also),
      at(42_000, SEVERE, terminating(hog, 30), terminating(peer, 1), also),
    ];
    const { steps } = runEpisode(moments, two);
    expect(steps.map(({ evicted }) => evicted)).toEqual([[], ['hog'], ['hog', 'peer'], ['third'], []]);
    expect(steps[4]?.closedGates).toContain('NodeLimit');
  });

  test('count as freed once their memory falls, so that no further pod goes', () => {
    const falling = (usageMiB: number): NodePod => terminating(hog, 30, { usageMiB });
    const moments = [
      ...began,
      at(30_500, 110, falling(500), small, third),
      at(31_000, SEVERE, falling(300), small, third),
      at(31_100, SEVERE, falling(250), small, third),
    ];
    expect(whoWent(moments, rules)).toEqual([[], ['hog'], [], [], []]);
  });

  test('are not requested again once they are protected', () => {
    const ignored = { namespaces: new Map([['default', 'ignored' as const]]) };
    const severe: Moment = { ...at(32_000, SEVERE, terminating(hog, 30), small), snapshot: ignored };
    expect(whoWent([...began, severe], rules)).toEqual([[], ['hog'], []]);
  });

  test('have released everything once their cgroup is gone, however long their objects stay', () => {
    const [first, second] = [hog, small].map(({ name }): NodePod => terminating({ name }, 1)) as [NodePod, NodePod];
    const moments = [
      at(0, 10, hog, small, third),
      at(1500, 65, first, small, third),
      at(3600, 65, first, small, third),
      at(6000, 80, first, second, third),
      at(60_000, 80, first, second, third),
    ];
    const { steps } = runEpisode(moments, rules);
    expect(steps.map(({ evicted }) => evicted)).toEqual([['hog'], [], ['small'], [], ['third']]);
  });

  test('free their slot once they released their memory, even if a finalizer keeps the object', () => {
    const emptied = terminating(hog, 1, { usageMiB: 10 });
    const moments = [
      at(0, SEVERE, hog, small),
      at(1500, 90, emptied, small),
      at(3600, 90, emptied, small),
      at(3_500_000, 90, emptied, third),
      at(3_600_000, 90, emptied, third),
    ];
    const { steps } = runEpisode(moments, rules);
    expect(steps.map(({ evicted }) => evicted)).toEqual([['hog'], [], ['small'], [], ['third']]);
    expect(steps[1]?.closedGates).toEqual(['AwaitingRelief']);
  });

  const above = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'].map((name): NodePod => ({
    name,
    requests: { memory: '10Mi' },
    usageMiB: 100,
  }));
  const within: NodePod = { name: 'within', requests: { memory: '500Mi' }, usageMiB: 400 };
  /** Every seven seconds, with the first pods evicted and stuck; each gets a second pass to have no limit of a moment. */
  function hanging(availableMiB: number, pods: readonly NodePod[], rounds: number): readonly (readonly string[])[] {
    const limits = { ...rules.limits, perMinute: 99, perTenMinutes: 99, perNamespaceTenMinutes: 99 };
    const seen = (stuck: number, round: number): readonly Moment[] => {
      const all = pods.map((pod, index) => (index < stuck ? terminating(pod, 1) : pod));
      return [0, 1000, 5900].map((ms) => at(round * 7000 + ms, availableMiB, ...all));
    };
    const moments = Array.from({ length: rounds }, (_, round) => seen(Math.min(round, 4), round)).flat();
    const { steps } = runEpisode(moments, { ...rules, limits, perOwnerPerHour: 99 });
    return Array.from({ length: rounds }, (_, round) =>
      steps.slice(3 * round, 3 * round + 3).flatMap((s) => s.evicted),
    );
  }

  test('beyond their grace period do not keep the agent from the next pod above its request, and four stop it', () => {
    expect(hanging(SEVERE, above, 6)).toEqual([['p0'], ['p1'], ['p2'], ['p3'], [], []]);
  });

  test('beyond their grace period move the eviction to no pod within its request', () => {
    expect(hanging(SEVERE, [...above.slice(0, 2), within], 4)).toEqual([['p0'], ['p1'], [], []]);
  });

  test('stop the agent at the first one if the kubelet is silent, until it has terminated after all', () => {
    const silent = { snapshot: { isKubeletSilent: true } };
    const moments: readonly Moment[] = [
      { ...at(0, SEVERE, hog, small, third), ...silent },
      { ...at(6000, SEVERE, terminating(hog, 1), small, third), ...silent },
      { ...at(6001, SEVERE, terminating(hog, 1), small, third), ...silent },
      { ...at(60_000, SEVERE, terminating(hog, 1), small, third), ...silent },
      at(70_000, SEVERE, small, third),
      at(73_000, SEVERE, small, third),
    ];
    const { steps } = runEpisode(moments, rules);
    expect(steps.map(({ evicted }) => evicted)).toEqual([['hog'], [], [], [], [], ['small']]);
    expect(steps[3]?.closedGates).toEqual(['Stuck']);
  });

  test('with an hour of grace are waited for ten minutes in the mild stage', () => {
    const slow: NodePod = { ...hog, spec: { terminationGracePeriodSeconds: 3600 } };
    const moments = [
      at(0, MILD, slow, peer),
      at(30_000, MILD, slow, peer),
      at(630_000, MILD, terminating(hog, 3600), peer),
      at(630_001, MILD, terminating(hog, 3600), peer),
    ];
    expect(whoWent(moments, rules)).toEqual([[], ['hog'], [], ['peer']]);
  });

  test('are recognized after a restart, so that no second pod is evicted for the same shortage', () => {
    const record: EvictionRecord = {
      pod: { namespace: 'default', name: 'victim', uid: 'uid-victim' },
      owner: undefined,
      signal: 'memory.available',
      stage: 'severe',
      mode: 'Enforce',
      outcome: 'evicted',
      requestedAt: 0,
      endedAt: undefined,
      because: because('HardThresholdMet'),
    };
    const victim = terminating({ ...small, name: 'victim', usageMiB: 10 }, 1, { conditions: BY_EVICTION });
    const restarted = restoreState(FIRST_STATE, [record], { wallOffsetMs: 0, now: 0 });
    const { steps } = runEpisode([at(0, 10, victim, hog)], policy(), restarted);
    expect(steps).toMatchObject([{ evicted: [], closedGates: ['Outstanding'] }]);
  });
});
