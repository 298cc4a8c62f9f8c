import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Attributes } from './admission.ts';
import { createAdmission } from './admission/create-admission.ts';
import { Catalog } from './catalog/catalog.ts';
import { expireEvents } from './expire-events.ts';
import { followDefinitions } from './crd/follow-definitions.ts';
import { badRequest } from './errors/errors.ts';
import { builtInTypes } from './kinds/built-in.ts';
import { NAMESPACES } from './storage-names.ts';
import { decodeObject } from './operations/decode-object.ts';
import type { PodLogs, ServerState } from './operations/server-state.ts';
import { loadDefinitions } from './schema/definitions.ts';
import { policyRegistry } from './policies/run-policies.ts';
import { seedObjects } from './seed-objects.ts';
import { SnapshotCache } from './storage/snapshot-cache.ts';
import { Store } from './storage/store.ts';
import { createWebhookCaller } from './webhooks/call-webhook.ts';
import { webhookRegistry } from './webhooks/webhook.ts';
import type { KubeObject } from './wire/object.ts';

export interface StateOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Where webhooks with a `service` reference listen: `name.namespace` to `https://127.0.0.1:PORT`. May grow later. */
  readonly services?: ReadonlyMap<string, string>;
  /** The output of pods; without it `kubectl logs` is answered that there is none. */
  readonly podLogs?: PodLogs;
  /** How many changes of each kind a watch can look back on. */
  readonly historyLimit?: number;
}

/** The server without its HTTP surface. */
export interface ServerParts {
  readonly server: ServerState;
  readonly stop: () => void;
}

const HISTORY_LIMIT = 2_000;
const SNAPSHOT_LIMIT = 16;

/** Puts the parts together: store, kinds, admission, and the objects every cluster has. */
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

/** What a webhook made of an object is read like any other body, but what it does not know is passed over. */
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
