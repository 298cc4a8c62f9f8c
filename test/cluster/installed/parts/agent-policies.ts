import { beforeAll, describe, expect, test } from 'vitest';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { AGENT } from '#test/cluster/support/accounts.ts';
import { at, pod } from '#test/contract/harness.ts';
import {
  evict,
  type InstalledCluster,
  OTHER_NODE,
  OWN_NODE,
  post,
} from '#test/cluster/installed/support/installed-cluster.ts';
import { eventually } from '#test/build/waiting.ts';

const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';

/** Registers tests on the ValidatingAdmissionPolicies that tie an agent to its node and to the laws of eviction. */
export function agentPolicies({ own, clientOf, agentPodOn }: InstalledCluster): void {
  describe('the agent of a node', () => {
    let agent: KubeClient;
    let unbound: KubeClient;
    beforeAll(async () => {
      agent = await clientOf(AGENT, await agentPodOn(OWN_NODE));
      unbound = await clientOf(AGENT);
      const victim = (name: string): object => pod(name, { nodeName: OWN_NODE, tolerations: [{ operator: 'Exists' }] });
      await post(own().admin, '/api/v1/namespaces/default/pods', victim('spared'));
      await post(own().admin, '/api/v1/namespaces/kube-system/pods', victim('system'));
    });

    const pressure = (name: string): object => ({
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'NodePressure',
      metadata: { name },
    });
    const denied = (policy: string, text: string): object => ({
      kind: 'forbidden',
      message: expect.stringMatching(
        new RegExp(`ValidatingAdmissionPolicy '${policy}' with binding '${policy}' denied request: ${text}$`),
      ) as string,
    });

    test('writes the NodePressure of its own node and no other', async () => {
      const other = `the agent on node ${OWN_NODE} may not write the NodePressure of ${OTHER_NODE}`;
      // A new policy counts a moment after it was written.
      await eventually(async () =>
        expect(await post(agent, PRESSURES, pressure(OTHER_NODE))).toMatchObject(
          denied('plimsoll-agent-own-node', other),
        ),
      );
      expect(await post(agent, PRESSURES, pressure(OWN_NODE))).toMatchObject({ kind: 'ok' });
      await post(own().admin, PRESSURES, pressure(OTHER_NODE));
      const patch = (name: string): Promise<Outcome<unknown>> =>
        agent.request({
          method: 'PATCH',
          path: `${PRESSURES}/${name}/status`,
          contentType: 'application/merge-patch+json',
          body: { status: { observedAt: '2026-01-01T00:00:00Z' } },
        });
      expect(await patch(OTHER_NODE)).toMatchObject(denied('plimsoll-agent-own-node', other));
      expect(await patch(OWN_NODE)).toMatchObject({ kind: 'ok' });
    });

    test('evicts with the UID of the judged pod, with grace, and never from kube-system', async () => {
      const no = (text: string): object => denied('plimsoll-agent-evictions', text);
      const uid = 'some-uid';
      await eventually(async () =>
        expect(await evict(agent, 'default/spared', {})).toMatchObject(
          no('an eviction by the agent must carry the UID of the pod that was judged'),
        ),
      );
      expect(await evict(agent, 'default/spared', { preconditions: { uid }, gracePeriodSeconds: 0 })).toMatchObject(
        no('the agent must not evict with a grace period of 0'),
      );
      expect(await evict(agent, 'kube-system/system', { preconditions: { uid } })).toMatchObject(
        no("the agent must not evict from kube-system or from Plimsoll's own namespaces"),
      );
    });

    test('changes CPU limits of pods of its own node, and nothing else of them (T-155)', async () => {
      const resources = { requests: { cpu: '100m' }, limits: { cpu: '1', memory: '64Mi' } };
      const burstable = (name: string, nodeName: string): object => {
        const containers = [{ name: 'main', image: 'none', resources }];
        return pod(name, { nodeName, tolerations: [{ operator: 'Exists' }], containers });
      };
      await post(own().admin, '/api/v1/namespaces/default/pods', burstable('near', OWN_NODE));
      await post(own().admin, '/api/v1/namespaces/default/pods', burstable('far', OTHER_NODE));
      const resize = (name: string, amounts: object): Promise<Outcome<unknown>> =>
        agent.request({
          method: 'PATCH',
          path: `/api/v1/namespaces/default/pods/${name}/resize`,
          contentType: 'application/strategic-merge-patch+json',
          body: { spec: { containers: [{ name: 'main', resources: amounts }] } },
        });
      const no = (text: string): object => denied('plimsoll-agent-resizes', text);
      const field = 'the agent may change only a CPU limit that is set, of a pod with one container';
      await eventually(async () =>
        expect(await resize('near', { limits: { memory: '128Mi' } })).toMatchObject(no(field)),
      );
      expect(await resize('near', { requests: { cpu: '50m' } })).toMatchObject(no(field));
      expect(await resize('far', { limits: { cpu: '200m' } })).toMatchObject(
        no('the agent may resize only pods of its own node'),
      );
      const limit = 'object.spec.containers.0.resources.limits.cpu';
      expect(at(await resize('near', { limits: { cpu: '200m' } }), limit)).toBe('200m');
      expect(at(await resize('near', { limits: { cpu: '1000m' } }), limit)).toBe('1');
    });

    test('may do neither with a token that no pod holds', async () => {
      const text = "the agent's token must be bound to a pod on a node";
      expect(await post(unbound, PRESSURES, pressure(OWN_NODE))).toMatchObject(denied('plimsoll-agent-own-node', text));
      expect(await evict(unbound, 'default/spared', { preconditions: { uid: 'some-uid' } })).toMatchObject(
        denied('plimsoll-agent-evictions', text),
      );
    });
  });
}
