import { subdomainFaults } from '#shared/domain/labels/label-selector.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { parseItem } from '#shared/kube/list/list-scanner.ts';
import { readSome } from '#shared/kube/list/read-some.ts';
import { PODS } from '#shared/kube/resource.ts';

const MAX_PODS = 500;
const MAX_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 5_000;

/**
 * `namespace/name` of the pods of a namespace for `namespace/…`, otherwise of pods with exactly this name: all pods of a
 * cluster are too many to be read for a search. What cannot be read is not found; never rejects.
 */
export async function podNames(client: KubeClient, text: string, signal: AbortSignal): Promise<readonly string[]> {
  const [first = '', second] = text.split('/');
  if (subdomainFaults(first).length > 0) return [];
  const where = second === undefined ? { fieldSelector: `metadata.name=${first}` } : {};
  const collection = second === undefined ? { resource: PODS } : { resource: PODS, namespace: first };
  const bounds = { limit: MAX_PODS, mostBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal };
  const page = await readSome(client, collection, { ...bounds, ...where }, (json) => nameOf(parseItem(json)));
  return page.kind === 'page' ? page.items : [];
}

function nameOf(raw: unknown): string {
  const { namespace, name } = Object(fieldOf(raw, 'metadata')) as Readonly<Record<string, unknown>>;
  return `${String(namespace)}/${String(name)}`;
}
