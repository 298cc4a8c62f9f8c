import { afterEach, describe, expect, test } from 'vitest';
import { footprintOf } from './process-footprint.ts';
import { type AgentProcess, groupPod, startAgent } from './agent-process.ts';
import type { StoredObject } from '#test/fakes/stored-objects.ts';
import { fixturePods, nodeRoot } from './observe/node-fixtures.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

const ENDED = 10_000;
const SECONDS = 5;
/** The start costs more than the passes; no metric says when its garbage has been collected. */
const SETTLE_MS = 3000;
/** During a shortage every pod is measured in each pass, every 100 ms. */
const SHORT = {
  mode: 'DryRun',
  evictionSoft: { 'memory.available': '99%' },
  evictionSoftGracePeriod: { 'memory.available': '1h' },
};
const PACE = ['--period-near-ms=100', '--period-far-ms=100'];
const WITHIN = 60_000;

function endedPod(index: number): StoredObject {
  const { status, ...pod } = groupPod(`ended-${index}`, 0);
  return { ...pod, status: { ...Object(status), phase: index % 2 === 0 ? 'Succeeded' : 'Failed' } };
}

describe('an agent on a node where thousands of pods have ended', { timeout: 180_000 }, () => {
  let agent: AgentProcess | undefined;
  afterEach(async () => {
    await agent?.stop();
    agent = undefined;
  });

  /** Milliseconds of CPU a second, and private memory, once it has settled. */
  async function costOf(pods: readonly StoredObject[]) {
    const root = nodeRoot('v2-cgroupfs');
    const tree = [`--path-procfs=${root}/proc`, `--path-cgroupfs=${root}/sys/fs/cgroup`];
    agent = await startAgent(pods, [...tree, ...PACE, '--cross-check-enabled=false'], SHORT);
    const { url, child } = agent;
    await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), WITHIN);
    await letTimePass(SETTLE_MS, 'unseen');
    const before = footprintOf(child.pid ?? 0);
    await letTimePass(SECONDS * 1000, 'watched');
    const after = footprintOf(child.pid ?? 0);
    await agent.stop();
    agent = undefined;
    return { millicores: ((after.cpuSeconds - before.cpuSeconds) / SECONDS) * 1000, privateMiB: after.privateMiB };
  }

  test(`costs as much with ${ENDED} of them as with none`, async () => {
    const alive = fixturePods('v2-cgroupfs').map(({ uid }) => groupPod(uid, 0));
    const without = await costOf(alive);
    const ended = Array.from({ length: ENDED }, (_, index) => endedPod(index));
    const withThem = await costOf([...alive, ...ended]);
    expect(withThem.millicores - without.millicores).toBeLessThan(20);
    expect(withThem.privateMiB - without.privateMiB).toBeLessThan(16);
  });
});
