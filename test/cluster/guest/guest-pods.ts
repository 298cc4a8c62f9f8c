import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentProcess, groupPod, startAgent } from '#test/agent/agent-process.ts';
import { createPodGroups, type PodGroups } from '#test/agent/pod-groups.ts';

const SETTLE_MS = 3000;
const QUIET_PRIORITY = 1000;
const QUIET_MIB = 32;
const MIB = 1024 * 1024;
const HOG = new URL('../../agent/hog.ts', import.meta.url).pathname;

/** Two pods of a node and the agent in `Enforce` beside them. The quiet one is above its request and matters more. */
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

/** The command line of a process that fills memory at a steady rate and then holds it. */
export function hog(mebibytes: number, mebibytesPerSecond: number): readonly string[] {
  return [process.execPath, HOG, String(mebibytesPerSecond * MIB), String(mebibytes * MIB)];
}

/** Without a policy the settings that the agent has by itself hold. */
export async function startGuestPods(policy?: object): Promise<GuestPods> {
  const groups = createPodGroups(2);
  const [busy = '', quiet = ''] = groups.uids;
  const flags = [`--path-kubepods=${groups.kubepods}`, '--mode=Enforce', '--warm-up-ms=0'];
  const agent = await startAgent([groupPod(busy, 0), groupPod(quiet, QUIET_PRIORITY)], flags, policy);
  const running = [{ uid: quiet, child: startIn(groups, quiet, hog(QUIET_MIB, QUIET_MIB)) }];
  await sleep(SETTLE_MS);
  const evicted: string[] = [];
  const pods: GuestPods = {
    start: (command) => {
      const child = startIn(groups, busy, command);
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
    for (const { uid, child } of running) if (uid === name) end(child);
    pods.afterEviction();
  };
  return pods;
}

/** Waits to be moved into the group, so that not even its first page is charged elsewhere. */
function startIn(groups: PodGroups, uid: string, [program = '', ...args]: readonly string[]): ChildProcess {
  const script = 'ulimit -n 20000; read go; exec "$0" "$@"';
  const child = spawn('sh', ['-c', script, program, ...args], { stdio: ['pipe', 'ignore', 'inherit'], detached: true });
  groups.join(uid, child.pid ?? 0);
  child.stdin.end('go\n');
  return child;
}

/** With everything that it started. */
function end({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}

async function close(
  agent: AgentProcess,
  groups: PodGroups,
  running: readonly { readonly child: ChildProcess }[],
): Promise<void> {
  await agent.stop();
  for (const { child } of running) end(child);
  await sleep(SETTLE_MS);
  groups.remove();
}
