import type { KnownPods } from '#shared/domain/admission/known-pods.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { listSomePods } from '#shared/kube/list/read-some.ts';

const OPTIONS = { timeoutMs: 30_000, signal: new AbortController().signal };

/** Pods of some namespaces, for warnings and for who holds a quota. Never rejects: not every user may list them. */
export async function readKnownPods(client: KubeClient, namespaces: ReadonlySet<string>): Promise<KnownPods> {
  const lists = await Promise.all(Array.from(namespaces, (namespace) => listSomePods(client, namespace, OPTIONS)));
  return { pods: lists.flatMap(({ pods }) => pods), isPartial: lists.some(({ isPartial }) => isPartial) };
}
