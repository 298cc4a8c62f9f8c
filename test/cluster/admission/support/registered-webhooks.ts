import { afterAll, beforeAll, expect, inject } from 'vitest';
import { NAMESPACE_SYSTEM } from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { startWebhookProcess, type WebhookProcess } from '#test/cluster/support/webhook-process.ts';
import { type Answer, type Harness, pod } from '#test/contract/harness.ts';
import { ADMISSION } from '#test/contract/webhook-registrar.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';
import { registerFully } from '#webhook/registration/registration.ts';
import { installRules } from './install-rules.ts';
import { spread } from './spread.ts';
import { eventually } from '#test/build/waiting.ts';

/** Where the webhooks share their authority, in the namespace of the harness. */
export const AUTHORITY_SECRET = 'authority';

/** The webhook processes that answer for the cluster at present, behind one address. */
export interface RegisteredWebhooks {
  readonly processes: readonly WebhookProcess[];
  /** Starts one more. */
  start(): Promise<void>;
  /** Like a rollout: starts one more, and stops the second oldest when no new connections reach it. */
  replace(): Promise<void>;
  /** Kills all of them; the registration stays. */
  kill(): Promise<void>;
}

export interface RegisteredWebhooksOptions {
  readonly replicas?: number;
  /** Of the validating entries; `Ignore` unless said otherwise. */
  readonly failurePolicy?: 'Ignore' | 'Fail';
  /** The admission policies of the API server; those of deploy/base unless said otherwise. */
  readonly policies?: readonly KubeObject[];
  /** A kubeconfig for the webhooks, derived from the given one. */
  readonly toApiServer?: (kubeconfig: string) => Promise<string>;
  /** Fields of the WebhookConfiguration, in addition to the Secret in which they share the authority. */
  readonly settings?: Partial<Omit<WebhookConfiguration, 'tls' | 'registration'>> & {
    readonly tls?: Partial<WebhookConfiguration['tls']>;
    readonly registration?: Partial<WebhookConfiguration['registration']>;
  };
}

/**
 * Registers hooks of the present `describe` that install the CRDs, register the entries of deploy/ with an address that
 * the API server reaches, start the webhooks as they are shipped, and remove all of it but the CRDs.
 */
export function registeredWebhooks(api: Harness, options: RegisteredWebhooksOptions = {}): RegisteredWebhooks {
  const { replicas = 1, failurePolicy = 'Ignore', settings = {}, policies, toApiServer } = options;
  const processes: WebhookProcess[] = [];
  let front: Awaited<ReturnType<typeof spread>>;
  let removeRules = (): Promise<void> => Promise.resolve();

  async function start(): Promise<void> {
    const tls = { secretName: AUTHORITY_SECRET, secretNamespace: api.namespace, ...settings.tls };
    const leaderElection = { namespace: api.namespace, ...settings.leaderElection };
    const given = inject('kubeconfig');
    const place = { folder: inject('runFolder'), kubeconfig: (await toApiServer?.(given)) ?? given };
    processes.push(await startWebhookProcess(place, { ...settings, tls, leaderElection }));
    front.to(processes.map(({ port }) => port));
  }

  async function replace(): Promise<void> {
    const [leaving] = processes.splice(1, 1);
    await start();
    await leaving?.stop();
  }

  async function kill(): Promise<void> {
    await Promise.all(processes.splice(0).map((each) => each.kill()));
  }

  beforeAll(async () => {
    removeRules = await installRules(api, policies);
    // Evictions by our own accounts are counted there; other files have made it already.
    await api.post('/api/v1/namespaces', { metadata: { name: NAMESPACE_SYSTEM } });
    front = await spread();
    const target = { kind: 'url', url: `https://127.0.0.1:${front.port}` } as const;
    await registerFully(api.client, { target, failurePolicy, gatedCallers: [] });
    for (let n = 0; n < replicas; n += 1) await start();
    await untilAsked(api);
  });
  afterAll(async () => {
    for (const kind of ['mutating', 'validating'])
      await api.remove(`${ADMISSION}/${kind}webhookconfigurations/plimsoll`);
    await Promise.all(processes.map((each) => each.stop()));
    await removeRules();
    await front.close();
  });
  return { processes, start, replace, kill };
}

/** A pod that only the validating webhook warns of: it has a grace period of an hour. */
export function slowPod(name: string): object {
  return pod(name, { terminationGracePeriodSeconds: 3_600 });
}

/** Whether the validating webhook was called for a slow pod. */
export function wasAsked({ headers }: Answer): boolean {
  return String(headers['warning']).includes('spec.terminationGracePeriodSeconds');
}

/** The API server takes up to a second to call a new webhook. */
export async function untilAsked(api: Harness): Promise<void> {
  await eventually(async () => {
    expect(wasAsked(await api.post(api.core('pods'), slowPod('probe'), { query: { dryRun: 'All' } }))).toBe(true);
  }, 30_000);
}
