import { describe, expect, test } from 'vitest';
import { createObject } from '#shared/kube/client/objects.ts';
import { DAEMON_SETS, DEPLOYMENTS, NAMESPACES } from '#shared/kube/resource.ts';
import { itemsIn, runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { sandboxCluster } from '#test/cli/sandbox-cluster.ts';

const WEBHOOK = 'Deployment plimsoll-webhook is missing in namespace plimsoll-system';
const AGENTS = 'DaemonSet plimsoll-agent is missing in namespace plimsoll-node';
const TEMPLATE = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'main', image: 'plimsoll' }] },
};
const SPEC = { selector: { matchLabels: { app: 'a' } }, template: TEMPLATE };

describe('what is not installed is found first', () => {
  const { kubeconfig, client } = sandboxCluster(() => Promise.resolve());
  const texts = async () => {
    const { code, stdout } = await runPlimsoll(['check', '--kubeconfig', kubeconfig, '-o', 'json']);
    expect(code).toBe(1);
    return (itemsIn(stdout) as readonly { readonly text: string }[]).map(({ text }) => text);
  };

  test('Deployment and DaemonSet before what follows from their absence', async () => {
    expect((await texts()).slice(0, 3)).toEqual([WEBHOOK, AGENTS, 'the CustomResourceDefinition is missing']);
    for (const name of ['plimsoll-system', 'plimsoll-node'])
      await createObject(client(), { resource: NAMESPACES }, { metadata: { name } });
    const webhook = { metadata: { name: 'plimsoll-webhook' }, spec: SPEC };
    await createObject(client(), { resource: DEPLOYMENTS, namespace: 'plimsoll-system' }, webhook);
    expect((await texts()).slice(0, 2)).toEqual([AGENTS, 'the CustomResourceDefinition is missing']);
    const agents = { metadata: { name: 'plimsoll-agent' }, spec: SPEC };
    await createObject(client(), { resource: DAEMON_SETS, namespace: 'plimsoll-node' }, agents);
    expect((await texts())[0]).toBe('the CustomResourceDefinition is missing');
  });
});
