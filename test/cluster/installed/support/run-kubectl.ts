import { expect } from 'vitest';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';

/** Runs kubectl, with a standard input where one is given, and returns what it prints; it must succeed. */
export async function runKubectl(kubeconfig: string, args: readonly string[], input?: string): Promise<string> {
  const { status, stdout, stderr } = await kubectl(kubeconfig, args, input);
  expect({ args, status, stderr: status === 0 ? '' : stderr }).toEqual({ args, status: 0, stderr: '' });
  return stdout;
}
