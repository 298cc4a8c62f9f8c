import { describe, expect, test } from 'vitest';
import { type CpuScene, burning } from '#test/shared/decide/throttle/cpu-scene.ts';
import { rig, SHORT } from './throttle-rig.ts';

/** Room for a part of the limit only. */
const PARTLY: CpuScene = { pods: [burning('hog', 1750)], idle: 0.6 };

const low = async () => {
  const made = rig();
  await made.seconds(4);
  made.state.scene = { ...PARTLY, idle: 0.25 };
  await made.seconds(4);
  expect(made.state.limit).toBe('1750m');
  return made;
};

describe('a limit that is to be raised in part', () => {
  test.each<[string, object, string]>([
    ['has ended', { phase: 'Succeeded' }, '1750m'],
    ['was replaced', { uid: 'uid-other' }, '1750m'],
    ['got another limit', { limit: '3', applied: '3', version: 9 }, '3'],
  ])('is forgotten if its pod %s, so that it holds up no other', async (_, change, limit) => {
    const { state, throttle, seconds, resizes } = await low();
    Object.assign(state, change, { scene: PARTLY });
    await seconds(4);
    expect([throttle.status(), resizes().length, state.limit]).toEqual([[], 1, limit]);
  });

  test('is not asked for again and again where it is refused, and comes back whole', async () => {
    const { state, seconds, resizes } = await low();
    Object.assign(state, { scene: PARTLY, refusal: 'forbidden' });
    await seconds(60);
    expect(resizes().length).toBe(2);
    Object.assign(state, { scene: { ...PARTLY, idle: 3 }, refusal: undefined });
    await seconds(2);
    expect(state.limit).toBe('4000m');
  });
});

describe('no limit is lowered', () => {
  test.each<[string, CpuScene]>([
    ['the policy no longer asks for it', { ...SHORT, spec: { relief: ['Evict'] } }],
    ['the policy became a dry run', { ...SHORT, spec: { mode: 'DryRun', cpu: {} } }],
    ['the shortage is over', { ...SHORT, idle: 3 }],
    ['the agent may not act', { ...SHORT, snapshot: { closedGates: [{ code: 'Silent', text: '', facts: {} }] } }],
  ])('once the status shows it, if %s meanwhile', async (_, scene) => {
    const { state, throttle, seconds, resizes } = rig();
    await seconds(1);
    expect(state.written).toHaveLength(1);
    state.scene = scene;
    await seconds(3);
    expect([resizes(), throttle.status()]).toEqual([[], []]);
  });

  test('a second time by what was measured before the first', async () => {
    const { state, seconds, resizes } = rig();
    await seconds(3);
    state.measuredAt = 3000;
    await seconds(60);
    expect(resizes().length).toBe(1);
  });

  test('in the stead of a pod that takes more, and that turns out to have no limit that can be lowered', async () => {
    const { state, seconds, resizes } = rig();
    state.scene = { pods: [burning('taker', 3500), burning('hog', 700)] };
    await seconds(90);
    expect(resizes()).toEqual([]);
  });

  test('of a pod whose autoscaler would take the lower limit for its own', async () => {
    const { seconds, resizes } = rig({ annotations: { vpaObservedContainers: 'main' } });
    await seconds(30);
    expect(resizes()).toEqual([]);
  });
});
