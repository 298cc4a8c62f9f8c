import type { TestProject } from 'vitest/node';
import { startCluster } from './cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The kubeconfig of the cluster under test, empty when there is none. */
    readonly kubeconfig: string;
    /** What is started with its mark (leftovers.ts) ends with the test run, however that one ends. */
    readonly runFolder: string;
  }
}

/** One control plane for all files: an existing cluster, or one of our own. */
export async function setup(project: Pick<TestProject, 'provide'>): Promise<() => Promise<void>> {
  const existing = process.env['PLIMSOLL_TEST_KUBECONFIG'];
  const startup = await startCluster(existing === undefined ? {} : { existing });
  if (startup.kind === 'ready') {
    const { cluster } = startup;
    project.provide('kubeconfig', cluster.kubeconfig);
    project.provide('runFolder', cluster.folder);
    return () => cluster.close();
  }
  if (process.env['CI'] !== undefined) throw new Error(`no real Kubernetes: ${startup.because}`);
  process.stderr.write(`\nnot run: tests on a real Kubernetes, because ${startup.because}\n\n`);
  project.provide('kubeconfig', '');
  project.provide('runFolder', '');
  return () => Promise.resolve();
}
