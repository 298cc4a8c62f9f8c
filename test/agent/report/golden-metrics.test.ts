import { describe, expect, test } from 'vitest';
import { rankingFacts } from '#shared/domain/ranking/candidate.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { createAgentMetrics } from '#agent/report/agent-metrics.ts';
import { decide, type PassResult } from '#shared/decide/eviction/decide.ts';
import { indexPods } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { findCgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { createKernelNode } from '#agent/observe/node/kernel-node.ts';
import type { NodeSource } from '#agent/observe/node/node-source.ts';
import { DEFAULT_POLICY } from '#shared/api/node-pressure-policy/policy.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { nodePod } from '#test/agent/node-scene.ts';
import { fixturePods, type NodeCase, NODE_CASES, nodeRoot } from '#test/agent/observe/node-fixtures.ts';

/** Long enough to fill the longest pressure window. */
const SECONDS = 301;
const BEAT_MS = 10_000;
/** Build, durations and ages change from run to run. */
const UNSTEADY = /build_info|duration|age_seconds|lateness/;

function openNode(name: NodeCase): NodeSource {
  const root = nodeRoot(name);
  const found = findCgroupLayout(`${root}/sys/fs/cgroup`);
  if (found.kind === 'unknown') throw new Error(found.because);
  const { layout } = found;
  return createKernelNode({
    proc: `${root}/proc`,
    layout,
    nodefs: undefined,
    imagefs: undefined,
    clock: manualClock(),
  });
}

function pictureOf(name: NodeCase, source: NodeSource): PassResult {
  const pods = fixturePods(name);
  source.follow(pods.map(({ uid, qos }) => ({ uid, cgroup: { uid, qos }, isRunning: true, containers: [] })));
  for (let second = 0; second < SECONDS; second += 1) source.readNode(second * 1000);
  const now = SECONDS * 1000;
  source.usage('all', now - BEAT_MS);
  const view = source.readNode(now);
  const usage = source.usage('all', now);
  const snapshot = {
    ...view,
    now,
    usage,
    podPressures: source.podPressures(),
    pods: indexPods(pods.map((pod) => rankingFacts(nodePod(pod)))),
    namespaces: new Map(pods.map(({ namespace }) => [namespace, 'open' as const])),
    avoided: new Set<string>(),
    doubts: new Map(),
    doubtfulPods: new Map(),
    isKubeletSilent: false,
    isKubeletReady: true,
    hasMemoryPressure: false,
    closedGates: [],
  };
  return { snapshot, policy: DEFAULT_POLICY, decision: decide(FIRST_STATE, snapshot, DEFAULT_POLICY) };
}

async function exposition(name: NodeCase): Promise<string> {
  const source = openNode(name);
  const metrics = createMetrics('agent');
  const result = pictureOf(name, source);
  createAgentMetrics(metrics).show(
    result,
    { health: source.health(), verdicts: [], hasFallenBack: false, groups: source.groups() },
    result.snapshot.now,
  );
  source.close();
  const lines = (await metrics.text()).split('\n').filter((line) => !line.startsWith('#') && !UNSTEADY.test(line));
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

describe('the exposition of each kind of node', () => {
  test.each(NODE_CASES)('%s', async (name) => {
    await expect(await exposition(name)).toMatchFileSnapshot(`${nodeRoot(name)}/metrics.txt`);
  });
});
