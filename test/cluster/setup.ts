import type { TestProject, Vitest } from 'vitest/node';
import { getObject } from '#shared/kube/client/objects.ts';
import { VALIDATING_WEBHOOKS } from '#shared/kube/resource.ts';
import { WEBHOOK_CONFIGURATION } from '#shared/kube/api-names.ts';
import { startCluster } from './support/control-plane/cluster.ts';
import { groupsNotRun } from './support/control-plane/not-run.ts';
import { testClient } from './support/control-plane/test-client.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The kubeconfig of the cluster under test, empty when there is none. */
    readonly kubeconfig: string;
    /** What is started with its mark (leftovers.ts) ends with the test run, however that one ends. */
    readonly runFolder: string;
  }
}

type Project = Pick<TestProject, 'provide'> & {
  readonly vitest: { readonly state: Pick<Vitest['state'], 'getTestModules'> };
};

/** One control plane for all files: an existing cluster, or one of our own. In the end it lists what was left out, and why. */
export async function setup(project: Project): Promise<() => Promise<void>> {
  const close = await findCluster(project);
  return async () => {
    await close();
    for (const name of groupsNotRun(project.vitest.state.getTestModules())) process.stderr.write(`${name}\n`);
  };
}

async function findCluster(project: Project): Promise<() => Promise<void>> {
  const existing = process.env['PLIMSOLL_TEST_KUBECONFIG'];
  if (existing !== undefined) await expectNoPlimsoll(existing);
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

/** Tests would overwrite the registration of an installed Plimsoll, and be judged by it. */
async function expectNoPlimsoll(kubeconfig: string): Promise<void> {
  const client = await testClient(kubeconfig);
  const found = await getObject(client, { resource: VALIDATING_WEBHOOKS, name: WEBHOOK_CONFIGURATION });
  client.close();
  if (found.kind === 'notFound') return;
  const because = found.kind === 'ok' ? 'Plimsoll is installed there' : found.message;
  throw new Error(`cannot test on the cluster of ${kubeconfig}: ${because}`);
}
