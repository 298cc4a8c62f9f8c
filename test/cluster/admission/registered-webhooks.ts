import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { startWebhookProcess, type WebhookProcess } from '#test/cluster/webhook-process.ts';
import { at, eventually, type Harness, pod } from '#test/contract/harness.ts';
import { ADMISSION } from '#test/contract/webhook-registrar.ts';
import { POLICIES } from './cluster-objects.ts';
import { spread } from './spread.ts';

const CRDS = fileURLToPath(new URL('../../../deploy/crds/', import.meta.url));
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The webhook processes that answer for the cluster at present, behind one address. */
export interface RegisteredWebhooks {
  readonly processes: readonly WebhookProcess[];
  /** Starts one more, with these settings beside the common ones. */
  start(settings?: object): Promise<void>;
  /** Ends all of them; the registration stays. SIGKILL unless they may end as they like. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

export interface RegisteredWebhooksOptions {
  readonly replicas?: number;
  /** Fields of the WebhookConfiguration for all of them. */
  readonly settings?: object;
}

/** Registers hooks of the present `describe` that install the CRDs, and start, register and remove the webhooks. */
export function registeredWebhooks(api: Harness, options: RegisteredWebhooksOptions = {}): RegisteredWebhooks {
  const processes: WebhookProcess[] = [];
  let front: Awaited<ReturnType<typeof spread>>;

  async function start(settings: object = {}): Promise<void> {
    const common = {
      registration: { mode: 'Full', url: `https://127.0.0.1:${front.port}` },
      tls: { secretName: 'authority', secretNamespace: api.namespace, overlapSeconds: 1 },
    };
    processes.push(await startWebhookProcess(inject('kubeconfig'), { ...common, ...options.settings, ...settings }));
    front.to(processes.map(({ port }) => port));
  }

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await Promise.all(processes.splice(0).map((each) => (signal === 'SIGTERM' ? each.stop() : each.kill())));
  }

  beforeAll(async () => {
    await applyDefinitions(api);
    front = await spread();
    for (let n = 0; n < (options.replicas ?? 1); n += 1) await start();
    await untilAsked(api);
  });
  afterAll(async () => {
    for (const kind of ['mutating', 'validating'])
      await api.remove(`${ADMISSION}/${kind}webhookconfigurations/plimsoll`);
    await end('SIGTERM');
    await front.close();
  });
  return { processes, start, end };
}

async function applyDefinitions(api: Harness): Promise<void> {
  for (const file of readdirSync(CRDS).filter((name) => name.startsWith('plimsoll.dev_'))) {
    const definition = parse(readFileSync(`${CRDS}${file}`, 'utf8')) as { metadata: { name: string } };
    const path = `${DEFINITIONS}/${definition.metadata.name}`;
    const applied = await api.patch(path, definition, 'apply', { query: { fieldManager: 'test', force: true } });
    expect([applied.status, at(applied.body, 'message')]).toEqual([expect.toBeOneOf([200, 201]), undefined]);
  }
  await eventually(async () => expect((await api.get(POLICIES)).status).toBe(200));
}

/** The API server takes up to a second to call a new webhook. A forged QoS class is refused by nobody but us. */
export async function untilAsked(api: Harness): Promise<void> {
  const forged = { ...pod('probe'), status: { qosClass: 'Guaranteed' } };
  await eventually(async () => {
    expect((await api.post(api.core('pods'), forged, { query: { dryRun: 'All' } })).status).toBe(403);
  });
}
