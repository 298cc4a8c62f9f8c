import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import type { Binaries } from '#test/cluster/support/control-plane/binaries.ts';
import { startControlPlane } from '#test/cluster/support/control-plane/control-plane.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { startNodeCluster } from '#test/cluster/node/start/start-node-cluster.ts';
import { waitUntil } from '#test/cluster/support/wait-until.ts';
import type { IntroductionFacts } from './introduction.ts';
import { runBeside, runOnNode } from './run-plimsoll.ts';

export interface PlaygroundOptions {
  readonly folder: string;
  readonly paths: Extract<Binaries, { kind: 'found' }>['paths'];
  /** Only in namespaces of one's own. */
  readonly hasNode: boolean;
}

const GROUND_RULES = fileURLToPath(new URL('./ground-rules.yaml', import.meta.url));

/**
 * Starts a control plane in a run folder, or a whole cluster with a node, installs Plimsoll in it and waits until the API
 * server asks it. Rejects with what does not come up; the owner of the folder ends what is running.
 */
export async function startPlayground({ folder, paths, hasNode }: PlaygroundOptions): Promise<IntroductionFacts> {
  const plane = await (hasNode ? startNodeCluster : startControlPlane)({ folder, paths });
  // The one for outside is of no use in these namespaces.
  const kubeconfig = plane.credentials.kubeconfig('admin');
  const connection = await kubeconfigConnection(kubeconfig);
  const client = createClient(connection, { userAgent: 'plimsoll-playground' });
  try {
    const { components, ...parts } = await (hasNode ? runOnNode : runBeside)({
      folder,
      kubeconfig,
      connection,
      client,
    });
    const applied = await kubectl(kubeconfig, ['apply', '-f', GROUND_RULES]);
    if (applied.status !== 0) throw new Error(`cannot apply ${GROUND_RULES}: ${applied.stderr}`);
    const living = [...plane.components, ...components];
    await waitUntil(() => isJudged(client), { what: 'a refusal by the webhook', components: living });
    const { server } = await kubeconfigConnection(plane.kubeconfig);
    const programs = dirname(paths.kubectl);
    return { ...parts, apiServer: server, kubeconfig: plane.kubeconfig, programs, logs: join(folder, '*.log') };
  } finally {
    client.close();
  }
}

/** The rules count a moment after they were written. */
async function isJudged(client: KubeClient): Promise<boolean> {
  const spec = { priorityClassName: 'critical', containers: [{ name: 'main', image: 'any' }] };
  const { kind, ...outcome } = await client.request({
    method: 'POST',
    path: '/api/v1/namespaces/team-a/pods',
    query: { dryRun: 'All' },
    body: { metadata: { name: 'judged' }, spec },
  });
  return kind === 'forbidden' && 'message' in outcome && outcome.message.includes('plimsoll.dev');
}
