import { expect } from 'vitest';
import { ANNOTATION_CONFIRMED_GENERATION } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { at } from '#test/contract/harness.ts';
import { call } from './kube-calls.ts';
import { NODE_NAME } from './node-place.ts';

/**
 * For every node: the pod that exceeds its request goes when a second has passed below the threshold. It may be met already
 * when it arrives, so it is confirmed.
 */
export async function applyPolicy(client: KubeClient, available: string): Promise<void> {
  const generation = await writePolicy(client, available, {});
  await writePolicy(client, available, { [ANNOTATION_CONFIRMED_GENERATION]: String(generation) });
}

/** Answers its generation. */
async function writePolicy(client: KubeClient, available: string, annotations: object): Promise<unknown> {
  const signal = 'memory.available';
  const spec = {
    mode: 'Enforce',
    // What is left is asked of the kubelet; a machine with much cache has more by the other figure.
    memoryFigure: 'Kubelet',
    evictionSoft: { [signal]: available },
    evictionSoftGracePeriod: { [signal]: '1s' },
    evictionPressureTransitionPeriod: '10s',
    protect: { withinRequest: true },
  };
  const path = `/apis/plimsoll.dev/v1alpha1/nodepressurepolicies/${NODE_NAME}`;
  const metadata = { name: NODE_NAME, annotations };
  const body = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressurePolicy', metadata, spec };
  const query = { fieldManager: 'plimsoll-test', force: true };
  const answer = await call(client, {
    method: 'PATCH',
    path,
    query,
    contentType: 'application/apply-patch+yaml',
    body,
  });
  return at(answer, 'metadata.generation');
}

interface EvictionEvent {
  readonly reporter: string;
  readonly message: string;
  readonly annotations: unknown;
}

/** Who said about a pod that it was evicted; there is at least one. */
export async function evictedEvents(client: KubeClient, name: string): Promise<readonly EvictionEvent[]> {
  const query = { fieldSelector: `involvedObject.name=${name},reason=Evicted` };
  const { items } = (await call(client, { path: '/api/v1/namespaces/default/events', query })) as {
    readonly items: readonly {
      readonly message: string;
      readonly reportingComponent: string;
      readonly metadata: { readonly annotations?: unknown };
    }[];
  };
  expect(items).not.toEqual([]);
  return items.map(({ message, reportingComponent: reporter, metadata: { annotations } }) => ({
    reporter,
    message,
    annotations,
  }));
}
