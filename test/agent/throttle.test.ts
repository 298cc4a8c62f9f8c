import { describe, expect, test } from 'vitest';
import type { ThrottledEntry } from '#shared/api/node-pressure.ts';
import type { FailureKind } from '#shared/kube/client/outcome.ts';
import { type CpuScene, burning } from '#test/shared/decide/throttle/cpu-scene.ts';
import { rig, SHORT } from './throttle-rig.ts';

const OVER: CpuScene = { pods: [burning('hog', 1750)], idle: 3 };
const ENTRY: ThrottledEntry = {
  pod: 'default/hog',
  uid: 'uid-hog',
  container: 'main',
  before: 4000,
  from: 4000,
  to: 1750,
  used: 3000,
  at: Date.UTC(2026, 0, 1),
  because: { code: 'CpuLimitLowered', text: 'the node is short of CPU', facts: {} },
};

describe('while the node is short of CPU', () => {
  test('one limit is lowered, once the status shows it, with the version and UID of the pod that was read', async () => {
    const { state, throttle, seconds, resizes, reasons } = rig();
    state.isWriting = false;
    await seconds(5);
    expect(throttle.status()).toMatchObject([{ uid: 'uid-hog', before: 4000, to: 1750 }]);
    expect(resizes()).toEqual([]);
    state.isWriting = true;
    await seconds(2);
    const containers = [{ name: 'main', resources: { limits: { cpu: '1750m' } } }];
    expect(resizes()).toMatchObject([
      { method: 'PATCH', body: { metadata: { uid: 'uid-hog', resourceVersion: '1' }, spec: { containers } } },
    ]);
    expect(reasons()).toEqual(['CPULimitLowered']);
  });

  test('it is lowered further in steps, each of which begins from what the status says', async () => {
    const { state, throttle, seconds } = rig();
    await seconds(8);
    expect(throttle.status()).toMatchObject([{ before: 4000, from: 1750, to: 1125, used: 3000 }]);
    expect(state.limit).toBe('1125m');
  });

  test('a status that cannot be written leaves every limit as it is', async () => {
    const { state, throttle, seconds, resizes } = rig();
    state.isWriting = false;
    await seconds(13);
    expect([resizes(), throttle.status()]).toEqual([[], []]);
  });

  test.each<[string, Parameters<typeof rig>[0], (state: ReturnType<typeof rig>['state']) => void]>([
    [
      'a quota counts limits',
      {},
      (state) => void (state.quotas = [{ spec: { hard: { 'limits.cpu': '8' } }, metadata: { name: 'q' } }]),
    ],
    ['the quotas cannot be read', {}, (state) => void (state.quotas = [7 as unknown as object])],
    [
      'its container would be restarted',
      { pod: { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] } },
      () => undefined,
    ],
    ['it has no limit', { pod: { resources: { requests: { cpu: '500m' } } } }, () => undefined],
    [
      'a resize of it has not ended',
      {},
      (state) => void (state.conditions = [{ type: 'PodResizePending', status: 'True' }]),
    ],
    ['it is another pod of the same name', {}, (state) => void (state.uid = 'uid-other')],
  ])('a pod is left alone if %s, and read no more than once a minute', async (_, given, change) => {
    const { state, seconds, resizes, requests } = rig(given);
    change(state);
    await seconds(59);
    expect(resizes()).toEqual([]);
    expect(requests.length).toBeLessThanOrEqual(3);
  });

  test('a dry run asks the API server and stores nothing', async () => {
    const { state, throttle, seconds, resizes, reasons } = rig();
    state.scene = { ...SHORT, spec: { cpu: {} } };
    await seconds(20);
    expect(resizes()).toMatchObject([{ query: { dryRun: 'All' } }]);
    expect([state.limit, throttle.status(), reasons()]).toEqual(['4', undefined, ['CPULimitLowered']]);
  });

  test.each<FailureKind>(['forbidden', 'invalid'])('a limit that is %s stays, and is asked for once', async (kind) => {
    const { state, throttle, seconds, resizes } = rig();
    state.refusal = kind;
    await seconds(60);
    expect([resizes().length, throttle.status()]).toEqual([1, []]);
  });

  test('a change of the pod meanwhile is no obstacle, and a lost answer is found out', async () => {
    const { state, throttle, seconds } = rig();
    await seconds(1);
    Object.assign(state, { refusal: 'conflict' });
    await seconds(2);
    Object.assign(state, { refusal: undefined, isLost: true });
    await seconds(2);
    expect([state.limit, throttle.status()?.length]).toEqual(['1750m', 1]);
  });

  test('a change whose answer stays out is not forgotten: the limit comes back if it took effect after all', async () => {
    const { state, throttle, seconds } = rig();
    await seconds(1);
    state.refusal = 'timeout';
    await seconds(13);
    expect([state.limit, throttle.status()?.length]).toEqual(['4', 1]);
    Object.assign(state, { refusal: undefined, limit: '1750m', applied: '1750m', scene: OVER });
    await seconds(4);
    expect([state.limit, throttle.status()]).toEqual(['4000m', []]);
  });

  test('what the kubelet does not apply within half a minute is taken back', async () => {
    const { state, throttle, seconds, reasons } = rig();
    state.isApplying = false;
    await seconds(3);
    state.conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }];
    await seconds(40);
    expect([state.limit, throttle.status(), reasons()]).toEqual(['4000m', [], ['CPULimitLowered', 'CPULimitRestored']]);
  });
});

describe('a limit that is low', () => {
  const low = async (given: Parameters<typeof rig>[0] = {}) => {
    const made = rig(given);
    await made.seconds(4);
    expect(made.state.limit).toBe('1750m');
    return made;
  };

  test('is back within five seconds after the shortage', async () => {
    const { state, throttle, seconds } = await low();
    state.scene = OVER;
    await seconds(3);
    expect([state.limit, throttle.status()]).toEqual(['4000m', []]);
  });

  test.each<[string, CpuScene]>([
    ['the field is removed', { ...SHORT, spec: { relief: ['Evict'] } }],
    ['the policy becomes a dry run', { ...SHORT, spec: { mode: 'DryRun', cpu: {} } }],
  ])('is back at once when %s', async (_, scene) => {
    const { state, seconds } = await low();
    state.scene = scene;
    await seconds(1);
    expect(state.limit).toBe('4000m');
  });

  test('is back when the agent stops', async () => {
    const made = await low();
    await made.throttle.release();
    expect(made.state.limit).toBe('4000m');
  });

  test('is raised in part by what is idle, once the status shows it', async () => {
    const { state, throttle, seconds } = await low();
    state.scene = { pods: [burning('hog', 1750)], idle: 1 };
    await seconds(3);
    expect(throttle.status()).toMatchObject([{ before: 4000, from: 1750, to: 2550 }]);
    expect(state.limit).toBe('2550m');
  });

  test('is somebody else’s once they change it, and is not lowered again at once', async () => {
    const { state, throttle, seconds } = await low();
    Object.assign(state, { limit: '3', applied: '3', version: 9, scene: OVER });
    await seconds(2);
    expect([state.limit, throttle.status()]).toEqual(['3', []]);
  });

  test('is forgotten when the pod has ended', async () => {
    const { state, throttle, seconds, resizes } = await low();
    Object.assign(state, { phase: 'Succeeded', scene: OVER });
    await seconds(2);
    expect([resizes().length, throttle.status()]).toEqual([1, []]);
  });

  test('stays low while the API server is away, and is back within five seconds of its return', async () => {
    const { state, seconds } = await low();
    Object.assign(state, { scene: OVER, isUnreachable: true });
    await seconds(120);
    state.isUnreachable = false;
    await seconds(4);
    expect(state.limit).toBe('4000m');
  });

  test('is asked back again and again where it is refused, and an Event says so', async () => {
    const { state, throttle, seconds, reasons } = await low();
    Object.assign(state, { scene: OVER, refusal: 'forbidden' });
    await seconds(5);
    expect(reasons()).toContain('CPULimitNotRestored');
    Object.assign(state, { refusal: undefined });
    await seconds(4);
    expect([state.limit, throttle.status()]).toEqual(['4000m', []]);
  });
});

describe('an agent that starts after kill -9', () => {
  const starts = (limit: string, previous: readonly ThrottledEntry[], made = rig({ previous })) => {
    Object.assign(made.state, { limit, applied: limit, scene: { ...SHORT, snapshot: { cpu: undefined } } });
    return made;
  };

  test.each<[string, string, readonly ThrottledEntry[], string]>([
    ['gives back what it finds lowered', '1750m', [ENTRY], '4000m'],
    ['gives back what the next step had not reached yet', '1750m', [{ ...ENTRY, from: 1750, to: 1125 }], '4000m'],
    ['leaves a limit that was not lowered any more', '4', [ENTRY], '4'],
    ['leaves a limit that somebody else has set', '3', [ENTRY], '3'],
  ])('%s', async (_, limit, previous, expected) => {
    const { state, throttle, seconds } = starts(limit, previous);
    await seconds(2);
    expect([state.limit, throttle.status()]).toEqual([expected, []]);
  });

  test.each([[undefined], [[]]])(
    'gives back what an outdated read of the status, %j, did not show',
    async (outdated) => {
      const { state, throttle, seconds } = starts('1750m', [], rig({ previous: outdated }));
      await seconds(3);
      expect([state.limit, throttle.status()]).toEqual(['1750m', undefined]);
      state.previous = [ENTRY];
      await seconds(2);
      expect([state.limit, throttle.status()]).toEqual(['4000m', []]);
    },
  );

  test('asks for nothing where nothing was lowered', async () => {
    const { seconds, throttle, requests } = starts('4', []);
    await seconds(3);
    expect([requests, throttle.status()]).toEqual([[], undefined]);
  });
});
