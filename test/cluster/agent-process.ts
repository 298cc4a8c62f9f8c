import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { markedEnvironment } from './leftovers.ts';

/** The agent as it is shipped: a process of its own. */
export interface AgentProcess {
  /** SIGTERM; resolves when it is gone. */
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../agent/main.ts', import.meta.url));
/** Fake nodes have neither pods nor a kubelet, so there is nothing to measure and nobody to evict. */
const NO_KUBELET = ['--source=summary', '--kubelet-url=https://127.0.0.1:1', '--cross-check-enabled=false'];

/** Starts the agent for a node and waits until it says so. Rejects with what it said instead. It ends with the run that the kubeconfig belongs to. */
export async function startAgentProcess(kubeconfig: string, nodeName: string): Promise<AgentProcess> {
  const flags = ['--node-name', nodeName, '--kubeconfig', kubeconfig, '--health-host=127.0.0.1', '--health-port=0'];
  const env = markedEnvironment(dirname(kubeconfig));
  const child = spawn(process.execPath, [MAIN, ...flags, ...NO_KUBELET], { stdio: ['ignore', 'pipe', 'inherit'], env });
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
