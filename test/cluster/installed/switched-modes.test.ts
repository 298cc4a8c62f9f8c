import { describe, expect, test } from 'vitest';
import { POLICIES, PRIORITY_CLASSES } from '#test/cluster/admission/support/cluster-objects.ts';
import { servesMutatingPolicies } from '#test/cluster/support/control-plane/binaries.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { startWebhookProcess } from '#test/cluster/support/webhook-process.ts';
import { writtenManifests } from '#test/build/written-manifests.ts';
import { at, pod } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';
import { AS_DEPLOYED } from './support/as-deployed.ts';
import { helm, whyNoHelm } from './support/helm.ts';
import { startPodCreates } from './support/pod-creates.ts';
import { runKubectl } from './support/run-kubectl.ts';

const CHART = `${writtenManifests()}chart/`;
const RELEASE = ['plimsoll', '--namespace', 'plimsoll-system'];
const GOVERNED = 'governed';
const CLASS = 'usual';
const SPEC = {
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': GOVERNED } },
  defaultPriorityClassName: CLASS,
};
const PATIENCE_MS = 60_000;
const WITHIN_MS = 240_000;

const why = whyNoOwnCluster(process.env) ?? whyNoHelm(process.env);

describe.skipIf(why !== undefined || !servesMutatingPolicies(process.env))(`switched with helm${why ?? ''}`, () => {
  const own = ownCluster();

  async function run(verb: 'install' | 'upgrade', ...flags: readonly string[]): Promise<void> {
    const answer = await helm([verb, ...RELEASE, CHART, ...flags, '--kubeconfig', own().cluster.kubeconfig]);
    expect(answer).toMatchObject({ status: 0 });
  }

  async function post(path: string, body: object): Promise<void> {
    expect(await own().admin.request({ method: 'POST', path, body })).toMatchObject({ kind: 'ok' });
  }

  /** The class that a pod of the governed namespace would be stored with. */
  async function classGiven(): Promise<unknown> {
    const path = `/api/v1/namespaces/${GOVERNED}/pods`;
    const answer = await own().admin.request({ method: 'POST', path, query: { dryRun: 'All' }, body: pod('web') });
    return answer.kind === 'ok' ? at(answer.object, 'spec.priorityClassName') : answer.message;
  }

  async function entries(): Promise<readonly string[]> {
    const names = ['get', 'mutatingwebhookconfigurations', 'plimsoll', '-o', 'jsonpath={.webhooks[*].name}'];
    const text = await runKubectl(own().cluster.kubeconfig, names);
    return text.split(' ').filter((name) => name !== '');
  }

  test('between Both and InProcess, no pod goes without its default', { timeout: WITHIN_MS }, async () => {
    const { cluster, connection } = own();
    await run('install', '--create-namespace', '--set', 'admission=Both');
    const webhook = await startWebhookProcess(cluster, {
      ...AS_DEPLOYED,
      leaderElection: { namespace: 'plimsoll-system' },
    });
    await post('/api/v1/namespaces', { metadata: { name: GOVERNED } });
    await post(PRIORITY_CLASSES, { metadata: { name: CLASS }, value: -1_000 });
    await post(POLICIES, {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'PriorityPolicy',
      metadata: { name: CLASS },
      spec: SPEC,
    });
    await eventually(async () => expect(await classGiven()).toBe(CLASS), PATIENCE_MS);
    const creates = startPodCreates(connection, { namespace: GOVERNED, priorityClassName: CLASS });
    for (const mode of ['InProcess', 'Both', 'InProcess']) {
      await run('upgrade', '--set', `admission=${mode}`);
      expect((await entries()).length > 0).toBe(mode === 'Both');
      await creates.expectNoneRefused();
    }
    await creates.stop();
    await webhook.stop();
  });
});
