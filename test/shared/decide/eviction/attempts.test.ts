import { describe, expect, test } from 'vitest';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { applyOutcome, type AttemptOutcome, isUnclear } from '#shared/decide/eviction/apply-outcome.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import { snapshot, type NodePod, policy } from '#test/agent/node-scene.ts';
import { type Moment, runEpisode } from './episode.ts';

const hog: NodePod = { name: 'hog', priority: 0, requests: { memory: '100Mi' }, usageMiB: 500 };
const small: NodePod = { name: 'small', priority: 0, requests: { memory: '10Mi' }, usageMiB: 60 };
/** The kubelet would not evict the hog before it. */
const peer: NodePod = { name: 'peer', priority: 0, requests: { memory: '10Mi' }, usageMiB: 410 };
const MESSAGE = { message: 'm' };
const BUDGET = { kind: 'tooManyRequests', cause: 'budget', ...MESSAGE, retryAfterSeconds: undefined } as const;
const DAY_SECONDS = 86_400;
const rules = policy({
  limits: { concurrent: 1, perMinute: 99, perTenMinutes: 99, perNamespacePerTenMinutes: 99 },
});

function severe(now: number, ...pods: readonly NodePod[]): Moment {
  return { now, availableMiB: 10, pods };
}

/** Below the soft threshold only; a pass half a minute earlier started its grace period. */
function mild(times: readonly number[], ...pods: readonly NodePod[]): readonly Moment[] {
  return [-30_000, ...times].map((now) => ({ now, availableMiB: 150, pods }));
}

/** Passes that requested an eviction, by time. */
function asked(moments: readonly Moment[], outcome: AttemptOutcome): readonly (readonly [number, string])[] {
  const { steps } = runEpisode(
    moments.map((moment) => ({ ...moment, outcome })),
    rules,
  );
  return steps.flatMap(({ evicted }, index) => evicted.map((name) => [moments[index]?.now ?? 0, name] as const));
}

function every(ms: number, untilMs: number): readonly number[] {
  return Array.from({ length: Math.floor(untilMs / ms) + 1 }, (_, index) => index * ms);
}

const looks = (untilMs: number, ...pods: readonly NodePod[]) => every(100, untilMs).map((now) => severe(now, ...pods));

describe('an answer to an eviction', () => {
  test.each<[sentence: string, outcome: AttemptOutcome, mildly: object, severely: object]>([
    [
      'a spent budget leaves the pod alone, and no other goes in its stead',
      BUDGET,
      [0, 'hog'],
      [0, 'hog', 1000, 'hog'],
    ],
    [
      'one that left the pod unharmed is tried again, since the server was in trouble; twice concerns that pod alone',
      { kind: 'foundUnharmed' },
      [0, 'hog', 1000, 'hog'],
      [0, 'hog', 100, 'hog', 1100, 'hog'],
    ],
    [
      'a pod that changed since it was judged is left alone, and no other goes in its stead',
      { kind: 'overtaken', ...MESSAGE },
      [0, 'hog'],
      [0, 'hog', 1000, 'hog'],
    ],
    [
      'a pod that cannot be read is left alone, and no other goes in its stead',
      { kind: 'unreadable', ...MESSAGE },
      [0, 'hog'],
      [0, 'hog', 1000, 'hog'],
    ],
    [
      'a refusal by rights rests, and no other goes in its stead',
      { kind: 'forbidden', ...MESSAGE },
      [0, 'hog'],
      [0, 'hog', 1000, 'hog'],
    ],
    [
      'two budgets on one pod are a refusal, not a 429',
      { kind: 'severalBudgets', ...MESSAGE },
      [0, 'hog'],
      [0, 'hog', 1000, 'hog'],
    ],
    [
      'a token that is refused is our trouble, not the pod’s',
      { kind: 'unauthorized', ...MESSAGE },
      [0, 'hog'],
      [0, 'hog', 1000, 'hog'],
    ],
    [
      'a pod that kube-scheduler preempted meanwhile frees the same bytes: no other pod goes',
      { kind: 'foundPreempted' },
      [0, 'hog'],
      [0, 'hog'],
    ],
    [
      'an answer that was lost holds the place: no other pod goes',
      { kind: 'timeout', ...MESSAGE },
      [0, 'hog'],
      [0, 'hog'],
    ],
  ])('%s', (_, outcome, mildly, severely) => {
    const times = every(100, 1900);
    expect(asked(mild(times, hog, small), outcome).flat()).toEqual(mildly);
    expect(asked(looks(1900, hog, small), outcome).flat()).toEqual(severely);
  });

  test('a node that has recovered meanwhile is decided on again', () => {
    const relieved: AttemptOutcome = { kind: 'relieved', ...MESSAGE };
    expect(asked(looks(100, hog), relieved)).toEqual([
      [0, 'hog'],
      [100, 'hog'],
    ]);
    expect(asked(mild([0, 900, 1000], hog), relieved)).toEqual([
      [0, 'hog'],
      [1000, 'hog'],
    ]);
  });

  test('an unanswered preflight is repeated soon, then every second', () => {
    const unheard: AttemptOutcome = { kind: 'unconfirmed', ...MESSAGE };
    expect(asked(looks(5000, hog), unheard).map(([at]) => at)).toEqual([0, 100, 300, 700, 1500, 2500, 3500, 4500]);
    const mildly = asked(mild(every(100, 40_000), hog), unheard).map(([at]) => at);
    expect(mildly).toEqual([0, 1000, 3000, 7000, 15_000, 25_000, 35_000]);
  });

  test('a 429 to the preflight waits for its Retry-After, not ten seconds', () => {
    const throttled: AttemptOutcome = { kind: 'unconfirmed', ...MESSAGE, retryAfterSeconds: 1 };
    expect(asked(looks(2000, hog), throttled).map(([at]) => at)).toEqual([0, 1000, 2000]);
  });

  test.each<[sentence: string, outcome: AttemptOutcome]>([
    ['an eviction', { kind: 'tooManyRequests', cause: 'throttled', ...MESSAGE, retryAfterSeconds: DAY_SECONDS }],
    ['a preflight', { kind: 'unconfirmed', ...MESSAGE, retryAfterSeconds: DAY_SECONDS }],
    ['an eviction under a spent budget', { ...BUDGET, retryAfterSeconds: DAY_SECONDS }],
  ])(
    '%s that may be repeated only in a day is repeated after a minute, in the severe stage after a second',
    (_, outcome) => {
      expect(asked(mild([0, 59_900, 60_000], hog), outcome).map(([at]) => at)).toEqual([0, 60_000]);
      expect(asked(looks(1000, hog), outcome).map(([at]) => at)).toEqual([0, 1000]);
    },
  );

  test.each<[sentence: string, outcome: AttemptOutcome]>([
    ['an API server', { kind: 'tooManyRequests', cause: 'throttled', ...MESSAGE, retryAfterSeconds: 60 }],
    ['a window', { kind: 'tooManyRequests', cause: 'nodeLimit', ...MESSAGE, retryAfterSeconds: 60 }],
    ['a budget', { ...BUDGET, retryAfterSeconds: 60 }],
    ['a right', { kind: 'forbidden', ...MESSAGE }],
  ])('a pause because of %s that began in the mild stage is over a second later in the severe one', (_, outcome) => {
    const moments = [...mild([0], hog), severe(900, hog), severe(1000, hog)];
    expect(asked(moments, outcome).map(([at]) => at)).toEqual([0, 1000]);
  });

  test.each<[scope: 'namespaceLimit' | 'nodeLimit' | 'clusterLimit', names: readonly string[]]>([
    ['namespaceLimit', ['hog', 'stranger']],
    ['nodeLimit', ['hog']],
    ['clusterLimit', ['hog']],
  ])('the webhook’s %s holds what its window counts, and no more', (scope, names) => {
    const outcome: AttemptOutcome = { kind: 'tooManyRequests', cause: scope, ...MESSAGE, retryAfterSeconds: 60 };
    const stranger: NodePod = { ...peer, name: 'stranger', namespace: 'other' };
    const moments = looks(900, hog, { ...small, usageMiB: 90 }, stranger);
    expect(asked(moments, outcome).map(([, name]) => name)).toEqual(names);
  });

  test('a pod whose GET always fails stops none that the kubelet would not evict after it, and no pod within its request goes', () => {
    const failing: AttemptOutcome = { kind: 'unconfirmed', ...MESSAGE, isAnswered: true };
    const within: NodePod = { name: 'within', requests: { memory: '400Mi' }, usageMiB: 300 };
    expect(asked(looks(300, hog, peer, within), failing).map(([, name]) => name)).toEqual(['hog', 'hog', 'peer']);
    expect(asked(looks(300, hog, small), failing).map(([, name]) => name)).toEqual(['hog', 'hog']);
    const alone = asked(looks(5000, hog, within), failing).map(([, name]) => name);
    expect(new Set(alone)).toEqual(new Set(['hog']));
  });

  const INTERNAL: AttemptOutcome = { kind: 'serverError', ...MESSAGE, status: 500 };
  const UNAVAILABLE: AttemptOutcome = { kind: 'serverError', ...MESSAGE, status: 503 };

  /** Looks every 100 ms; requests are answered in turn, and after an error the pod is read again and found unharmed. */
  function askedWithTrouble(answers: readonly AttemptOutcome[], untilMs: number, ...pods: readonly NodePod[]) {
    let state = FIRST_STATE;
    const found: (readonly [number, string])[] = [];
    for (const now of every(100, untilMs)) {
      const decision = decide(state, snapshot(severe(now, ...pods)), rules);
      state = decision.state;
      for (const { pod, mode } of decision.evictions) {
        const answer = answers[Math.min(found.length, answers.length - 1)] ?? INTERNAL;
        found.push([now, pod.name]);
        state = applyOutcome(state, { uid: pod.uid, mode }, answer, now);
        if (isUnclear(answer)) state = applyOutcome(state, { uid: pod.uid, mode }, { kind: 'foundUnharmed' }, now);
      }
    }
    return found;
  }

  test('one pod whose eviction always answers 500 stops none that the kubelet would not evict after it', () => {
    expect(askedWithTrouble([INTERNAL], 500, hog, peer)).toEqual([
      [0, 'hog'],
      [100, 'hog'],
      [200, 'peer'],
    ]);
    expect(askedWithTrouble([INTERNAL], 500, hog, small).flat()).toEqual([0, 'hog', 100, 'hog']);
  });

  test('a 500 that was over at once costs no other pod', () => {
    expect(askedWithTrouble([INTERNAL, { kind: 'evicted' }], 1000, hog, small)).toEqual([
      [0, 'hog'],
      [100, 'hog'],
    ]);
  });

  test('retries a pod whose eviction failed before the kernel kills', () => {
    const forbidden: AttemptOutcome = { kind: 'forbidden', ...MESSAGE };
    expect(askedWithTrouble([INTERNAL, INTERNAL, forbidden], 1100, hog, peer)).toEqual([
      [0, 'hog'],
      [100, 'hog'],
      [200, 'peer'],
      [1100, 'hog'],
    ]);
  });

  test('an API server that is not available is no reason to take another pod', () => {
    expect(askedWithTrouble([UNAVAILABLE], 150, hog, small)).toEqual([
      [0, 'hog'],
      [100, 'hog'],
    ]);
  });

  test('backs off for a second when the evictions of several pods in a row answer 500', () => {
    const pods = Array.from({ length: 9 }, (_, index) => ({ ...small, name: `pod-${index}` }));
    const times = askedWithTrouble([INTERNAL], 40_000, ...pods).map(([at]) => at);
    expect(times.slice(0, 7)).toEqual([0, 100, 200, 600, 1600, 2600, 3600]);
  });

  test('tries all of 25 pods with exhausted budgets within three seconds of the severe stage', () => {
    const guarded = Array.from({ length: 25 }, (_, index) => ({
      ...small,
      name: `guarded-${String(index).padStart(2, '0')}`,
      owner: `owner-${index}`,
      usageMiB: 100,
    }));
    const moments = looks(3000, ...guarded, { ...small, usageMiB: 100 }).map((moment) => ({
      ...moment,
      outcome: BUDGET,
    }));
    const times = runEpisode(moments, rules).steps.flatMap(({ evicted }, index) =>
      evicted.includes('small') ? [index * 100] : [],
    );
    expect(times).toEqual([2500]);
  });

  const DENIED: AttemptOutcome = {
    ...BUDGET,
    cause: 'webhook',
    message:
      'admission webhook "virt-launcher-eviction-interceptor.kubevirt.io" denied the request: Eviction triggered',
  };
  const guest = (index: number): NodePod => {
    const name = `vm-${String(index).padStart(2, '0')}`;
    return { ...peer, name, owner: name, ownerKind: 'VirtualMachineInstance' };
  };

  test('a denial by another project’s webhook concerns that pod for a minute, in the severe stage too', () => {
    expect(asked(looks(59_900, hog, small), DENIED)).toEqual([[0, 'hog']]);
    expect(asked(looks(59_900, hog, peer), DENIED).flat()).toEqual([0, 'hog', 100, 'peer']);
    expect(asked([severe(0, hog), severe(60_000, hog)], DENIED).map(([at]) => at)).toEqual([0, 60_000]);
    expect(asked(mild([0, 59_900, 60_000], hog), DENIED).map(([at]) => at)).toEqual([0, 60_000]);
  });

  test('20 virtual machines whose webhook denies are asked three times a minute, and stop no other pod', () => {
    const guests = Array.from({ length: 20 }, (_, index) => guest(index));
    const names = asked(looks(59_900, ...guests, { ...peer, name: 'web' }), DENIED).map(([, name]) => name);
    expect(names).toEqual(['vm-00', 'vm-01', 'vm-02', 'web']);
  });

  test('a pod that another program moves is not asked for, for ten minutes, in the severe stage for one', () => {
    const moving = { ...guest(0), annotations: { 'descheduler.alpha.kubernetes.io/eviction-in-progress': 'kubevirt' } };
    const gone: AttemptOutcome = { kind: 'evicted' };
    expect(asked([...mild([0, 569_900], moving)], gone)).toEqual([]);
    expect(asked([...mild([0, 570_000], moving)], gone)).toEqual([[570_000, 'vm-00']]);
    expect(asked([severe(0, moving), severe(59_900, moving)], gone)).toEqual([]);
    expect(asked([severe(0, moving), severe(60_000, moving)], gone)).toEqual([[60_000, 'vm-00']]);
    expect(asked(looks(1000, moving, small), gone)).toEqual([]);
  });

  test('an exhausted budget pauses the other pods of its owner', () => {
    const replicas = Array.from({ length: 25 }, (_, index) => ({ ...hog, name: `web-${index}`, owner: 'web' }));
    expect(asked(looks(300, ...replicas, { ...peer, name: 'x' }), BUDGET)).toEqual([
      [0, 'web-0'],
      [100, 'x'],
    ]);
  });

  test('the pause after an exhausted budget grows in the mild stage', () => {
    const moments = mild(every(1000, 99_000), hog);
    expect(asked(moments, BUDGET).map(([at]) => at)).toEqual([0, 10_000, 30_000, 70_000]);
  });

  test('a lost answer counts as a success once its pod terminates', () => {
    const terminating: NodePod = { ...hog, deletion: { at: 0, gracePeriodSeconds: 1 } };
    const lost: AttemptOutcome = { kind: 'unreachable', ...MESSAGE };
    const { state } = runEpisode([{ ...severe(0, hog, small), outcome: lost }, severe(500, terminating, small)], rules);
    expect(state.evictions.Enforce.inflight.map(({ name, phase }) => [name, phase])).toEqual([['hog', 'ending']]);
  });
});
