import type { IncomingMessage, ServerResponse } from 'node:http';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { serve } from '#shared/http/serve.ts';

export type Review = Readonly<Record<string, unknown>>;

/** Answers one review; `undefined` never answers. */
export type Reviewer = (request: Review) => object | undefined | Promise<object>;

/** A webhook server of the test's own: what it was asked, and what it says. */
export interface WebhookReceiver {
  /** Reviews by path, in order of arrival. */
  readonly received: { readonly path: string; readonly request: Review }[];
  on(path: string, reviewer: Reviewer): void;
  /** `clientConfig` of a webhook that leads here. */
  clientConfig(path: string): object;
  close(): Promise<void>;
}

/** Listens on loopback with a certificate of its own authority. */
export async function webhookReceiver(): Promise<WebhookReceiver> {
  const now = Date.now();
  const authority = createAuthority({ commonName: 'plimsoll-contract', days: 1, now });
  const leaf = issueServerCertificate(authority, { dnsNames: [], ipAddresses: ['127.0.0.1'], days: 1, now });
  const reviewers = new Map<string, Reviewer>();
  const received: { path: string; request: Review }[] = [];

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { request: Review };
    const path = (request.url ?? '').split('?')[0] ?? '';
    received.push({ path, request: review.request });
    const answer = await reviewers.get(path)?.(review.request);
    if (answer === undefined) return;
    const body = { ...review, request: undefined, response: { uid: review.request['uid'], ...answer } };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  }

  const server = await serve({
    handler: (request, response) => void handle(request, response).catch(() => response.destroy()),
    host: '127.0.0.1',
    port: 0,
    tls: leaf,
    drainMs: 100,
  });
  const caBundle = Buffer.from(authority.certPem).toString('base64');
  return {
    received,
    on: (path, reviewer) => void reviewers.set(path, reviewer),
    clientConfig: (path) => ({ url: `https://127.0.0.1:${server.port}${path}`, caBundle }),
    close: () => server.close(),
  };
}

/** The answer of a mutating webhook. */
export function patched(operations: readonly object[]): object {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { allowed: true, patchType: 'JSONPatch', patch };
}
