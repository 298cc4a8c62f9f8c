import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { startWebhookProcess, type WebhookProcess } from '#test/cluster/webhook-process.ts';
import { type Answer, at, eventually, type Harness, pod } from '#test/contract/harness.ts';
import { rulePolicies } from '#shared/kube/admission-policies.ts';
import { ADMISSION_POLICIES, ADMISSION_POLICY_BINDINGS } from '#shared/kube/resource.ts';
import { PRIORITY_RULES_NAMES } from '#shared/kube/wire-names.ts';
import { ADMISSION } from '#test/contract/webhook-registrar.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';
import { registerFully } from '#webhook/register.ts';
import { RULES } from './cluster-objects.ts';
import { spread } from './spread.ts';

/** Where the webhooks share their authority, in the namespace of the harness. */
export const AUTHORITY_SECRET = 'authority';
const CRDS = fileURLToPath(new URL('../../../deploy/crds/', import.meta.url));
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The webhook processes that answer for the cluster at present, behind one address. */
export interface RegisteredWebhooks {
  readonly processes: readonly WebhookProcess[];
  /** Starts one more. */
  start(): Promise<void>;
  /** As a rollout does: starts one more, and ends the second oldest when no new connection leads there. */
  replace(): Promise<void>;
  /** Kills all of them; the registration stays. */
  kill(): Promise<void>;
}

export interface RegisteredWebhooksOptions {
  readonly replicas?: number;
  /** Of the validating entries; `Ignore` unless said otherwise. */
  readonly failurePolicy?: 'Ignore' | 'Fail';
  /** How they reach the API server of the kubeconfig that they are given, as a kubeconfig. */
  readonly toApiServer?: (kubeconfig: string) => Promise<string>;
  /** Fields of the WebhookConfiguration, beside the Secret in which they share the authority. */
  readonly settings?: Partial<Omit<WebhookConfiguration, 'tls'>> & {
    readonly tls?: Partial<WebhookConfiguration['tls']>;
  };
}

/**
 * Registers hooks of the present `describe` that install the CRDs, register the entries of deploy/ with an address that
 * the API server reaches, start the webhooks as they are shipped, and remove all of it but the CRDs.
 */
export function registeredWebhooks(api: Harness, options: RegisteredWebhooksOptions = {}): RegisteredWebhooks {
  const { replicas = 1, failurePolicy = 'Ignore', settings = {}, toApiServer } = options;
  const processes: WebhookProcess[] = [];
  let front: Awaited<ReturnType<typeof spread>>;
  let removePolicies = (): Promise<void> => Promise.resolve();

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
    await applyDefinitions(api);
    removePolicies = await applyAdmissionPolicies(api);
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
    await removePolicies();
    await removeRules(api);
    await front.close();
  });
  return { processes, start, replace, kill };
}

async function applyDefinitions(api: Harness): Promise<void> {
  for (const file of readdirSync(CRDS).filter((name) => name.startsWith('plimsoll.dev_'))) {
    const definition = parse(readFileSync(`${CRDS}${file}`, 'utf8')) as Definition;
    await apply(api, `${DEFINITIONS}/${definition.metadata.name}`, definition);
    // A new kind answers that its storage is initializing for a moment.
    const collection = `/apis/plimsoll.dev/v1alpha1/${definition.spec.names.plural}`;
    await eventually(async () => expect((await api.get(collection)).status).toBe(200));
  }
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly names: { readonly plural: string } };
}

/** The policies by which the API server itself enforces the rules; answers how to remove them. */
async function applyAdmissionPolicies(api: Harness): Promise<() => Promise<void>> {
  const paths = rulePolicies().map(({ kind, metadata: { name = '' } }) => {
    return `${ADMISSION}/${kind === ADMISSION_POLICIES.kind ? ADMISSION_POLICIES.plural : ADMISSION_POLICY_BINDINGS.plural}/${name}`;
  });
  for (const [index, object] of rulePolicies().entries()) await apply(api, paths[index] ?? '', object);
  return async () => {
    for (const path of paths) await api.remove(path);
  };
}

async function apply(api: Harness, path: string, object: object): Promise<void> {
  const applied = await api.patch(path, object, 'apply', { query: { fieldManager: 'test', force: true } });
  expect([applied.status, at(applied.body, 'message')]).toEqual([expect.toBeOneOf([200, 201]), undefined]);
}

/** What the webhooks compiled would judge whatever comes after them. */
async function removeRules(api: Harness): Promise<void> {
  for (const name of Object.values(PRIORITY_RULES_NAMES)) await api.remove(`${RULES}/${name}`);
}

/** A pod that the validating webhook, and nobody else, warns of: it takes an hour to end. */
export function slowPod(name: string): object {
  return pod(name, { terminationGracePeriodSeconds: 3_600 });
}

/** Whether the validating webhook was asked about a slow pod. */
export function wasAsked({ headers }: Answer): boolean {
  return String(headers['warning']).includes('spec.terminationGracePeriodSeconds');
}

/** The API server takes up to a second to call a new webhook. */
export async function untilAsked(api: Harness): Promise<void> {
  await eventually(async () => {
    expect(wasAsked(await api.post(api.core('pods'), slowPod('probe'), { query: { dryRun: 'All' } }))).toBe(true);
  }, 30_000);
}
