import type { Pod } from '#shared/domain/pod/pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { PODS } from '#shared/kube/resource.ts';
import { parseItem } from './list-scanner.ts';
import { readSome, type SomeOptions } from './read-some.ts';

const PAGE_SIZE = 500;
const PAGE_BYTES = 32 * 1024 * 1024;
const NO_TEXTS: ReadonlyMap<string, string> = new Map();

/**
 * All pods of a namespace, as disruption limits count them. It holds one page at a time, and in it one whole pod.
 * Rejects if a pod cannot be decoded.
 */
export async function readNamespacePods(
  client: KubeClient,
  namespace: string,
  options: Pick<SomeOptions, 'timeoutMs' | 'signal'>,
): Promise<readonly Pod[]> {
  const pods: Pod[] = [];
  let token: string | undefined;
  do {
    const query = { ...options, limit: PAGE_SIZE, mostBytes: PAGE_BYTES };
    const paged = token === undefined ? query : { ...query, continueToken: token };
    const page = await readSome(client, { resource: PODS, namespace }, paged, (json) => slim(json));
    if (page.kind !== 'page') throw new Error(`cannot list pods: ${page.message}`);
    if (page.isCut) throw new Error('cannot list pods: not all could be read');
    pods.push(...page.items);
    token = page.continueToken;
  } while (token !== undefined);
  return pods;
}

/** Drops the fields that no limit uses: thousands of pods are held at once. */
function slim(json: Buffer): Pod {
  const decoded = decodePod(parseItem(json));
  if (!decoded.ok) throw new Error(`${decoded.field}: ${decoded.message}`);
  const { value: pod } = decoded;
  const spec = { ...pod.spec, containers: [], initContainers: [], volumes: [] };
  return { ...pod, annotations: NO_TEXTS, spec, status: { ...pod.status, containers: [], initContainers: [] } };
}
