import { beforeAll, describe, expect, test } from 'vitest';
import { rankingFacts } from '#shared/domain/ranking/candidate.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { contractHarness, pod } from '#test/contract/harness.ts';
import type { AsUser } from '#test/cluster/admission/support/as-user.ts';
import { tenantOf } from '#test/cluster/admission/support/tenant.ts';
import { eventually } from '#test/build/waiting.ts';

const PATIENCE_MS = 50_000;

/** Pods of DaemonSets are evicted after others, but the owner of a pod is a claim of its creator. */
describe.skipIf(!hasCluster())('a tenant that names a DaemonSet as the owner of its pod', () => {
  const api = contractHarness(clusterTarget());
  let tenant: AsUser;
  beforeAll(async () => {
    tenant = await tenantOf(api);
    for (const [name, apiVersion] of Object.entries(OWNERS)) await claim(name, apiVersion);
  });

  const OWNERS = { exact: 'apps/v1', core: 'v1', unknown: 'example.com/v1' };

  async function claim(name: string, apiVersion: string): Promise<void> {
    const owner = {
      apiVersion,
      kind: 'DaemonSet',
      name: 'claimed',
      uid: `00000000-0000-0000-0000-00000000000${name.length}`,
    };
    const metadata = { ownerReferences: [{ ...owner, controller: true }] };
    expect((await tenant('POST', api.core('pods'), pod(name, { nodeName: 'node-x' }, metadata))).status).toBe(201);
  }

  test("loses the pod to the garbage collector if the owner's kind exists but the owner does not", async () => {
    await eventually(async () => expect((await api.get(api.core('pods/exact'))).status).toBe(404), PATIENCE_MS);
  });

  test('keeps the pod if the kind does not exist, and the pod is ranked like any other', async () => {
    for (const name of ['core', 'unknown']) {
      const { status, body } = await api.get(api.core(`pods/${name}`));
      const decoded = decodePod(body);
      if (!decoded.ok) throw new Error(decoded.message);
      expect([status, rankingFacts(decoded.value).isDaemonSetPod]).toEqual([200, false]);
    }
  });
});
