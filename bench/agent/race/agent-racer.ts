import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupPod, startAgent } from '#test/agent/agent-process.ts';
import type { PodGroups } from '#test/agent/pod-groups.ts';
import type { Racer } from './racer.ts';

const SETTLE_MS = 2500;

/**
 * The real agent as its own process; it requests the eviction from a (fake) API server, and the process gets SIGTERM
 * when the request arrives.
 */
export async function agentRacer(groups: PodGroups, signal: string, thresholdMiB: number): Promise<Racer> {
  const policy = { mode: 'Enforce', evictionHard: { [signal]: `${thresholdMiB}Mi` } };
  const flags = [`--path-kubepods=${groups.kubepods}`, '--warm-up-ms=0', '--cross-check-enabled=false'];
  const pods = groups.uids.map((uid) => groupPod(uid, 0));
  const agent = await startAgent(pods, flags, policy);
  await sleep(SETTLE_MS);
  return {
    expect: (hog: ChildProcess) => {
      agent.api.onEvicted = () => void hog.kill('SIGTERM');
    },
    askedAtMs: () => agent.api.writes.find(({ path }) => path.endsWith('/eviction'))?.atMs,
    stop: async () => {
      await agent.stop();
    },
  };
}
