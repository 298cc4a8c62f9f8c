import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';

/** What an account may want to do; empty strings for the core group, the object itself, any name, all namespaces. */
export interface Attempt {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Whether the API server would let whom it is asked by do this. */
export async function mayDo(client: KubeClient, attempt: Attempt): Promise<boolean> {
  const outcome = await client.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: { spec: { resourceAttributes: attempt } },
  });
  if (outcome.kind !== 'ok') throw new Error(`cannot ask for rights: ${outcome.message}`);
  return fieldOf(fieldOf(outcome.object, 'status'), 'allowed') === true;
}

/** `RESOURCE[.GROUP][/SUBRESOURCE][ "NAME"][ in NAMESPACE]`. */
export function placeOf({ group, resource, subresource, namespace, name }: Attempt): string {
  const qualified = `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`;
  const named = name === '' ? '' : ` "${name}"`;
  return `${qualified}${named}${namespace === '' ? '' : ` in ${namespace}`}`;
}
