import type { KubeClient } from '#shared/kube/client.ts';
import type { KubeRequest } from '#shared/kube/kube-request.ts';
import type { Outcome } from '#shared/kube/outcome.ts';

type Answerer = (request: KubeRequest) => Outcome<unknown> | Promise<Outcome<unknown>>;

/** A client whose answers a test writes, and which remembers what it was asked. */
export function scriptedClient(answer: Answerer): { readonly client: KubeClient; readonly requests: KubeRequest[] } {
  const requests: KubeRequest[] = [];
  const client: KubeClient = {
    request: async (request) => {
      requests.push(request);
      return answer(request);
    },
    stream: () => Promise.reject(new Error('not part of this fake')),
    close: () => undefined,
  };
  return { client, requests };
}
