import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/transport.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';

const MOST_BYTES = 8 * 1_048_576;

/** A gauge without labels from a page of metrics; `undefined` where the page has none. Reads at most 8 MiB. */
export async function readGauge(
  client: Pick<KubeClient, 'stream'>,
  request: KubeRequest,
  name: string,
): Promise<Outcome<number | undefined>> {
  const opened = await client.stream({ ...request, accept: 'text/plain' });
  if (opened.kind !== 'ok') return opened;
  try {
    const text = await firstBytes(opened.object);
    const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
    return { ...opened, object: value === undefined ? undefined : Number(value) };
  } catch (error) {
    return { kind: 'unreachable', message: `the answer was cut off: ${String(error)}` };
  } finally {
    opened.object.close();
  }
}

async function firstBytes(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MOST_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}
