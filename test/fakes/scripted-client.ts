import type { ByteStream, KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';

type Answerer = (request: KubeRequest) => Outcome<unknown> | Promise<Outcome<unknown>>;

/** A client whose answers a test writes, and which remembers what it was asked. Streams send the JSON of the answer. */
export function scriptedClient(answer: Answerer): { readonly client: KubeClient; readonly requests: KubeRequest[] } {
  const requests: KubeRequest[] = [];
  const request = async (asked: KubeRequest): Promise<Outcome<unknown>> => {
    requests.push(asked);
    return answer(asked);
  };
  const client: KubeClient = {
    request,
    stream: async (asked) => streamed(await request(asked)),
    close: () => undefined,
  };
  return { client, requests };
}

const CHUNK_BYTES = 1_000;

function streamed(outcome: Outcome<unknown>): Outcome<ByteStream> {
  if (outcome.kind !== 'ok') return outcome;
  const bytes = Buffer.from(JSON.stringify(outcome.object));
  const stream: ByteStream = {
    close: () => undefined,
    async *[Symbol.asyncIterator]() {
      for (let from = 0; from < bytes.length; from += CHUNK_BYTES)
        yield await Promise.resolve(bytes.subarray(from, from + CHUNK_BYTES));
    },
  };
  return { ...outcome, object: stream };
}
