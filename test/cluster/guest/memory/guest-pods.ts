import type { ChildProcess } from 'node:child_process';
import { type AgentProcess, groupPod, startAgent } from '#test/agent/agent-process.ts';
import { createPodGroups, type PodGroups } from '#test/agent/pod-groups.ts';
import { endWithChildren, hog, startInGroup } from './group-process.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

const SETTLE_MS = 3000;
const QUIET_PRIORITY = 1000;
const QUIET_MIB = 32;

/** Two pods of a node, and the agent in `Enforce`. The quiet one is above its request and matters more. */
export interface GuestPods {
  /** Starts a command in the group of the other pod; an eviction of it ends what runs there. */
  readonly start: (command: readonly string[]) => ChildProcess;
  /** Names of pods whose eviction was accepted: `busy`, `quiet`. */
  readonly evicted: readonly string[];
  /** Called at each of them, before it ends anything. */
  onEvicted: () => void;
  /** Called when what ran in the pod has got its signal: what a kubelet removes then. */
  afterEviction: () => void;
  readonly close: () => Promise<void>;
}

/** Without a policy the settings that the agent has by itself hold. */
export async function startGuestPods(policy?: object): Promise<GuestPods> {
  const groups = createPodGroups(2);
  const [busy = '', quiet = ''] = groups.uids;
  const flags = [`--path-kubepods=${groups.kubepods}`, '--mode=Enforce', '--warm-up-ms=0'];
  const agent = await startAgent([groupPod(busy, 0), groupPod(quiet, QUIET_PRIORITY)], flags, policy);
  const running = [{ uid: quiet, child: startInGroup(groups, quiet, hog(QUIET_MIB, QUIET_MIB)) }];
  await letTimePass(SETTLE_MS, 'unseen');
  const evicted: string[] = [];
  const pods: GuestPods = {
    start: (command) => {
      const child = startInGroup(groups, busy, command);
      running.push({ uid: busy, child });
      return child;
    },
    evicted,
    onEvicted: () => undefined,
    afterEviction: () => undefined,
    close: () => close(agent, groups, running),
  };
  agent.api.onEvicted = (_namespace, name) => {
    evicted.push(name === busy ? 'busy' : 'quiet');
    pods.onEvicted();
    for (const { uid, child } of running) if (uid === name) endWithChildren(child);
    pods.afterEviction();
  };
  return pods;
}

async function close(
  agent: AgentProcess,
  groups: PodGroups,
  running: readonly { readonly child: ChildProcess }[],
): Promise<void> {
  await agent.stop();
  for (const { child } of running) endWithChildren(child);
  // A group can be removed once the last of its processes is gone.
  await eventually(() => groups.remove());
}
