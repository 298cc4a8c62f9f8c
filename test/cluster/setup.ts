import type { TestProject } from 'vitest/node';
import { startCluster } from './cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The kubeconfig of the cluster under test, empty when there is none. */
    readonly kubeconfig: string;
  }
}

/** One control plane for all files: an existing cluster, or one of our own. */
export async function setup(project: Pick<TestProject, 'provide'>): Promise<() => Promise<void>> {
  const existing = process.env['PLIMSOLL_TEST_KUBECONFIG'];
  if (existing !== undefined) {
    project.provide('kubeconfig', existing);
    return () => Promise.resolve();
  }
  const startup = await startCluster();
  if (startup.kind === 'ready') {
    project.provide('kubeconfig', startup.cluster.kubeconfig);
    return () => startup.cluster.close();
  }
  if (process.env['CI'] !== undefined) throw new Error(`no real Kubernetes: ${startup.because}`);
  process.stderr.write(`\nnot run: tests on a real Kubernetes, because ${startup.because}\n\n`);
  project.provide('kubeconfig', '');
  return () => Promise.resolve();
}
