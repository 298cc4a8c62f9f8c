import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { evictPod } from '#shared/kube/events/evict-pod.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { testClient } from '#test/cluster/support/control-plane/test-client.ts';
import { call } from './kube-calls.ts';
import { makePod, podPath, type Workload } from './make-pod.ts';
import { whyNoNode } from './start/node-programs.ts';
import { type NodeOfOurs, startNodeOf } from './start/start-node-of.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

const why = whyNoNode(process.env);
const TIMEOUT_MS = 300_000;
const LONG_GRACE_SECONDS = 120;
/** The kubelet has asked the container to stop by then, which neither the API server nor the container shows. */
const ENDING_MS = 5_000;
/** A kubelet that shortened would be done with the second's grace long before. */
const SETTLED_MS = 20_000;

/**
 * What the agent's severe stage rests on. A kubelet that did shorten the stop of a container would be welcome: then what
 * was asked for again may be counted on (shared/decide/eviction/history/inflight-eviction.ts).
 */
describe.skipIf(why !== undefined)(`a pod that ends with a long grace${why ?? ''}`, { timeout: TIMEOUT_MS }, () => {
  let node: NodeOfOurs;
  let client: KubeClient;
  beforeAll(async () => {
    node = await startNodeOf('native');
    client = await testClient(node.kubeconfig);
  }, TIMEOUT_MS);
  afterAll(async () => {
    client.close();
    await node.close();
  });

  async function startDeaf(name: string): Promise<string> {
    const pod: Workload = { name, mebibytes: 64, graceSeconds: LONG_GRACE_SECONDS, isDeaf: true };
    await makePod(client, pod);
    return eventually(async () => {
      const found = await call(client, { path: podPath(pod) });
      expect(at(found, 'status.containerStatuses.0.started')).toBe(true);
      return textAt(found, 'metadata.uid');
    }, 60_000);
  }

  const groupOf = (uid: string): string => `/sys/fs/cgroup/memory/${node.kubepods}/besteffort/pod${uid}`;

  async function evict(name: string, uid: string, gracePeriodSeconds: number): Promise<void> {
    const outcome = await evictPod(client, { namespace: 'default', name, uid, gracePeriodSeconds });
    expect(outcome).toEqual({ kind: 'evicted' });
  }

  async function deletePod(name: string): Promise<void> {
    await call(client, { method: 'DELETE', path: podPath({ name }) });
  }

  test('is not ended sooner by a later eviction with one second, be it evicted first or deleted', async () => {
    const names = ['deaf-evicted', 'deaf-deleted'] as const;
    const [evicted, deleted] = await Promise.all(names.map(startDeaf));
    const uids = [evicted ?? '', deleted ?? ''] as const;
    await evict(names[0], uids[0], LONG_GRACE_SECONDS);
    await deletePod(names[1]);
    await letTimePass(ENDING_MS, 'unseen');
    for (const [index, name] of names.entries()) {
      await evict(name, uids[index] ?? '', 1);
      expect(at(await call(client, { path: podPath({ name }) }), 'metadata.deletionGracePeriodSeconds')).toBe(1);
    }
    await letTimePass(SETTLED_MS, 'watched');
    expect(uids.map((uid) => existsSync(groupOf(uid)))).toEqual([true, true]);
  });
});
