import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPassRunner } from '#agent/pass.ts';
import type { NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { type CgroupLayout, findCgroupLayout, podCgroupPath } from '#agent/observe/cgroup/cgroup-layout.ts';
import { createKernelNode } from '#agent/observe/node/kernel-node.ts';
import type { UsageDepth } from '#shared/decide/eviction/memory-trend.ts';
import type { NodeSource } from '#agent/observe/node/node-source.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { manualClock, type ManualClock } from '#test/fakes/manual-clock.ts';
import { QUIET_PORTS } from './pass-ports.ts';
import { nodePod, policy } from '#test/agent/node-scene.ts';
import { fixturePods, type NodeCase, nodeRoot } from './observe/node-fixtures.ts';
import { rankingFacts } from '#shared/domain/ranking/candidate.ts';

/** A tenth of the processes that this node may have. */
const MAX_COUNTS = 4000;
const FREE_AT_FIRST = 1000;
const FREE_IN_THE_END = 100;

let root: string;
let source: NodeSource;
let layout: CgroupLayout;
let clock: ManualClock;
let depths: UsageDepth[];

function open(name: NodeCase): void {
  cpSync(nodeRoot(name), root, { recursive: true });
  writeFileSync(`${root}/proc/sys/kernel/pid_max`, `${MAX_COUNTS}\n`);
  const found = findCgroupLayout(`${root}/sys/fs/cgroup`);
  if (found.kind === 'unknown') throw new Error(found.because);
  layout = found.layout;
  source = createKernelNode({ proc: `${root}/proc`, layout, nodefs: undefined, imagefs: undefined, clock });
}

/** What the node has free, and how many processes each of its first pods has. */
function write(free: number, counts: readonly number[], name: NodeCase): void {
  writeFileSync(`${root}/proc/loadavg`, `0.10 0.10 0.10 1/${MAX_COUNTS - free} 4368\n`);
  for (const [index, { uid, qos }] of fixturePods(name).slice(0, counts.length).entries())
    writeFileSync(`${layout.pids ?? ''}/${podCgroupPath(layout, { uid, qos })}/pids.current`, `${counts[index]}\n`);
}

/** The agent's passes over the two first pods of a node, under a threshold on processes. */
function passes(name: NodeCase): () => readonly string[] {
  const [postgres, bomb] = fixturePods(name);
  if (postgres === undefined || bomb === undefined) throw new Error('two pods are needed');
  const pods = [postgres, bomb].map((each, index) => ({
    facts: rankingFacts(nodePod({ name: ['postgres', 'bomb'][index] ?? '', uid: each.uid })),
    observed: { uid: each.uid, cgroup: { uid: each.uid, qos: each.qos }, isRunning: true, containers: [] },
  }));
  const parsed = parseThresholds({ evictionHard: { 'pid.available': '10%' } });
  if (!parsed.ok) throw new Error(parsed.mistakes.join('; '));
  const namespaces: NodeSnapshot['namespaces'] = new Map([['default', 'open']]);
  const passRunner = createPassRunner({
    ...QUIET_PORTS,
    source: {
      ...source,
      usage: (depth, nowMs) => {
        depths.push(depth);
        return source.usage(depth, nowMs);
      },
    },
    pods: { alive: () => pods, endedByKubelet: () => [], unreadable: () => [], onChange: () => undefined },
    namespaces: () => namespaces,
    policy: () => policy({ thresholds: parsed.thresholds }),
    readFresh: () => Promise.resolve({ kind: 'gone' }),
    attempt: {
      Enforce: () => Promise.resolve({ kind: 'evicted' }),
      DryRun: () => Promise.resolve({ kind: 'pretended' }),
    },
    readAgain: () => Promise.resolve({ kind: 'foundGone' }),
    clock,
  });
  return () => passRunner.pass(new AbortController().signal).decision.evictions.map(({ pod }) => pod.name);
}

describe('a fork bomb', () => {
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'plimsoll-fork-bomb-'));
    clock = manualClock();
    depths = [];
  });
  afterEach(() => {
    source.close();
    rmSync(root, { recursive: true });
  });

  test.each<NodeCase>(['v1-cgroupfs', 'v2-systemd'])(
    'that starts between two measurements is evicted, not the pod that had most processes before, on %s',
    async (name) => {
      open(name);
      const pass = passes(name);
      write(FREE_AT_FIRST, [300, 2], name);
      expect(pass()).toEqual([]);
      await clock.advance(3000);
      write(FREE_IN_THE_END, [300, 1202], name);
      expect(pass()).toEqual(['bomb']);
    },
  );

  test('processes are counted in every pass only while they are short', async () => {
    open('v2-systemd');
    const pass = passes('v2-systemd');
    for (const free of [FREE_AT_FIRST, FREE_AT_FIRST, FREE_IN_THE_END, FREE_IN_THE_END]) {
      write(free, [300, 2], 'v2-systemd');
      pass();
      await clock.advance(1000);
    }
    expect(depths).toEqual(['all', 'processes', 'processes']);
  });
});
