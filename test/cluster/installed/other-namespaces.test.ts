import { describe, expect, test } from 'vitest';
import { POLICIES, PRIORITY_CLASSES } from '#test/cluster/admission/support/cluster-objects.ts';
import { accountKubeconfig, accountClient } from '#test/cluster/support/accounts.ts';
import { makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { servesMutatingPolicies } from '#test/cluster/support/control-plane/binaries.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { startWebhookProcess } from '#test/cluster/support/webhook-process.ts';
import { writtenManifests } from '#test/build/written-manifests.ts';
import { at, pod, textAt } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';
import { AS_DEPLOYED } from './support/as-deployed.ts';
import { helm, whyNoHelm } from './support/helm.ts';

const CHART = `${writtenManifests()}chart/`;
const [SYSTEM, AGENTS] = ['team-infra', 'team-agents'];
const RELEASE = ['plimsoll', CHART, '--namespace', SYSTEM, '--create-namespace'];
const VALUES = ['--set', `namespaceOverride=${SYSTEM}`, '--set', `agent.namespaceOverride=${AGENTS}`];
const WITHIN_MS = 240_000;
const PATIENCE_MS = 60_000;

const why = whyNoOwnCluster(process.env) ?? whyNoHelm(process.env);

describe.skipIf(why !== undefined || !servesMutatingPolicies(process.env))(`in other namespaces${why ?? ''}`, () => {
  const own = ownCluster();
  const send = (path: string, body: object) => own().admin.request({ method: 'POST', path, body });

  test('installed with helm, the webhook takes up its work there', { timeout: WITHIN_MS }, async () => {
    const { admin, cluster } = own();
    const installed = await helm(['install', ...RELEASE, ...VALUES, '--kubeconfig', cluster.kubeconfig]);
    expect(installed).toMatchObject({ status: 0 });
    const path = `/apis/apps/v1/namespaces/${SYSTEM}/deployments/plimsoll-webhook`;
    const deployment = await admin.request({ path });
    const container = at(deployment, 'object.spec.template.spec.containers.0');
    const variables = at(container, 'env') as readonly { readonly name: string; readonly value?: string }[];
    const kubeconfig = await accountKubeconfig(own(), { namespace: SYSTEM, name: 'plimsoll-webhook' });
    const env = Object.fromEntries(
      variables.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
    );
    const webhook = await startWebhookProcess({ folder: cluster.folder, kubeconfig, env }, AS_DEPLOYED);
    await send('/api/v1/namespaces', { metadata: { name: 'governed' } });
    await send(PRIORITY_CLASSES, { metadata: { name: 'usual' }, value: -1_000 });
    await send(POLICIES, {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'PriorityPolicy',
      metadata: { name: 'usual' },
      spec: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'governed' } },
        defaultPriorityClassName: 'usual',
      },
    });
    await eventually(async () => {
      const created = await admin.request({
        method: 'POST',
        path: '/api/v1/namespaces/governed/pods',
        query: { dryRun: 'All' },
        body: pod('web'),
      });
      expect(at(created, 'object.spec.priorityClassName')).toBe('usual');
    }, PATIENCE_MS);
    await webhook.stop();
  });

  test('the agent of a node writes for it from there, and for no other node', { timeout: WITHIN_MS }, async () => {
    const { admin } = own();
    await makeFakeNodes(admin, 'node', 1);
    const podName = await eventually(async () => {
      const query = { fieldSelector: 'spec.nodeName=node-0' };
      const found = await admin.request({ path: `/api/v1/namespaces/${AGENTS}/pods`, query });
      return textAt(found, 'object.items.0.metadata.name');
    }, PATIENCE_MS);
    const agent = await accountClient(own(), { namespace: AGENTS, name: 'plimsoll-agent' }, podName);
    const report = (name: string) =>
      agent.request({
        method: 'POST',
        path: '/apis/plimsoll.dev/v1alpha1/nodepressures',
        body: { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name } },
      });
    const because = 'the agent on node node-0 may not write the NodePressure of node-1';
    expect(await report('node-1')).toMatchObject({ message: expect.stringContaining(because) as string });
    expect(await report('node-0')).toMatchObject({ kind: 'ok' });
    agent.close();
  });
});
