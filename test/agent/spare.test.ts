import { describe, expect, test } from 'vitest';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { decide, type PassResult } from '#shared/decide/eviction/decide.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createAgentMetrics } from '#agent/report/agent-metrics.ts';
import { createSpareMeter, type SparePorts } from '#agent/spare.ts';
import { type NodePressureObject, readNodePressure } from '#agent/observe/api-server/node-pressure-object.ts';
import { nodePressureStatus } from '#agent/report/node-pressure-status.ts';
import { encodeStatus } from '#shared/api/node-pressure.ts';
import type { SpareStatus } from '#shared/api/spare-status.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { NO_SPARE } from '#shared/domain/spare/spare-settings.ts';
import { MIB, type NodePod, policy, type Scene, snapshot } from '#test/agent/node-scene.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const MINUTE = 60_000;
const ENFORCE = { ...NO_SPARE, mode: 'Enforce' } as const;
const IDLE = { availableCores: 3, cores: 4 };
const NOTHING: NodePressureObject = readNodePressure({});

const important: NodePod = { name: 'important', requests: { memory: '900Mi', cpu: '2' }, usageMiB: 300 };
const spare = (name: string, mib: number): NodePod => ({
  name,
  requests: { 'plimsoll.dev/spare-memory': String(mib * MIB), 'plimsoll.dev/spare-cpu': '500' },
  usageMiB: mib / 2,
});

function rig(ports: Partial<SparePorts> = {}, startMs = Date.UTC(2026, 0, 1)) {
  const clock = manualClock(startMs);
  const meter = createSpareMeter({
    allocatable: () => ({ memory: 950 * MIB, cpu: 4_000 }),
    arePodsKnown: () => true,
    isPolicyKnown: () => true,
    previousStatus: () => NOTHING.status,
    clock,
    ...ports,
  });
  const rules = { ...policy(), spare: ENFORCE };
  let result: PassResult | undefined;

  /** Passes of so many minutes. */
  async function pass(minutes: number, scene: Partial<Scene>, changes: Partial<AgentPolicy> = {}) {
    const of = snapshot({ now: 0, availableMiB: 700, pods: [important], ...scene }).pods;
    for (let at = 0; at <= minutes * MINUTE; at += 10_000) {
      const now = clock.monotonic();
      const seen = snapshot({ now, availableMiB: 700, pods: [important], ...scene });
      const inForce = { ...rules, ...changes };
      const whole = { ...seen, cpu: IDLE, pods: scene.snapshot?.pods ?? of, ...scene.snapshot };
      result = { snapshot: whole, policy: inForce, decision: decide(FIRST_STATE, whole, inForce) };
      meter.passed(result);
      if (at < minutes * MINUTE) await clock.advance(10_000);
    }
    return meter.status();
  }

  /** The NodePressure that an agent wrote, as the next one reads it. */
  function written(spareStatus: SpareStatus | undefined) {
    if (result === undefined) throw new Error('no pass has run');
    const status = nodePressureStatus(result, {
      agent: { version: '1', pod: 'agent-x' },
      records: [],
      doubts: { sources: undefined, policies: { count: 0, problem: undefined } },
      wallOffsetMs: clock.now() - clock.monotonic(),
      generation: undefined,
      previous: undefined,
      spare: spareStatus,
    });
    return readNodePressure({ status: encodeStatus(status) }).status;
  }
  async function shown(spareStatus: SpareStatus | undefined): Promise<string> {
    const metrics = createMetrics('agent');
    if (result === undefined) await pass(0, {});
    if (result === undefined) throw new Error('no pass has run');
    const sources = { health: [], verdicts: [], hasFallenBack: false, groups: new Map() };
    createAgentMetrics(metrics).show(result, sources, clock.monotonic(), spareStatus);
    return metrics.text();
  }
  return { clock, meter, pass, written, shown };
}

test('metrics show spare room while it is measured, and what is lent only where it is offered', async () => {
  const { pass, shown } = rig();
  const lines = async (status: SpareStatus | undefined) => {
    const text = await shown(status);
    return new Map(
      [...text.matchAll(/^plimsoll_spare_room\{(.*)\} (.*)$/gm)].map(([, labels, value]) => [labels, value]),
    );
  };
  expect(await lines(undefined)).toEqual(new Map());
  const status = await pass(70, {});
  const offered = await lines(status);
  expect(offered.get('resource="memory",figure="requested"')).toBe(String(900 * MIB));
  expect(offered.get('resource="cpu",figure="requested"')).toBe('2');
  expect(offered.get('resource="memory",figure="lent"')).toBe(String(status?.memory.lent));
  const dry = await lines(await pass(1, {}, { mode: 'DryRun' }));
  expect([dry.size, dry.has('resource="memory",figure="lent"')]).toEqual([8, false]);
});

describe('the spare room that an agent reports', () => {
  test('is nothing at all unless the policy asks for it, and nothing once it asks no more', async () => {
    const { pass } = rig();
    expect(await pass(1, {}, { spare: NO_SPARE })).toBeUndefined();
    expect(await pass(1, {})).toBeDefined();
    expect(await pass(1, {}, { spare: NO_SPARE })).toBeUndefined();
  });

  test('of an earlier agent stays until it is known that no policy asks for it', async () => {
    let isPolicyKnown = false;
    const { pass, meter } = rig({ isPolicyKnown: () => isPolicyKnown });
    await pass(0, {}, { spare: NO_SPARE });
    expect(meter.isUnwanted()).toBe(false);
    isPolicyKnown = true;
    expect(meter.isUnwanted()).toBe(false);
    await pass(0, {}, { spare: NO_SPARE });
    expect(meter.isUnwanted()).toBe(true);
    await pass(0, {});
    expect(meter.isUnwanted()).toBe(false);
  });

  test('of an earlier agent does not outlive a minute in which nothing could be measured', async () => {
    const { pass, meter } = rig({ allocatable: () => undefined });
    await pass(1, {});
    expect(meter.isUnwanted()).toBe(false);
    await pass(1, {});
    expect(meter.isUnwanted()).toBe(true);
  });

  test('counts what spare pods use and request apart from everything else', async () => {
    const { pass } = rig();
    await pass(70, {});
    const status = await pass(10, { availableMiB: 600, pods: [important, spare('a', 100), spare('b', 100)] });
    expect(status).toMatchObject({
      mode: 'Enforce',
      memory: { requested: 900 * MIB, used: 300 * MIB, taken: 200 * MIB, because: { code: 'Room' } },
      cpu: { requested: 2_000, taken: 1_000, used: 1_000 },
    });
    expect(status?.memory.lent).toBeGreaterThan(300 * MIB);
    expect(status?.memory.lent).toBeLessThan(700 * MIB);
    expect(status?.memory.median).toBeGreaterThanOrEqual(300 * MIB);
  });

  test('can be written and read whatever pods claim: an amount too large for the field would end all reports', async () => {
    const most = '9000000000000000000';
    const requests = { 'plimsoll.dev/spare-memory': most, 'plimsoll.dev/spare-cpu': most };
    const claims: readonly NodePod[] = [
      { name: 'a', requests, usageMiB: 1 },
      { name: 'b', requests, usageMiB: 1 },
      { name: 'bound-by-hand', requests: { cpu: '9E', memory: '9E' }, usageMiB: 1 },
    ];
    const { pass, written } = rig();
    const status = await pass(1, { pods: [important, ...claims] });
    const { memory, cpu } = status ?? {};
    for (const entry of [memory, cpu])
      for (const amount of Object.values(entry ?? {}).filter((each) => typeof each === 'number'))
        expect(amount).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
    expect(memory?.taken).toBe(Number.MAX_SAFE_INTEGER);
    expect(written(status).spare?.memory).toEqual(memory);
  });

  test.each<[string, Partial<AgentPolicy>]>([
    ['the policy evicts in a dry run', { mode: 'DryRun' }],
    ['spare room is in a dry run', { spare: { ...ENFORCE, mode: 'DryRun' } }],
  ])('is not to be offered while %s', async (_, changes) => {
    expect(await rig().pass(70, {}, changes)).toMatchObject({ mode: 'DryRun', memory: { because: { code: 'Room' } } });
  });

  test('is put into words once for each measurement, and again when the policy changes', async () => {
    const { pass, meter } = rig();
    const measured = await pass(1, {});
    expect(meter.status()).toBe(measured);
    expect(await pass(0, {}, { mode: 'DryRun' })).toMatchObject({ mode: 'DryRun' });
    expect(await pass(1, {})).not.toBe(measured);
  });

  test('is nothing where no threshold makes spare pods go', async () => {
    const status = await rig().pass(70, {}, { thresholds: [] });
    expect(status).toMatchObject({ memory: { lent: 0, because: { code: 'NoThreshold' } }, cpu: { lent: 0 } });
  });

  test('is nothing while sources contradict each other', async () => {
    const because = { code: 'SourcesDisagree', text: 'they do', facts: {} };
    const { pass } = rig();
    await pass(70, {});
    const doubts = { doubts: new Map([['memory.available' as const, because]]) };
    expect(await pass(1, { snapshot: doubts })).toMatchObject({ memory: { lent: 0, because: { code: 'Doubtful' } } });
  });

  test('goes on over a restart, and rises only once half an hour is known again', async () => {
    const first = rig();
    const before = await first.pass(70, {});
    const second = rig({ previousStatus: () => first.written(before) }, first.clock.now() + MINUTE);
    const after = await second.pass(0, {});
    expect(after).toMatchObject({ memory: { lent: before?.memory.lent, because: { code: 'Room' } } });
    expect(after?.since).toBe(before?.since);
  });

  test('is not decided from pods that are not all known: one that is left out could be ended', async () => {
    const { pass } = rig();
    const before = await pass(70, { pods: [important, spare('a', 100)], availableMiB: 650 });
    const { pods } = snapshot({ now: 0, availableMiB: 700, pods: [important] });
    const unread = { pods: { ...pods, unreadable: ['default/a: spec: expected an object'] } };
    expect((await pass(1, { snapshot: unread }))?.memory).toEqual(before?.memory);
    expect(before?.mode).toBe('Enforce');
    expect((await pass(1, { snapshot: unread }))?.mode).toBe('DryRun');
    expect((await pass(1, {}))?.mode).toBe('Enforce');
    expect(await rig({ arePodsKnown: () => false }).pass(70, {})).toBeUndefined();
    expect(await rig({ allocatable: () => undefined }).pass(70, {})).toBeUndefined();
    expect(await rig({ previousStatus: () => undefined }).pass(70, {})).toBeUndefined();
  });
});
