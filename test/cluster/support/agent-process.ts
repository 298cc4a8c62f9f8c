import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { LOOPBACK } from '#test/build/loopback.ts';
import { markedEnvironment } from './run/leftovers.ts';

/** The agent as it is shipped: a process of its own. */
export interface AgentProcess {
  /** SIGTERM; resolves when it is gone. */
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../../agent/main.ts', import.meta.url));
/** Where the agent of a node without a kubelet has its figures from. */
export interface AgentPlace {
  readonly kubeconfig: string;
  readonly nodeName: string;
  readonly kubeletUrl: string;
}

const ON_LOOPBACK = [`--health-host=${LOOPBACK}`, '--health-port=0'];
/** Files of this machine say nothing about a node that is only an object. */
const FROM_KUBELET = ['--source=summary', '--cross-check-enabled=false', '--warm-up-ms=0'];

/** Starts the agent and waits until it says so. Rejects with what it said instead. It ends with the run that the kubeconfig belongs to. */
export async function startAgentProcess(
  { kubeconfig, nodeName, kubeletUrl }: AgentPlace,
  flags: readonly string[] = [],
): Promise<AgentProcess> {
  const where = [`--node-name=${nodeName}`, `--kubeconfig=${kubeconfig}`, `--kubelet-url=${kubeletUrl}`];
  const args = [MAIN, ...where, ...ON_LOOPBACK, ...FROM_KUBELET, ...flags];
  const env = markedEnvironment(dirname(kubeconfig));
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const exit = once(child, 'exit');
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (line.includes('Agent started')) break;
  }
  if (!said.some((line) => line.includes('Agent started')))
    throw new Error(`the agent did not start: ${said.join('\n')}`);
  child.stdout.resume();
  return {
    stop: async () => {
      child.kill('SIGTERM');
      await exit;
    },
  };
}
