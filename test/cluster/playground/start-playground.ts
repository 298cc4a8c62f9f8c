import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type KubeClient } from '#shared/kube/client.ts';
import { kubeconfigConnection } from '#shared/kube/kubeconfig-connection.ts';
import type { Binaries } from '#test/cluster/binaries.ts';
import { startControlPlane } from '#test/cluster/control-plane.ts';
import { installPlimsoll } from '#test/cluster/install.ts';
import { kubectl } from '#test/cluster/kubectl.ts';
import { startWebhook } from '#test/cluster/start-webhook.ts';
import { waitUntil } from '#test/cluster/wait-until.ts';
import type { IntroductionFacts } from './introduction.ts';

const GROUND_RULES = fileURLToPath(new URL('./ground-rules.yaml', import.meta.url));
const NO_NODE = 'none: pods are judged, stored, and stay Pending';

/**
 * Starts a control plane in a run folder, installs deploy/base, starts the webhook and waits until the API server asks
 * it. Rejects with what does not come up; whoever made the folder ends what is running.
 */
export async function startPlayground(
  folder: string,
  { paths }: Extract<Binaries, { kind: 'found' }>,
): Promise<IntroductionFacts> {
  const { kubeconfig, components } = await startControlPlane({ folder, paths });
  await installPlimsoll(kubeconfig);
  const connection = await kubeconfigConnection(kubeconfig);
  const client = createClient(connection, { userAgent: 'plimsoll-playground' });
  try {
    const webhook = await startWebhook({ folder, client, connection });
    const applied = await kubectl(kubeconfig, ['apply', '-f', GROUND_RULES]);
    if (applied.status !== 0) throw new Error(`cannot apply ${GROUND_RULES}: ${applied.stderr}`);
    const all = [...components, ['webhook', webhook] as const];
    await waitUntil(() => isJudged(client), { what: 'a refusal by the webhook', components: all });
    return {
      apiServer: connection.server,
      webhook: `pid ${webhook.pid() ?? ''}`,
      node: NO_NODE,
      kubeconfig,
      programs: dirname(paths.kubectl),
      logs: join(folder, '*.log'),
    };
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
