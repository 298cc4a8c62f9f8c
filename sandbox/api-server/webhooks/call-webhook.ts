import { Buffer } from 'node:buffer';
import { Agent, request as send, type RequestOptions } from 'node:https';
import { isFields, type Fields, scalarText } from '#sandbox/api-server/wire/object.ts';
import type { Webhook } from './webhook.ts';

/** Maps `service.namespace` of a clientConfig to its address on this machine: `https://127.0.0.1:PORT`. */
export type ServiceTable = ReadonlyMap<string, string>;

/** Sends reviews to webhooks; keeps connections open between calls. */
export interface WebhookCaller {
  /**
   * The `response` of the webhook. Rejects with an Error that says why there is none, in the words of Go's HTTP client.
   */
  readonly call: (webhook: Webhook, request: Fields, signal: AbortSignal) => Promise<Fields>;
  readonly close: () => void;
}

const LARGEST_ANSWER = 8 * 1024 * 1024;

export function createWebhookCaller(services: ServiceTable): WebhookCaller {
  const agents = new Map<string, Agent>();

  function agentFor(ca: string | undefined): Agent {
    const known = agents.get(ca ?? '');
    if (known !== undefined) return known;
    const agent = new Agent({ keepAlive: true, maxSockets: 64, ...(ca === undefined ? {} : { ca }) });
    agents.set(ca ?? '', agent);
    return agent;
  }

  return {
    call: async (webhook, request, signal) => {
      const url = addressOf(webhook, services);
      const body = JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request });
      const { service } = webhook.client;
      const servername = service === undefined ? {} : { servername: `${service.name}.${service.namespace}.svc` };
      const options = { method: 'POST', agent: agentFor(webhook.client.ca), signal, ...servername };
      const answer = await post(url, body, options).catch((error: unknown) => Promise.reject(callError(url, error)));
      return responseOf(answer, String(request['uid']));
    },
    close: () => {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

function addressOf({ client, timeoutSeconds }: Webhook, services: ServiceTable): URL {
  const { url, service } = client;
  const base = service === undefined ? url : services.get(`${service.name}.${service.namespace}`);
  if (base === undefined) throw new Error(`failed to call webhook: service "${service?.name ?? ''}" not found`);
  const address = new URL(
    service === undefined ? base : `${base}${service.path.startsWith('/') ? '' : '/'}${service.path}`,
  );
  address.searchParams.set('timeout', `${timeoutSeconds}s`);
  return address;
}

interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
}

function post(url: URL, body: string, options: RequestOptions): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'kube-apiserver-admission',
    };
    const request = send(url, { ...options, headers }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > LARGEST_ANSWER) request.destroy(new Error('the answer is too large'));
        else chunks.push(chunk);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

const ERRNO: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  ECONNRESET: 'read: connection reset by peer',
  ENOTFOUND: 'lookup: no such host',
  ETIMEDOUT: 'connect: connection timed out',
};

function callError(url: URL, error: unknown): Error {
  const { name, code, message } = error as NodeJS.ErrnoException;
  return new Error(`failed to call webhook: Post ${JSON.stringify(url.href)}: ${causeText(url, name, code, message)}`, {
    cause: error,
  });
}

function causeText(url: URL, name: string, ...[code, message]: [string | undefined, string]): string {
  if (name === 'AbortError' || name === 'TimeoutError') return 'context deadline exceeded';
  const known = ERRNO[code ?? ''];
  if (known !== undefined) return `dial tcp ${url.host}: ${known}`;
  return isCertificateProblem(code) ? `tls: failed to verify certificate: x509: ${message}` : message;
}

function isCertificateProblem(code = ''): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code);
}

function responseOf({ status, body }: HttpAnswer, uid: string): Fields {
  if (status < 200 || status > 299) throw new Error(`failed to call webhook: ${httpText(status, body)}`);
  const review = parse(body);
  const response = review['response'];
  if (!isFields(response)) throw new Error('received invalid webhook response: webhook response was absent');
  if (response['uid'] !== uid) {
    throw new Error(
      `received invalid webhook response: expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`,
    );
  }
  if (review['kind'] !== 'AdmissionReview' || review['apiVersion'] !== 'admission.k8s.io/v1') {
    throw new Error(
      `received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${scalarText(review['apiVersion'])}, Kind=${scalarText(review['kind'])}`,
    );
  }
  return response;
}

function httpText(status: number, body: Buffer): string {
  if (status === 404) return 'the server could not find the requested resource';
  if (status === 503) return 'the server is currently unable to handle the request';
  const text = JSON.stringify(body.toString('utf8', 0, 200).trim() || 'unknown');
  return status >= 500
    ? `an error on the server (${text}) has prevented the request from succeeding`
    : `the server rejected our request for an unknown reason`;
}

function parse(body: Buffer): Fields {
  try {
    const value: unknown = JSON.parse(body.toString());
    if (isFields(value)) return value;
  } catch {
    // A body that is not JSON is reported like one that is not an object.
  }
  throw new Error('failed to call webhook: the answer is not a JSON object');
}
