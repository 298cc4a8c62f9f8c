import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { AGENT } from '#test/cluster/support/accounts.ts';
import { startInstalledWebhook } from '#test/cluster/support/installed-webhook.ts';
import type { WebhookProcess } from '#test/cluster/support/webhook-process.ts';
import { at, pod, textAt, uniqueName } from '#test/contract/harness.ts';
import { AS_DEPLOYED } from '#test/cluster/installed/support/as-deployed.ts';
import {
  evict,
  type InstalledCluster,
  OTHER_NODE,
  OWN_NODE,
  post,
} from '#test/cluster/installed/support/installed-cluster.ts';
import { eventually } from '#test/build/waiting.ts';

const PODS = '/api/v1/namespaces/default/pods';
const NO_WEBHOOK = {
  kind: 'serverError',
  message: expect.stringContaining('failed calling webhook "own-evictions.plimsoll.dev"') as string,
};

/** Registers tests on what an agent's real token, bound to its pod on a node, lets it evict. */
export function agentEvictions({ own, clientOf, agentPodOn }: InstalledCluster): void {
  describe('the token of the agent of a node', () => {
    let agent: KubeClient;
    let otherAgent: KubeClient;
    let webhook: WebhookProcess | undefined;
    beforeAll(async () => {
      agent = await clientOf(AGENT, await agentPodOn(OWN_NODE));
      otherAgent = await clientOf(AGENT, await agentPodOn(OTHER_NODE));
    });
    afterAll(() => webhook?.stop());

    async function evictNew(client: KubeClient, nodeName: string): Promise<Outcome<unknown>> {
      const name = uniqueName('victim');
      const made = await post(own().admin, PODS, pod(name, { nodeName, tolerations: [{ operator: 'Exists' }] }));
      return evict(client, `default/${name}`, { preconditions: { uid: textAt(made, 'object.metadata.uid') } });
    }

    test('evicts no pod while no webhook answers', async () => {
      await eventually(async () => expect(await evictNew(agent, OWN_NODE)).toMatchObject(NO_WEBHOOK));
      expect(await evictNew(agent, OTHER_NODE)).toMatchObject(NO_WEBHOOK);
    });

    test('evicts pods of that node, and none of another one', async () => {
      const { admin, connection, cluster } = own();
      const registered = { folder: cluster.folder, client: admin, connection, failurePolicy: 'Ignore' } as const;
      webhook = await startInstalledWebhook({ ...registered, settings: AS_DEPLOYED });
      await eventually(async () => expect(await evictNew(agent, OWN_NODE)).toMatchObject({ kind: 'ok' }));
      expect(await evictNew(agent, OTHER_NODE)).toMatchObject({
        kind: 'forbidden',
        message: expect.stringMatching(
          new RegExp(
            `the agent of node \`${OWN_NODE}\` may evict only pods on its own node, but this pod is on node \`${OTHER_NODE}\`$`,
          ),
        ) as string,
      });
    });

    test('evicts no faster than the limits of the node, in whatever replica it is counted', async () => {
      await eventually(async () => expect(await evictNew(agent, OWN_NODE)).toMatchObject({ kind: 'tooManyRequests' }));
      const refused = await evictNew(agent, OWN_NODE);
      expect([at(refused, 'message'), Number(at(refused, 'retryAfterSeconds'))]).toEqual([
        expect.stringContaining(`the limit of 2 evictions a minute on node \`${OWN_NODE}\` is reached`),
        expect.toSatisfy((seconds: number) => seconds > 0 && seconds <= 60),
      ]);
      expect(await evictNew(otherAgent, OTHER_NODE)).toMatchObject({ kind: 'ok' });
      const counted = await own().admin.request({
        path: '/apis/plimsoll.dev/v1alpha1/namespaces/plimsoll-system/disruptionaccounts/plimsoll-evictions',
      });
      const debits = at(counted, 'object.status.debits') as readonly { readonly rules: readonly string[] }[];
      const windows = (node: string) => expect.arrayContaining(['cluster', `node/${node}`]) as unknown;
      expect(debits.map(({ rules }) => rules)).toEqual([OWN_NODE, OWN_NODE, OTHER_NODE].map(windows));
    });

    test('evicts nothing any more when the webhook has gone', async () => {
      await webhook?.kill();
      webhook = undefined;
      expect(await evictNew(otherAgent, OTHER_NODE)).toMatchObject(NO_WEBHOOK);
    });
  });
}
