import { beforeAll, describe, expect, test } from 'vitest';
import { AGENT, WEBHOOK } from '#test/cluster/support/accounts.ts';
import { asUser, type AnswerOfUser, type AsUser } from '#test/cluster/admission/support/as-user.ts';
import { at, textAt, uniqueName } from '#test/contract/harness.ts';
import { type InstalledCluster, OTHER_NODE } from '#test/cluster/installed/support/installed-cluster.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

const RESTRICTED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};
const WEBHOOK_LABELS = { 'app.kubernetes.io/name': 'plimsoll', 'app.kubernetes.io/component': 'webhook' };
const ATTACKER_ADDRESS = '192.0.2.66';
const WATCHED_MS = 3_000;

/** Registers tests on what root on a node can do to Plimsoll by mirror pods, which a node creates in any namespace. */
export function nodeMirrors({ own }: InstalledCluster): void {
  describe('root on a node', () => {
    let kubelet: AsUser;
    let owner: object;
    beforeAll(async () => {
      const found = await own().admin.request({ path: `/api/v1/nodes/${OTHER_NODE}` });
      const uid = textAt(found, 'object.metadata.uid');
      owner = { apiVersion: 'v1', kind: 'Node', name: OTHER_NODE, uid, controller: true };
      kubelet = asUser(own().connection, `system:node:${OTHER_NODE}`, { groups: ['system:nodes'] });
    });

    /** A mirror pod of the node with the labels of the webhook, which its kubelet calls ready at an address of its choice. */
    async function createReady(namespace: string): Promise<AnswerOfUser> {
      const metadata = {
        name: uniqueName('mirror'),
        labels: WEBHOOK_LABELS,
        annotations: { 'kubernetes.io/config.mirror': '9a1f', 'kubernetes.io/config.source': 'file' },
        ownerReferences: [owner],
      };
      const resources = { requests: { cpu: '1m', memory: '1Mi' }, limits: { memory: '1Mi' } };
      const ports = [{ name: 'admission', containerPort: 10_250 }];
      const containers = [{ name: 'main', image: 'x', resources, ports, securityContext: RESTRICTED }];
      const path = `/api/v1/namespaces/${namespace}/pods`;
      const made = await kubelet('POST', path, { metadata, spec: { nodeName: OTHER_NODE, containers } });
      const podIPs = [{ ip: ATTACKER_ADDRESS }];
      const conditions = [{ type: 'Ready', status: 'True' }];
      const status = { phase: 'Running', podIP: ATTACKER_ADDRESS, podIPs, conditions };
      if (made.status === 201) await kubelet('PATCH', `${path}/${metadata.name}/status`, { status });
      return made;
    }

    /** What got in before the policy was in force. */
    async function removeMirrors(namespace: string): Promise<void> {
      const path = `/api/v1/namespaces/${namespace}/pods`;
      const query = { fieldSelector: `spec.nodeName=${OTHER_NODE}` };
      const found = await own().admin.request({ path, query });
      const items = at(found, 'object.items') as readonly { readonly metadata: { readonly name: string } }[];
      const mirrors = items.filter(({ metadata }) => metadata.name.startsWith('mirror-'));
      const body = { gracePeriodSeconds: 0 };
      for (const { metadata } of mirrors)
        await own().admin.request({ method: 'DELETE', path: `${path}/${metadata.name}`, body });
    }

    async function endpoints(): Promise<string> {
      const path = `/apis/discovery.k8s.io/v1/namespaces/${WEBHOOK.namespace}/endpointslices`;
      const found = await own().admin.request({ path });
      return JSON.stringify(at(found, 'object.items'));
    }

    const refused = (answer: AnswerOfUser): void =>
      expect([answer.status, at(answer.body, 'message')]).toEqual([
        403,
        expect.stringContaining('nodes create no pods in the namespaces of Plimsoll'),
      ]);

    test('makes no endpoint of the webhook, whose share of calls would be let in unjudged', async () => {
      // A new policy counts a moment after it was written.
      await eventually(async () => refused(await createReady(WEBHOOK.namespace)));
      refused(await createReady(AGENT.namespace));
      await letTimePass(WATCHED_MS, 'watched');
      await removeMirrors(WEBHOOK.namespace);
      await eventually(async () => expect(await endpoints()).not.toContain(ATTACKER_ADDRESS));
      refused(await createReady(WEBHOOK.namespace));
      await letTimePass(WATCHED_MS, 'watched');
      expect(await endpoints()).not.toContain(ATTACKER_ADDRESS);
    });

    test('creates mirror pods in any other namespace, as Kubernetes lets it', async () => {
      expect((await createReady('default')).status).toBe(201);
    });
  });
}
