import type { KubeClient } from '#shared/kube/client/client.ts';
import { type CallOptions, getObject, type ObjectAddress } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

/** Reads one object of ours; `undefined` if there is none. Rejects if it cannot be read. */
export type ReadOwn = (address: ObjectAddress, call?: CallOptions) => Promise<KubeObject | undefined>;

/** From the API server. */
export function liveReader(client: KubeClient): ReadOwn {
  return async (address, call = {}) => {
    const found = await getObject(client, address, call);
    return found.kind === 'notFound' ? undefined : expectOk(found, `read ${address.resource.kind} "${address.name}"`);
  };
}
