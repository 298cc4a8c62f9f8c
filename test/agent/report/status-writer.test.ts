import { describe, expect, test } from 'vitest';
import { at } from '#test/contract/harness.ts';
import { createPublisher, createStatusWriter, type StatusWriter } from '#agent/report/status-writer.ts';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { decide, type PassResult } from '#shared/decide/eviction/decide.ts';
import type { AgentMetrics } from '#agent/report/agent-metrics.ts';
import type { SourcesShown } from '#agent/report/source-metrics.ts';
import type { PreviousStatus } from '#agent/observe/api-server/node-pressure-object.ts';
import { nodePressureStatus } from '#agent/report/node-pressure-status.ts';
import type { NodePressureStatus } from '#shared/api/node-pressure.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { snapshot, type NodePod, policy, type Scene } from '#test/agent/node-scene.ts';
import { type ManualClock, manualClock } from '#test/fakes/manual-clock.ts';
import { randomSource } from '#test/fakes/random-source.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const FLEET = 5000;

const pod = (name: string, usageMiB: number): NodePod => ({ name, requests: { memory: '10Mi' }, usageMiB });

const NO_DOUBTS = { sources: undefined, policies: { count: 0, problem: undefined } };

function passOf(scene: Omit<Scene, 'now'>): PassResult {
  const seen = snapshot({ now: 0, ...scene });
  const rules = policy();
  return { snapshot: seen, policy: rules, decision: decide(FIRST_STATE, seen, rules) };
}

function statusOf(scene: Omit<Scene, 'now'>): NodePressureStatus {
  return nodePressureStatus(passOf(scene), {
    agent: { version: '1', pod: 'agent-x' },
    records: [],
    doubts: NO_DOUBTS,
    wallOffsetMs: 0,
    generation: undefined,
    previous: undefined,
  });
}

const IDLE = { cpu: { availableCores: 4, cores: 4 } };
const TWO = [pod('a', 50), pod('b', 40)];
const CALM_SCENE = { availableMiB: 900, pods: TWO, snapshot: IDLE };
const CALM = statusOf(CALM_SCENE);
const OTHER_AMOUNTS = statusOf({ availableMiB: 890, pods: TWO, snapshot: IDLE });
const MOVED_AMOUNTS = statusOf({ availableMiB: 840, pods: TWO, snapshot: IDLE });
const OTHER_ORDER = statusOf({
  availableMiB: 900,
  pods: [pod('a', 40), pod('b', 50)],
  snapshot: IDLE,
});
const NO_CORE_IDLES = statusOf({ availableMiB: 900, pods: TWO, snapshot: { cpu: { availableCores: 0, cores: 4 } } });
const ROOM = { requested: 0, used: 0, median: 0, p99: 0, highest: 0, taken: 0, lendable: 1, lent: 1 };
const LENT = { ...ROOM, because: { code: 'Room', text: '', facts: {} } };
const LENDING = {
  ...CALM,
  spare: { mode: 'Enforce' as const, since: 0, memory: LENT, cpu: LENT, digest: '' },
};
const WAITING = { ...CALM, pods: CALM.pods?.map((each) => ({ ...each, waiting: { cpu: 80 } })) };
const TAKEN = { ...LENDING, spare: { ...LENDING.spare, memory: { ...LENT, taken: 1 } } };
const UNPROBED = { ...LENDING, agent: { version: '1', pod: '' } };
const SHORT_SCENE = { availableMiB: 50, pods: [pod('a', 500), pod('b', 400)] };
const SHORT = statusOf(SHORT_SCENE);
const SHORT_OTHER_ORDER = statusOf({ availableMiB: 50, pods: [pod('a', 400), pod('b', 500)] });
const SHORT_OTHER_AMOUNTS = statusOf({ availableMiB: 49, pods: [pod('a', 499), pod('b', 400)] });

interface Rig {
  readonly clock: ManualClock;
  readonly writer: StatusWriter;
  /** When each write was sent, in milliseconds. */
  readonly sentAt: number[];
  readonly logged: unknown[];
  /** Asks to write every so often until then. */
  readonly keepWriting: (status: () => NodePressureStatus, everyMs: number, untilMs: number) => Promise<void>;
}

function rig(
  answer: () => Outcome<unknown> = () => ({ kind: 'ok', object: { metadata: {} }, warnings: [] }),
  seed = 1,
): Rig {
  const clock = manualClock();
  const sentAt: number[] = [];
  const logged: unknown[] = [];
  const request = (): Promise<unknown> => {
    sentAt.push(clock.monotonic());
    return Promise.resolve(answer());
  };
  const writer = createStatusWriter({
    target: {
      client: { request } as unknown as KubeClient,
      nodeName: 'n1',
      nodeUid: () => undefined,
      isSpareUnwanted: () => false,
    },
    periodMs: 360 * SECOND,
    clock,
    random: randomSource(seed).next,
    log: { info: () => undefined, warn: (each: unknown) => void logged.push(each) },
  });
  async function keepWriting(status: () => NodePressureStatus, everyMs: number, untilMs: number): Promise<void> {
    while (clock.monotonic() < untilMs) {
      await writer.write(status(), new AbortController().signal);
      await clock.advance(everyMs);
    }
  }
  return { clock, writer, sentAt, logged, keepWriting };
}

describe('createStatusWriter', () => {
  test.each<[sentence: string, before: NodePressureStatus, after: NodePressureStatus, ms: number]>([
    ['what is short is written a second later', CALM, SHORT, SECOND],
    ['and that it is over', SHORT, CALM, SECOND],
    ['and who would go next meanwhile', SHORT, SHORT_OTHER_ORDER, SECOND],
    ['its amounts are followed', SHORT, SHORT_OTHER_AMOUNTS, 20 * SECOND],
    ['what is lent is written a second later', CALM, LENDING, SECOND],
    ['and that nothing is lent any more', LENDING, CALM, SECOND],
    ['what spare pods request of it is followed', LENDING, TAKEN, 40 * SECOND],
    ['an agent that lends without a kubelet that probes it is heard within a minute', UNPROBED, UNPROBED, 40 * SECOND],
  ])('%s', async (_, before, after, ms) => {
    const { sentAt, keepWriting } = rig();
    await keepWriting(() => before, 100, 100);
    await keepWriting(() => after, 100, ms + 200);
    expect(sentAt).toEqual([0, ms]);
  });

  test.each<[string, NodePressureStatus, fromMs: number]>([
    ['amounts that moved', MOVED_AMOUNTS, 100 * SECOND],
    ['the order of candidates', OTHER_ORDER, 100 * SECOND],
    ['a pod that waits', WAITING, 100 * SECOND],
    ['amounts that hardly moved', OTHER_AMOUNTS, 300 * SECOND],
    ['how many processors idle', NO_CORE_IDLES, 300 * SECOND],
    ['nothing', CALM, 300 * SECOND],
  ])('on a quiet node %s is written after its time, or up to a sixth sooner', async (_, after, fromMs) => {
    const { sentAt, keepWriting } = rig();
    await keepWriting(() => CALM, 100, 100);
    await keepWriting(() => after, 1000, fromMs * 1.2 + SECOND);
    expect(sentAt).toHaveLength(2);
    expect(sentAt[1]).toBeGreaterThanOrEqual(fromMs);
    expect(sentAt[1]).toBeLessThanOrEqual(fromMs * 1.2);
  });

  test('5,000 steady nodes, lending or not, cost at most 20 writes a second, each 0.2 a minute', async () => {
    for (const status of [CALM, LENDING]) {
      const { sentAt, keepWriting } = rig();
      await keepWriting(() => status, 5 * SECOND, 24 * HOUR);
      expect((FLEET * sentAt.length) / (24 * 3600)).toBeLessThanOrEqual(20);
      expect(sentAt.length / (24 * 60)).toBeLessThanOrEqual(0.2);
    }
  });

  test('knows whether it shows that the node lends, and since when it should show something else', async () => {
    let isBack = true;
    const refusal = { kind: 'serverError', status: 503, message: 'no' } as const;
    const { keepWriting, writer } = rig(() =>
      isBack ? { kind: 'ok', object: { metadata: {} }, warnings: [] } : refusal,
    );
    await keepWriting(() => LENDING, SECOND, 10 * SECOND);
    expect([writer.lends(), writer.overdueSinceMs()]).toEqual([true, undefined]);
    isBack = false;
    await keepWriting(() => CALM, SECOND, 40 * SECOND);
    expect([writer.lends(), writer.overdueSinceMs()]).toEqual([true, 10 * SECOND]);
    isBack = true;
    await keepWriting(() => CALM, SECOND, 80 * SECOND);
    expect([writer.lends(), writer.overdueSinceMs()]).toEqual([false, undefined]);
  });

  test('5,000 quiet nodes, busy as they may be, cost at most 50 writes a second, and do not keep step', async () => {
    const [one, another] = [rig(), rig(undefined, 2)];
    let turn = 0;
    const busy = (): NodePressureStatus => [CALM, OTHER_AMOUNTS, OTHER_ORDER, NO_CORE_IDLES][(turn += 1) % 4] ?? CALM;
    for (const { keepWriting } of [one, another]) await keepWriting(busy, 5 * SECOND, 4 * HOUR);
    const perSecond = (FLEET * one.sentAt.length) / (4 * 3600);
    expect(perSecond).toBeLessThanOrEqual(50);
    expect(perSecond).toBeGreaterThan(40);
    expect(one.sentAt.slice(0, 10)).not.toEqual(another.sentAt.slice(0, 10));
  });

  test('backs off to 15 to 30 s from a failing API server, and logs it once', async () => {
    let isBack = false;
    const refusal = { kind: 'serverError', status: 503, message: 'no' } as const;
    const { sentAt, logged, keepWriting, writer } = rig(() =>
      isBack ? { kind: 'ok', object: { metadata: { generation: 4 } }, warnings: [] } : refusal,
    );
    await keepWriting(() => SHORT, SECOND, 600 * SECOND);
    expect(sentAt.length).toBeLessThan(45);
    expect(logged).toHaveLength(1);
    expect([writer.isUpToDate(), writer.generation()]).toEqual([false, undefined]);
    isBack = true;
    await keepWriting(() => SHORT, SECOND, 631 * SECOND);
    expect([writer.isUpToDate(), writer.generation()]).toEqual([true, 4]);
  });
});

test('a report of spare room is taken out once the policy does not ask for it, and stays while that is not known', async () => {
  const bodies: unknown[] = [];
  const client = { request: ({ body }: { readonly body: unknown }) => void bodies.push(body) } as unknown as KubeClient;
  const log = { info: () => undefined, warn: () => undefined };
  for (const [status, isUnwanted] of [
    [LENDING, false],
    [CALM, false],
    [CALM, true],
  ] as const) {
    const target = { client, nodeName: 'n1', nodeUid: () => undefined, isSpareUnwanted: () => isUnwanted };
    const writer = createStatusWriter({ target, periodMs: SECOND, clock: manualClock(), random: () => 0, log });
    await writer.write(status, new AbortController().signal).catch(() => undefined);
  }
  expect(bodies.map((body) => at(body, 'status.spare'))).toMatchObject([{ mode: 'Enforce' }, undefined, null]);
});

describe('limits that are lowered', () => {
  const because = { code: 'CpuLimitLowered', text: '', facts: {} };
  const entry = { pod: 'a/b', uid: 'u', container: 'c', before: 4, from: 4, to: 2, used: 3, at: 0, because };

  test.each<[string, object, readonly unknown[]]>([
    ['once the API server has stored them', { throttled: [{}] }, [entry]],
    ['not if an older definition drops the field', {}, []],
  ])('count as written %s', async (_, stored, expected) => {
    const { writer } = rig(() => ({ kind: 'ok', object: { metadata: {}, status: stored }, warnings: [] }));
    await writer.write({ ...CALM, throttled: [entry] }, new AbortController().signal);
    expect(writer.throttled()).toEqual(expected);
  });
});

describe('createPublisher', () => {
  test.each([
    [994, 'within a second of the last write'],
    [1_400, 'later'],
  ])('a shortage that is over after %d ms, %s, is seen over in the object within two seconds', async (endMs) => {
    const { clock, writer, sentAt } = rig();
    const records: never[] = [];
    const publish = createPublisher({
      writer,
      clock,
      agent: { version: '1', pod: 'agent-x' },
      lastResult: () => passOf(clock.monotonic() < endMs ? SHORT_SCENE : CALM_SCENE),
      spare: () => undefined,
      throttled: () => undefined,
      previousStatus: () => ({ signals: [], evictions: [], conditions: [] }) as unknown as PreviousStatus,
      records: () => records,
      doubts: () => NO_DOUBTS,
      sources: () => ({}) as SourcesShown,
      metrics: { show: () => undefined } as unknown as AgentMetrics,
    });
    // The loop calls about once a second, and now and then a few milliseconds early.
    for (let calls = 0; calls < 5; calls += 1) {
      await publish(new AbortController().signal);
      await clock.advance(994);
    }
    expect(sentAt.length).toBe(2);
    expect(sentAt[1]).toBeLessThanOrEqual(endMs + 2 * SECOND);
    expect(writer.isUpToDate()).toBe(true);
  });
});
