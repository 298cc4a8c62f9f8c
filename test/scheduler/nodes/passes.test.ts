import { beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS } from '#shared/domain/base/durations.ts';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { type NamedPolicy, readNamedPolicy } from '#shared/api/node-pressure-policy/select-policy.ts';
import type { ChangeListener } from '#shared/kube/reflector/reflector.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import type { EventRecord } from '#shared/kube/events/event-recorder.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { runAvoidancePass } from '#scheduler/nodes/avoidance-pass.ts';
import { createContestedWrites } from '#scheduler/nodes/contested-writes.ts';
import { createNodeSettings, readKnownNode } from '#scheduler/nodes/known-node.ts';
import { createNodeMetrics, type NodePassPorts, createWriteBudgets } from '#scheduler/nodes/pass-ports.ts';
import { runTaintPass } from '#scheduler/nodes/taint-pass.ts';
import { type ManualClock, manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

const DONE: Outcome<unknown> = { kind: 'ok', object: { metadata: {} }, warnings: [] };
const RUNNING = new AbortController().signal;
const ENFORCE = { avoidance: { mode: 'Enforce' }, taints: { mode: 'Enforce' } };

function policy(name: string, spec: object): NamedPolicy {
  return readNamedPolicy({ metadata: { name }, spec });
}

describe('the passes over nodes', () => {
  let clock: ManualClock;
  let pressures: Map<string, object>;
  let taints: Map<string, readonly object[]>;
  let policies: readonly NamedPolicy[];
  let changed: () => void;

  beforeEach(() => {
    clock = manualClock();
    pressures = new Map();
    taints = new Map();
    policies = [policy('all', ENFORCE)];
  });

  function setPolicies(...specs: readonly object[]): void {
    policies = specs.map((spec, index) => policy(`policy-${index}`, spec));
    changed();
  }

  /** The status of a node under pressure that evicted a pod right now. */
  function evictNow(name: string): void {
    const now = new Date(clock.now()).toISOString();
    const eviction = { pod: 'a/x', uid: 'u', owner: 'a/ReplicaSet/web', outcome: 'evicted', requestedAt: now };
    const condition = { type: 'Memory', status: 'True', lastTransitionTime: now };
    const status = { observedAt: now, mode: 'Enforce', conditions: [condition], evictions: [eviction] };
    pressures.set(name, { metadata: { name }, status });
  }

  function start(writesPerMinute: number, answer: (request: KubeRequest) => Outcome<unknown> = () => DONE) {
    const recorded: EventRecord[] = [];
    const { client, requests } = scriptedClient(answer);
    const planned: string[] = [];
    const values = () => Array.from(pressures.values(), decodeNodePressure);
    const nodeOf = (name: string) =>
      readKnownNode({ metadata: { name, labels: { node: name } }, spec: { taints: taints.get(name) } });
    const nodes = { values: () => [...pressures.keys()].map(nodeOf), get: nodeOf };
    const changing = {
      values: () => policies,
      onChange: (listener: ChangeListener<NamedPolicy>) => (changed = listener as () => void),
    };
    const ports = {
      client,
      clock,
      settingsOf: createNodeSettings({ nodes, policies: changing }),
      mostTaintedShare: 1,
      announce: (_: string, texts: readonly string[]) => void planned.push(...texts),
      caches: { pressures: { values }, nodes },
      metrics: createNodeMetrics(createMetrics('scheduler')),
      log: { info: () => undefined, warn: () => undefined },
      events: { record: (event: EventRecord) => void recorded.push(event) },
      term: { isHeld: () => true },
      budgets: createWriteBudgets({ writesPerMinute }, clock),
      contested: createContestedWrites(clock),
    } as unknown as NodePassPorts;
    const written = (): readonly unknown[] => requests.splice(0).map(({ path }) => path.split('/').at(-1));
    return { ports, written, requests, recorded, planned };
  }

  test('a node that reports an eviction in every pass keeps no other from its avoid list', async () => {
    const { ports, written } = start(1);
    evictNow('busy');
    await runAvoidancePass(ports, RUNNING);
    for (const minute of [1, 2]) {
      await clock.advance(minute * 60_000);
      for (const name of ['busy', 'quiet']) evictNow(name);
      await runAvoidancePass(ports, RUNNING);
    }
    expect(written()).toEqual(['busy', 'quiet', 'busy']);
  });

  test('a node whose taint and condition are written in every pass keeps no other from its taint', async () => {
    const { ports, written } = start(2);
    evictNow('busy');
    await runTaintPass(ports, RUNNING);
    expect(written()).toEqual(['busy', 'status']);
    await clock.advance(60_000);
    for (const name of ['busy', 'quiet']) evictNow(name);
    await runTaintPass(ports, RUNNING);
    expect(written()).toEqual(['quiet', 'status']);
  });

  test('a taint and a condition that another controller removes are written less and less often, and an Event says so', async () => {
    const { ports, requests, recorded } = start(6_000);
    const tries: number[] = [];
    for (let second = 0; second <= 100; second += 1) {
      evictNow('n1');
      const before = requests.length;
      await runTaintPass(ports, RUNNING);
      if (requests.length > before) tries.push(second);
      await clock.advance(1_000);
    }
    expect(tries).toEqual([0, 5, 15, 35, 75]);
    expect(recorded.map(({ reason, note }) => [reason, note])).toEqual(
      [3, 4].flatMap((times) =>
        ['memory-pressure', 'MemoryContention'].map((name) => [
          'NodeWriteContested',
          `another controller undoes plimsoll.dev/${name} on this node: ${times} times in a row; next attempt in ${times === 3 ? 40 : 80} s at the earliest`,
        ]),
      ),
    );
  });

  test('a taint that goes and comes with the pressure waits for nothing', async () => {
    const { ports, written } = start(6_000);
    for (let round = 0; round < 4; round += 1) {
      taints.clear();
      evictNow('n1');
      await runTaintPass(ports, RUNNING);
      taints.set('n1', [{ key: 'plimsoll.dev/memory-pressure', effect: 'NoSchedule' }]);
      pressures.set('n1', { metadata: { name: 'n1' }, status: { mode: 'DryRun' } });
      await runTaintPass(ports, RUNNING);
    }
    expect(written().filter((path) => path === 'n1')).toHaveLength(8);
  });

  test('avoid lists that use up their rate leave that of taints', async () => {
    const { ports, written } = start(2);
    for (const name of ['n1', 'n2', 'n3']) evictNow(name);
    await runAvoidancePass(ports, RUNNING);
    expect(written()).toEqual(['n1', 'n2']);
    await runTaintPass(ports, RUNNING);
    expect(written()).toEqual(['n1', 'status']);
  });

  test('no policy keeps an owner away for longer than the longest time that is configured', async () => {
    const { ports, requests } = start(1);
    setPolicies({ ...ENFORCE, avoidFor: '24h' });
    evictNow('n1');
    await runAvoidancePass(ports, RUNNING);
    expect(requests[0]?.body).toMatchObject({
      spec: { avoid: [{ until: new Date(clock.now() + HOUR_MS).toISOString() }] },
    });
  });

  describe('what a NodePressurePolicy says', () => {
    const TAINTED = [{ key: 'plimsoll.dev/memory-pressure', effect: 'NoSchedule' }];
    const only = (node: string) => ({ nodeSelector: { matchLabels: { node } } });
    const both = async (ports: NodePassPorts) => {
      await runAvoidancePass(ports, RUNNING);
      await runTaintPass(ports, RUNNING);
    };

    test.each<[string, readonly object[], readonly string[], readonly string[]]>([
      ['no policy', [], [], ['avoid a', 'taint a', 'avoid b', 'taint b']],
      ['one for another node', [{ ...ENFORCE, ...only('c') }], [], ['avoid a', 'taint a', 'avoid b', 'taint b']],
      ['Enforce for one node', [{ ...ENFORCE, ...only('a') }], ['a', 'a', 'a/status'], ['avoid b', 'taint b']],
      ['Disabled', [{ avoidance: { mode: 'Disabled' }, taints: { mode: 'Disabled' } }], [], []],
      ['avoid lists alone', [{ avoidance: { mode: 'Enforce' } }], ['a', 'b'], ['taint a', 'taint b']],
      ['taints alone', [{ taints: { mode: 'Enforce' } }], ['a', 'a/status', 'b', 'b/status'], ['avoid a', 'avoid b']],
      ['families', [{ taints: { mode: 'Enforce', families: ['Io'] } }], [], ['avoid a', 'avoid b']],
      ['what cannot be read', [{ ...ENFORCE, avoidFor: 'soon' }], [], ['avoid a', 'taint a', 'avoid b', 'taint b']],
      ['the higher order', [ENFORCE, { order: 1, taints: { mode: 'Disabled' } }], [], ['avoid a', 'avoid b']],
    ])('%s', async (_, specs, wanted, dry) => {
      const { ports, requests, planned } = start(6_000);
      setPolicies(...specs);
      for (const name of ['a', 'b']) evictNow(name);
      await both(ports);
      const paths = requests.map(({ path }) =>
        path
          .split('/')
          .slice(path.endsWith('/status') ? -2 : -1)
          .join('/'),
      );
      expect(paths.toSorted()).toEqual(wanted);
      const shortly = planned.map((text) =>
        text.replace(/^evicted from node (.) .*/, 'avoid $1').replace(/^taint: Memory of node (.):.*/, 'taint $1'),
      );
      expect(shortly.toSorted()).toEqual(dry.toSorted());
    });

    test.each(['DryRun', 'Disabled', 'soon'])('taints that are there go where the mode is %s', async (mode) => {
      const { ports, requests } = start(6_000);
      evictNow('a');
      await runTaintPass(ports, RUNNING);
      taints.set('a', TAINTED);
      requests.splice(0);
      setPolicies({ taints: { mode } });
      await runTaintPass(ports, RUNNING);
      expect(requests.map(({ path, body }) => [path, body])).toMatchObject([
        ['/api/v1/nodes/a', { spec: { taints: [] } }],
      ]);
    });

    test('a change takes effect with the next pass', async () => {
      const { ports, written } = start(6_000);
      setPolicies({});
      evictNow('a');
      await both(ports);
      expect(written()).toEqual([]);
      setPolicies(ENFORCE);
      await both(ports);
      expect(written()).toEqual(['a', 'a', 'status']);
    });
  });

  test('a taint goes before others are added, also from a node that was written just now', async () => {
    const { ports, written } = start(3);
    evictNow('n1');
    await runTaintPass(ports, RUNNING);
    taints.set('n1', [{ key: 'plimsoll.dev/memory-pressure', effect: 'NoSchedule' }]);
    pressures.set('n1', { metadata: { name: 'n1' }, status: { mode: 'DryRun' } });
    evictNow('n0');
    written();
    await runTaintPass(ports, RUNNING);
    expect(written()).toEqual(['n1']);
  });

  test.each([
    ['avoid lists', runAvoidancePass],
    ['taints', runTaintPass],
  ])('a pass that is stopped while it writes %s uses up no more of the rate', async (_, run) => {
    const stop = new AbortController();
    const { ports, written } = start(3, () => {
      stop.abort();
      return { kind: 'timeout', message: 'no answer' };
    });
    for (const name of ['n1', 'n2', 'n3', 'n4', 'n5']) evictNow(name);
    await run(ports, stop.signal);
    expect(written()).toEqual(['n1']);
    await run(ports, RUNNING);
    expect(written()).toHaveLength(2);
  });
});
