import { createWorkspace } from '#sandbox/workspace.ts';
import { createIdentities } from '#sandbox/identities.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { Revision } from '#sandbox/api-server/storage/revision.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';
import { startApiServer } from '#sandbox/api-server/start-api-server.ts';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { createObject } from '#shared/kube/client/objects.ts';
import {
  MUTATING_WEBHOOKS,
  NAMESPACES,
  PRIORITY_CLASSES,
  PRIORITY_QUOTAS,
  RESOURCE_QUOTAS,
  VALIDATING_WEBHOOKS,
  type Resource,
} from '#shared/kube/resource.ts';
import { webhookConfigurations } from '#shared/kube/admission/webhook-configurations.ts';
import { LABEL_PRIORITY_QUOTA, PRIORITY_QUOTA_ENFORCED, WEBHOOK_ENTRIES } from '#shared/kube/api-names.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import type { RandomSource } from '#test/fakes/random-source.ts';
import type { CountedByQuota } from './check-history.ts';
import { POD_STORAGE, recordHistory, type HistoryEntry } from './history.ts';

/** The sandbox API server with everything that a fault run needs in it, and its history from the beginning. */
export interface FaultCluster {
  readonly client: KubeClient;
  readonly history: readonly HistoryEntry[];
  /** How a webhook reaches the API server. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export const TEAMS = ['team-a', 'team-b', 'team-c', 'team-d'] as const;
/** Where nothing is in force: its pods count nowhere. */
export const ELSEWHERE = 'elsewhere';
/** Of the names generated from this prefix many are taken; by chance hardly any would be. */
export const CLASHING_PREFIX = 'again-';
/** Everything of this class is charged first and then refused by an in-tree ResourceQuota. */
export const DOOMED_CLASS = 'doomed';
const CLASSES = { low: 10, standard: 100, high: 1_000, [DOOMED_CLASS]: 500 } as const;
const CLASHES = 0.3;

export interface FaultQuota extends CountedByQuota {
  readonly spec: Readonly<Record<string, unknown>>;
  /** `hard` as it is at first; the run lowers and raises the pods of one of them. */
  readonly hard: { readonly pods: number; readonly 'requests.memory': string };
}

const EVERYWHERE: ReadonlySet<string> = new Set(TEAMS);

/** One by class, one by range over everything, one in some namespaces alone: pods of class high fall under all. */
export const QUOTAS: readonly FaultQuota[] = [
  {
    name: 'high-tier',
    classes: new Set(['high']),
    namespaces: EVERYWHERE,
    spec: { priorityClassNames: ['high'] },
    hard: { pods: 120, 'requests.memory': '4Gi' },
  },
  {
    name: 'whole',
    classes: new Set(Object.keys(CLASSES)),
    namespaces: EVERYWHERE,
    spec: { priority: { min: 0, max: 1_000 } },
    hard: { pods: 320, 'requests.memory': '24Gi' },
  },
  {
    name: 'tenant-one',
    classes: new Set(['standard', 'high']),
    namespaces: new Set(['team-a', 'team-b']),
    spec: {
      priorityClassNames: ['standard', 'high'],
      namespaceSelector: { matchLabels: { tenant: 'one' } },
    },
    hard: { pods: 100, 'requests.memory': '8Gi' },
  },
];

/** Starts it on loopback with HTTPS; the quota entry alone is registered, at this port. */
export async function startFaultCluster(webhookPort: number, random: RandomSource): Promise<FaultCluster> {
  const log = createLog({ component: 'test', level: 'error', format: 'json' });
  const { tokens, users } = createIdentities('none');
  const server = await startApiServer({ host: '127.0.0.1', port: 0, clock, log, users });
  const history = recordHistory(server.state.store);
  letNamesClash(server.state.store, random);
  const workspace = await createWorkspace({ kubeconfig: server.kubeconfig(), caPem: server.caPem, tokens });
  const connection = directConnection({ server: server.url, token: server.token, ca: server.caPem });
  const client = createClient(connection, { userAgent: 'fault-run' });
  await installPlimsoll(client);
  await createObjects(client);
  await register(client, webhookPort);
  return {
    client,
    history,
    environment: {
      PLIMSOLL_SERVER: server.url,
      PLIMSOLL_TOKEN_FILE: workspace.tokenFile('webhook'),
      PLIMSOLL_CA_FILE: workspace.caFile,
    },
    close: async () => {
      client.close();
      await server.close();
      await workspace.remove();
    },
  };
}

/** As if another request had just taken the name: admission is over by then, and the next attempt has a new UID. */
function letNamesClash(store: Store, random: RandomSource): void {
  const pods = store.collection(POD_STORAGE);
  const get = pods.get.bind(pods);
  pods.get = (key) => {
    const found = get(key);
    if (found !== undefined || !key.includes(`/${CLASHING_PREFIX}`) || !random.chance(CLASHES)) return found;
    return new Revision(key, { apiVersion: 'v1', kind: 'Pod', metadata: { name: key } }, 0);
  };
}

async function createObjects(client: KubeClient): Promise<void> {
  const create = (resource: Resource, object: object, namespace?: string): Promise<void> =>
    mustCreate(client, resource, namespace, object);
  await Promise.all([
    create(NAMESPACES, { metadata: { name: ELSEWHERE } }),
    ...TEAMS.map((name) => create(NAMESPACES, { metadata: { name, labels: labelsOf(name) } })),
    ...Object.entries(CLASSES).map(([name, value]) => create(PRIORITY_CLASSES, { metadata: { name }, value })),
    ...QUOTAS.map(({ name, spec, hard }) => create(PRIORITY_QUOTAS, priorityQuota(name, { ...spec, hard }))),
  ]);
  await Promise.all(TEAMS.map((name) => create(RESOURCE_QUOTAS, doomingQuota(), name)));
}

/** The replicas fill in their authority. */
async function register(client: KubeClient, port: number): Promise<void> {
  const [mutating, validating] = webhookConfigurations({
    target: { kind: 'url', url: `https://127.0.0.1:${port}` },
    failurePolicy: 'Ignore',
    gatedCallers: [],
  });
  const entries = (validating['webhooks'] as readonly { readonly name: string }[]).filter(
    ({ name }) => name === WEBHOOK_ENTRIES.quota,
  );
  await mustCreate(client, MUTATING_WEBHOOKS, undefined, { ...mutating, webhooks: [] });
  await mustCreate(client, VALIDATING_WEBHOOKS, undefined, { ...validating, webhooks: entries });
}

async function mustCreate(
  client: KubeClient,
  resource: Resource,
  namespace: string | undefined,
  object: object,
): Promise<void> {
  const created = await createObject(client, { resource, namespace }, object);
  if (created.kind !== 'ok') throw new Error(`cannot create a ${resource.kind}: ${created.message}`);
}

function labelsOf(team: string): Readonly<Record<string, string>> {
  const tenant = QUOTAS.at(-1)?.namespaces.has(team) === true ? 'one' : 'two';
  return { tenant, [LABEL_PRIORITY_QUOTA]: PRIORITY_QUOTA_ENFORCED };
}

function priorityQuota(name: string, spec: object): object {
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'PriorityQuota', metadata: { name }, spec };
}

function doomingQuota(): object {
  const inClass = { scopeName: 'PriorityClass', operator: 'In', values: [DOOMED_CLASS] };
  const spec = { hard: { pods: '0' }, scopeSelector: { matchExpressions: [inClass] } };
  return { metadata: { name: 'none' }, spec, status: {} };
}
