import { describe, expect, test } from 'vitest';
import type { ThrottledEntry } from '#shared/api/node-pressure.ts';
import { cpuShortage, lowerLimit, podsToThrottle, raiseLimit } from '#shared/decide/throttle/throttle-cpu.ts';
import type { NodePod } from '#test/agent/node-scene.ts';
import { type CpuScene, burning, cpuPass } from './cpu-scene.ts';

const MINUTE = 60_000;
const HOG = burning('hog', 3000);
const SHORT = { mode: 'Enforce', gap: 200 } as const;
const names = (scene: CpuScene) => podsToThrottle(cpuPass(scene), SHORT).map(({ facts }) => facts.pod.name);
const waits = (share: number, throttled = 0) => ({ waiting: { cpu: share }, stalled: {}, throttled });

describe('a shortage of CPU', () => {
  test('is what is missing of the idle CPU that the rule keeps free, in the mode of the rule', () => {
    expect(cpuShortage(cpuPass({}))).toEqual({ mode: 'Enforce', gap: 200 });
    expect(cpuShortage(cpuPass({ idle: 0.15 }))).toEqual({ mode: 'Enforce', gap: 50 });
    expect(cpuShortage(cpuPass({ spec: { cpu: { mode: 'DryRun' } } }))).toEqual({ mode: 'DryRun', gap: 200 });
    expect(cpuShortage(cpuPass({ spec: { mode: 'DryRun', cpu: {} } }))).toEqual({ mode: 'DryRun', gap: 200 });
  });

  test.each<[string, CpuScene]>([
    ['without ThrottleCPU in the policy', { spec: { relief: ['Evict'] } }],
    ['while enough is idle', { idle: 0.2 }],
    ['while no task waits', { waiting: 0 }],
    ['where idle CPU is not measured', { snapshot: { cpu: { availableCores: 0, cores: 4 } } }],
    ['while the agent may not act', { snapshot: { closedGates: [{ code: 'WarmingUp', text: '', facts: {} }] } }],
  ])('is none %s', (_, scene) => {
    expect(cpuShortage(cpuPass(scene))).toBeUndefined();
  });
});

describe('pods that are throttled', () => {
  test('are those above their request, the lowest priority first, then the largest overage', () => {
    const low = burning('low', 600, { priority: -1 });
    expect(names({ pods: [HOG, burning('more', 3500), low, burning('modest', 500)] })).toEqual(['low', 'more', 'hog']);
  });

  test.each<[string, Partial<NodePod>, readonly string[]]>([
    ['is throttled itself', {}, ['lesser']],
    ['cannot be throttled', { requests: {} }, []],
    ['takes less than what is missing', { cpuNanoCores: 650e6 }, ['lesser', 'hog']],
  ])('are not throttled in the stead of a less important one, which %s', (_, fields, expected) => {
    const lesser = burning('lesser', 900, { priority: -1, ...fields });
    expect(names({ pods: [HOG, lesser] })).toEqual(expected);
  });

  test.each<[string, Partial<NodePod>, ReadonlySet<string>, readonly string[]]>([
    ['is BestEffort', { requests: {} }, new Set(), []],
    ['opted out', { annotations: { 'plimsoll.dev/evict': 'never' } }, new Set(), []],
    ['has no limit', {}, new Set(['uid-taker']), []],
    ['has no limit, but takes less than what is missing', { cpuNanoCores: 690e6 }, new Set(['uid-taker']), ['modest']],
    ['can be throttled', {}, new Set(), ['taker', 'modest']],
  ])('are not throttled in the stead of an equal one that takes more, which %s', (_, fields, cannot, expected) => {
    const pods = [burning('modest', 650), burning('taker', 3500, fields)];
    const found = podsToThrottle(cpuPass({ pods }), SHORT, (uid) => cannot.has(uid));
    expect(found.map(({ facts }) => facts.pod.name)).toEqual(expected);
  });

  test.each<[string, CpuScene]>([
    ['is BestEffort', { pods: [burning('a', 900, { requests: {} })] }],
    ['was not measured', { pods: [{ name: 'a', requests: { cpu: '1m' }, usageMiB: 9 }] }],
    ['opted out of evictions', { pods: [{ ...HOG, annotations: { 'plimsoll.dev/evict': 'never' } }] }],
    ['is in kube-system', { pods: [{ ...HOG, namespace: 'kube-system' }] }],
    ['is in a namespace of unknown labels', { pods: [HOG], snapshot: { namespaces: new Map() } }],
    ['alone waits', { pods: [HOG], snapshot: { podPressures: new Map([['uid-hog', waits(0.9)]]) } }],
    [
      'makes only less important pods wait',
      {
        pods: [HOG, burning('other', 9, { priority: -1 })],
        snapshot: { podPressures: new Map([['uid-other', waits(0.9)]]) },
      },
    ],
    [
      'makes only pods wait that their own limit holds',
      { pods: [HOG, burning('other', 9)], snapshot: { podPressures: new Map([['uid-other', waits(0.9, 0.5)]]) } },
    ],
  ])('are none that %s', (_, scene) => {
    expect(names(scene)).toEqual([]);
  });

  test('are those that keep another pod waiting', () => {
    const podPressures = new Map([['uid-other', waits(0.2)]]);
    expect(names({ pods: [HOG, burning('other', 9)], snapshot: { podPressures } })).toEqual(['hog']);
  });
});

const [CANDIDATE] = podsToThrottle(cpuPass({ pods: [HOG] }), SHORT);
const CPU = { container: 'main', request: 500, limit: 4000 };
const lowered = (cpu: Partial<typeof CPU> = {}, gap = 200, earlier?: ThrottledEntry) =>
  CANDIDATE && lowerLimit(CANDIDATE, { ...CPU, ...cpu }, gap, { earlier, now: 7 });
const ENTRY = lowered() as ThrottledEntry;

describe('a limit', () => {
  test('is lowered by what is missing, at least half of the overage, and the old one is kept', () => {
    expect(ENTRY).toMatchObject({ pod: 'default/hog', uid: 'uid-hog', before: 4000, from: 4000, to: 1750, at: 7 });
    expect(ENTRY.because).toMatchObject({ code: 'CpuLimitLowered' });
    expect(lowered({}, 2000)?.to).toBe(1000);
  });

  test('is lowered further from where it is, to what it was before the first time', () => {
    expect(lowered({ limit: 1750 }, 200, ENTRY)).toMatchObject({
      before: 4000,
      from: 1750,
      to: 1125,
      used: 3000,
      at: 7,
    });
  });

  test('never falls to the request, nor below what the kernel enforces', () => {
    expect(lowered({}, 9000)?.to).toBe(501);
    expect(lowered({ request: 0 }, 9000)?.to).toBe(10);
  });

  test('stays if nothing is gained', () => {
    expect(lowered({ limit: 505 })).toBeUndefined();
  });
});

describe('a lowered limit', () => {
  const pods = [burning('hog', 1750)];
  const raised = (scene: CpuScene, now = 8) => raiseLimit(ENTRY, cpuPass({ pods, ...scene }), now);

  test('stays while the node has no more idle CPU than it is to have', () => {
    expect(raised({})).toBeUndefined();
    expect(raised({ idle: 0.3 })).toBeUndefined();
  });

  test('is raised by what is idle beyond that', () => {
    expect(raised({ idle: 1 })).toMatchObject({ limit: 2550, isWhole: false });
  });

  test('comes back whole once all that it held back fits, or the pod wants no more', () => {
    const whole = { limit: 4000, isWhole: true, because: { code: 'CpuNoLongerShort' } };
    expect(raised({ idle: 1.45 })).toMatchObject(whole);
    expect(raised({ pods: [burning('hog', 100)], idle: 0.2 })).toMatchObject(whole);
  });

  test.each<[string, string, CpuScene, number]>([
    ['the policy no longer asks for it', 'ThrottlingNotAsked', { spec: { relief: ['Evict'] } }, 8],
    ['the policy is a dry run', 'ThrottlingNotAsked', { spec: { mode: 'DryRun', cpu: {} } }, 8],
    ['the mode for CPU is a dry run', 'ThrottlingNotAsked', { spec: { cpu: {} } }, 8],
    ['idle CPU is not known, as at the start of an agent', 'CpuNotMeasured', { snapshot: { cpu: undefined } }, 8],
    ['it has been low for ten minutes', 'ThrottledLongest', {}, 7 + 10 * MINUTE],
    ['the clock went back', 'ThrottledLongest', {}, -2 * MINUTE],
  ])('comes back when %s', (_, code, scene, now) => {
    expect(raised(scene, now)).toMatchObject({ limit: 4000, isWhole: true, because: { code } });
  });
});
