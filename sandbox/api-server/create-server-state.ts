import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Attributes } from './admission.ts';
import { createAdmission } from './admission/create-admission.ts';
import { Catalog } from './catalog/catalog.ts';
import { badRequest } from './errors/errors.ts';
import { builtInTypes } from './kinds/built-in.ts';
import { NAMESPACES, EVENTS, DEFINITIONS } from './storage-names.ts';
import { decodeObject } from './operations/decode-object.ts';
import type { PodLogs, ServerState } from './operations/server-state.ts';
import { loadDefinitions, type Definitions } from './schema/definitions.ts';
import { policyRegistry } from './policies/run-policies.ts';
import { SnapshotCache } from './storage/snapshot-cache.ts';
import { Store } from './storage/store.ts';
import { createWebhookCaller } from './webhooks/call-webhook.ts';
import { webhookRegistry } from './webhooks/webhook.ts';
import { type KubeObject, fieldsOf, type Fields, timeText, fieldsAt, textAt } from './wire/object.ts';
import type { ResourceType } from './resource-type.ts';
import { customTypes } from './crd/custom-type.ts';

export interface StateOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Where webhooks with a `service` reference listen: `name.namespace` to `https://127.0.0.1:PORT`. May grow later. */
  readonly services?: ReadonlyMap<string, string>;
  /** The output of pods; without it `kubectl logs` gets the answer that there is none. */
  readonly podLogs?: PodLogs;
  /** How many past changes of each kind a watch can resume from. */
  readonly historyLimit?: number;
}

/** The server without its HTTP API. */
export interface ServerParts {
  readonly server: ServerState;
  readonly stop: () => void;
}

const HISTORY_LIMIT = 2_000;
const SNAPSHOT_LIMIT = 16;

/** Assembles the parts: store, kinds, admission, and the objects that every cluster has. */
export function createServerState({
  clock,
  log,
  services = new Map(),
  podLogs = noLogs,
  historyLimit = HISTORY_LIMIT,
}: StateOptions): ServerParts {
  const store = new Store(historyLimit);
  const definitions = loadDefinitions();
  const catalog = new Catalog(builtInTypes(definitions));
  const caller = createWebhookCaller(services);
  const webhooks = { registry: webhookRegistry(store), caller, namespaceLabels: namespaceLabels(store), normalise };
  const policies = { policies: policyRegistry(store), store, catalog };
  const admission = createAdmission(store, { ...webhooks, clock, log }, policies);
  followDefinitions(store, catalog, definitions);
  const server: ServerState = {
    clock,
    log,
    store,
    catalog,
    definitions,
    admission,
    snapshots: new SnapshotCache(SNAPSHOT_LIMIT),
    podLogs,
  };
  seedObjects(server);
  const stopExpiring = expireEvents(store, () => clock.now());
  return {
    server,
    stop: () => {
      stopExpiring();
      caller.close();
    },
  };
}

function namespaceLabels(store: Store): (namespace: string) => ReadonlyMap<string, string> {
  const namespaces = store.collection(NAMESPACES);
  return (namespace) => new Map(Object.entries(namespaces.get(namespace)?.object.metadata.labels ?? {}));
}

/** An object returned by a webhook is read like any other body, but unknown fields are ignored. */
function normalise({ type }: Attributes, object: KubeObject): KubeObject {
  const decoded = decodeObject(
    { value: object, duplicates: [] },
    {
      apiVersion: object.apiVersion,
      kind: object.kind,
      schema: type.schema,
      fieldValidation: 'Ignore',
      warn: () => undefined,
    },
  );
  type.behaviour.setDefaults(decoded);
  return decoded;
}

// eslint-disable-next-line @typescript-eslint/require-await -- an async generator is what the port asks for
async function* noLogs(): AsyncGenerator<string> {
  throw badRequest('there is no node that has the output of this pod');
  yield '';
}

const FIRST_NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

const CLASSES = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
];

/** The objects that every cluster has from the start. */
function seedObjects(server: ServerState): void {
  for (const name of FIRST_NAMESPACES) seed(server, 'v1', 'Namespace', { metadata: { name } });
  for (const { name, value, description } of CLASSES) {
    seed(server, 'scheduling.k8s.io/v1', 'PriorityClass', { metadata: { name }, value, description });
  }
}

function seed(server: ServerState, apiVersion: string, kind: string, fields: Fields): void {
  const type = server.catalog.findKind(apiVersion, kind);
  if (type === undefined) return;
  const object = { kind, apiVersion, ...fields } as unknown as KubeObject;
  Object.assign(fieldsOf(object.metadata), {
    uid: randomUUID(),
    ...(type.behaviour.hasGeneration ? { generation: 1 } : {}),
    creationTimestamp: timeText(server.clock.now()),
  });
  type.behaviour.setDefaults(object);
  type.behaviour.prepareCreate(object);
  server.store.put(type.storage, object);
}

/** The real server's `--event-ttl`. */
const LIFETIME_MS = 60 * 60 * 1000;
const EVERY_MS = 60 * 1000;

/** Removes Events an hour after their last occurrence, once a minute, until the returned function is called. */
function expireEvents(store: Store, now: () => number): () => void {
  const timer = setInterval(() => removeOldEvents(store, now() - LIFETIME_MS), EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Removes the Events whose last occurrence was before `oldest` (milliseconds since the epoch). */
export function removeOldEvents(store: Store, oldest: number): void {
  for (const { object } of store.collection(EVENTS).values()) {
    if (lastSeenAt(object) < oldest) store.remove(EVENTS, object);
  }
}

function lastSeenAt(event: KubeObject): number {
  const times = [
    textAt(fieldsAt(event, 'series'), 'lastObservedTime'),
    textAt(event, 'lastTimestamp'),
    textAt(event, 'eventTime'),
    event.metadata.creationTimestamp ?? '',
  ];
  return Math.max(...times.filter((time) => time !== '').map((time) => Date.parse(time)));
}

/** Keeps the catalog in step with the stored CustomResourceDefinitions. Deleting a definition deletes its objects. */
function followDefinitions(store: Store, catalog: Catalog, definitions: Definitions): void {
  const known = new Map<string, readonly ResourceType[]>();
  store.collection(DEFINITIONS).onChange(({ current, previous, isRemoval }) => {
    if (!isRemoval && isSameSpec(previous?.object, current.object)) return;
    for (const type of known.get(current.key) ?? []) catalog.remove(type);
    known.delete(current.key);
    if (isRemoval) {
      removeObjects(store, current.object);
      return;
    }
    const types = customTypes(current.object, definitions);
    for (const type of types) catalog.add(type);
    known.set(current.key, types);
  });
}

function isSameSpec(previous: KubeObject | undefined, current: KubeObject): boolean {
  return previous !== undefined && isDeepStrictEqual(fieldsAt(previous, 'spec'), fieldsAt(current, 'spec'));
}

function removeObjects(store: Store, definition: KubeObject): void {
  const storage = definition.metadata.name;
  for (const { object } of store.collection(storage).values()) store.remove(storage, object);
}
