import { request as httpsRequest, Agent } from 'node:https';
import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { apiDouble, type ApiDouble } from '#test/fakes/api-double.ts';
import { startInProcess, type InProcessWebhook, type Settings } from './in-process.ts';

export interface RunningWebhook extends InProcessWebhook {
  readonly api: ApiDouble;
  post(
    path: string,
    body: string | Buffer,
    headers?: Readonly<Record<string, string>>,
    method?: string,
  ): Promise<{ status: number; body: string }>;
}

export const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
export const NAMESPACES = '/api/v1/namespaces';
export const PODS = '/api/v1/pods';
export const QUOTAS = '/api/v1/resourcequotas';
export const POLICIES = '/apis/plimsoll.dev/v1alpha1/prioritypolicies';
export const PRIORITY_QUOTAS = '/apis/plimsoll.dev/v1alpha1/priorityquotas';

/** The webhook as its process builds it, on loopback, with an API server that holds what `prepare` puts there. */
export async function runWebhook(
  prepare: (api: ApiDouble) => void = () => undefined,
  settings: Settings = {},
  maxSockets = 8,
  clock: Clock = systemClock,
): Promise<RunningWebhook> {
  const api = await apiDouble();
  prepare(api);
  const webhook = await startInProcess({ url: api.url, token: 'token', caPem: '' }, settings, clock);
  const ca = registeredAuthority(api);
  const agent = new Agent({ keepAlive: true, maxSockets });
  return {
    ...webhook,
    api,
    post: (path, body, headers = { 'Content-Type': 'application/json' }, method = 'POST') =>
      new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port: webhook.port, path, method, headers, agent, ca };
        const request = httpsRequest(options, (response) => {
          // From here on only the answer counts: a body that is too large cannot be written to its end.
          request.off('error', reject).on('error', () => undefined);
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response
            .on('error', reject)
            .on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
        });
        request.on('error', reject).end(body);
      }),
    stop: async () => {
      agent.destroy();
      const code = await webhook.stop();
      await api.close();
      return code;
    },
  };
}

/** The CA that the webhook registered: what an API server would trust. */
function registeredAuthority(api: ApiDouble): string {
  const configuration = api.get('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', 'plimsoll');
  const [entry] = configuration?.['webhooks'] as { clientConfig: { caBundle: string } }[];
  return Buffer.from(entry?.clientConfig.caBundle ?? '', 'base64').toString();
}
