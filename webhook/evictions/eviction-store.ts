import {
  type CountedEviction,
  countEviction,
  type CountOutcome,
  type EvictionBounds,
} from '#shared/domain/eviction/count-eviction.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { compareAndSwap } from '#shared/kube/client/compare-and-swap.ts';
import { fieldOf, isRecord, type KubeObject } from '#shared/kube/kube-object.ts';
import { createObject, getObject, replaceObject } from '#shared/kube/client/objects.ts';
import { CONFIG_MAPS, PODS } from '#shared/kube/resource.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import { ERRORS } from '#webhook/messages.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { createFairQueue } from '#webhook/request-body/fair-queue.ts';

/** The stored value and the resourceVersion that a write requires. */
export interface StoredEvictions {
  readonly evictions: readonly CountedEviction[];
  readonly version: string | undefined;
}

/** Where replicas keep the evictions that they allowed. */
export interface EvictionStore {
  /** Rejects when it cannot be read. */
  read(timeoutMs: number): Promise<StoredEvictions>;
  /** False when another replica was faster. Rejects when it cannot be written. */
  write(stored: StoredEvictions, timeoutMs: number): Promise<boolean>;
}

/** Where the count is shared, if at all. */
export interface EvictionStoreSettings {
  readonly configMapName?: string | undefined;
  readonly configMapNamespace: string;
}

/** The store that the settings select. */
export function evictionStore(
  client: KubeClient,
  { configMapName, configMapNamespace }: EvictionStoreSettings,
): EvictionStore {
  if (configMapName === undefined) return memoryEvictionStore();
  return configMapEvictionStore(client, configMapNamespace, configMapName);
}

/** For a single replica: lost when the process ends. */
export function memoryEvictionStore(): EvictionStore {
  let evictions: readonly CountedEviction[] = [];
  return {
    read: () => Promise.resolve({ evictions, version: undefined }),
    write: (stored) => {
      ({ evictions } = stored);
      return Promise.resolve(true);
    },
  };
}

const KEY = 'evictions.json';

/**
 * A ConfigMap that all replicas share. The manifests create it empty, because RBAC cannot limit the right to create by
 * name; if it is missing, it is created if that is allowed.
 */
export function configMapEvictionStore(client: KubeClient, namespace: string, name: string): EvictionStore {
  const address = { resource: CONFIG_MAPS, namespace, name };
  const what = `ConfigMap "${namespace}/${name}"`;
  return {
    read: async (timeoutMs) => {
      const found = await getObject(client, address, { timeoutMs });
      if (found.kind === 'notFound') return { evictions: [], version: undefined };
      if (found.kind !== 'ok') throw new Error(ERRORS.read(what, found.message));
      return { evictions: decodeEvictions(found.object, what), version: found.object.metadata.resourceVersion };
    },
    write: async ({ evictions, version }, timeoutMs) => {
      const body = encodeEvictions(evictions, { namespace, name, version });
      const options = { fieldManager: COMPONENT_NAMES.webhook, timeoutMs };
      const outcome =
        version === undefined
          ? await createObject(client, address, body, options)
          : await replaceObject(client, address, body, options);
      if (outcome.kind === 'conflict' || outcome.kind === 'alreadyExists') return false;
      if (outcome.kind === 'ok') return true;
      throw new Error(ERRORS.writeEvictions(what, outcome.message));
    },
  };
}

interface Place {
  readonly namespace: string;
  readonly name: string;
  readonly version: string | undefined;
}

function encodeEvictions(evictions: readonly CountedEviction[], { namespace, name, version }: Place): KubeObject {
  const labels = { 'app.kubernetes.io/name': 'plimsoll', 'app.kubernetes.io/component': 'webhook' };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name, labels, ...(version !== undefined && { resourceVersion: version }) },
    data: { [KEY]: JSON.stringify(evictions) },
  };
}

/** Throws for data that we did not write: an unknown count must not allow evictions. */
function decodeEvictions(configMap: KubeObject, what: string): readonly CountedEviction[] {
  const text = fieldOf(fieldOf(configMap, 'data'), KEY);
  if (text === undefined) return [];
  const parsed: unknown = typeof text === 'string' ? parse(text) : undefined;
  if (Array.isArray(parsed) && parsed.every(isCountedEviction)) return parsed;
  throw new Error(ERRORS.evictionsGarbled(what, KEY));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isCountedEviction(value: unknown): value is CountedEviction {
  if (!isRecord(value) || typeof value['at'] !== 'number') return false;
  return ['node', 'namespace', 'pod', 'uid'].every((key) => typeof value[key] === 'string');
}

/** Whether an eviction is within the limits and was counted. `unclear`: this could not be determined in time. */
export type Count =
  | { readonly kind: 'counted' }
  | Omit<Extract<CountOutcome, { kind: 'exceeded' }>, 'filledBy'>
  | { readonly kind: 'unclear'; readonly message: string };

/** Counts evictions across all replicas, one after another. */
export interface EvictionCounter {
  /** Never rejects; returns by `giveUpAt` of the monotonic clock at the latest. */
  count(wanted: Omit<CountedEviction, 'at'>, bounds: EvictionBounds, giveUpAt: number): Promise<Count>;
}

export interface EvictionCounterOptions {
  readonly store: EvictionStore;
  /** Returns the UIDs of pods that still run although their eviction was allowed here: something else refused it. */
  readonly findSurvivors: (evictions: readonly CountedEviction[], timeoutMs: number) => Promise<ReadonlySet<string>>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** The API server executes an eviction within milliseconds; a pod that still runs after this time was not evicted. */
const SETTLED_MS = 2_000;
/** Limits how many pods are read for one decision. */
const MOST_LOOKED_AT = 16;
const MOST_WAITING = 64;

type Wanted = Parameters<EvictionCounter['count']>[0];

interface Attempt {
  readonly wanted: Wanted;
  readonly bounds: EvictionBounds;
  readonly giveUpAt: number;
}

/**
 * Counts one eviction at a time per replica; when two replicas write at once, the slower one reads again. Nodes take
 * turns: a node whose token was stolen keeps no other node waiting for all that it asks.
 */
export function createEvictionCounter(options: EvictionCounterOptions): EvictionCounter {
  const turns = createFairQueue(MOST_WAITING);
  return {
    count: (wanted, bounds, giveUpAt) =>
      new Promise((settle) => {
        const place = turns.enter([wanted.node], (turn) => {
          const counted = countOne({ wanted, bounds, giveUpAt }, options).catch(failed);
          void counted.then(settle).finally(() => turn.end());
        });
        if (place === undefined) settle(unclear('too many evictions are being counted'));
      }),
  };
}

async function countOne(attempt: Attempt, options: EvictionCounterOptions): Promise<Count> {
  const { store, clock } = options;
  const leftMs = (): number => Math.max(0, attempt.giveUpAt - clock.monotonic());
  const count = await compareAndSwap<StoredEvictions, Count>({
    ...store,
    leftMs,
    decide: async (stored) => {
      const outcome = await decide(stored, attempt, options);
      if (outcome.kind === 'exceeded') return { next: undefined, result: outcome };
      return { next: { ...stored, evictions: outcome.counted }, result: { kind: 'counted' } };
    },
  });
  return count ?? unclear('the count was not settled in time');
}

/** A limit that seems reached is checked again without the evictions that were not executed. */
async function decide(
  { evictions }: StoredEvictions,
  { wanted, bounds, giveUpAt }: Attempt,
  { findSurvivors, clock }: EvictionCounterOptions,
): Promise<CountOutcome> {
  const now = clock.now();
  const first = countEviction(evictions, { ...wanted, at: now }, bounds);
  if (first.kind === 'counted') return first;
  const settled = first.filledBy.filter(({ at }) => now - at >= SETTLED_MS).slice(-MOST_LOOKED_AT);
  const unharmed = await findSurvivors(settled, Math.max(1, giveUpAt - clock.monotonic()));
  if (unharmed.size === 0) return first;
  const effective = evictions.filter(({ uid }) => !unharmed.has(uid));
  return countEviction(effective, { ...wanted, at: now }, bounds);
}

function failed(error: unknown): Count {
  return unclear(errorText(error));
}

function unclear(message: string): Count {
  return { kind: 'unclear', message };
}

/** A pod whose eviction was let through. */
type EvictedPod = Pick<CountedEviction, 'namespace' | 'pod' | 'uid'>;

/** The UIDs of the evicted pods that still run and are not terminating; a pod that cannot be read is left out. */
export async function findSurvivors(
  client: KubeClient,
  evictions: readonly EvictedPod[],
  timeoutMs: number,
): Promise<ReadonlySet<string>> {
  const found = await Promise.all(evictions.map((each) => isUnharmed(client, each, timeoutMs)));
  return new Set(evictions.filter((_, index) => found[index]).map(({ uid }) => uid));
}

async function isUnharmed(
  client: KubeClient,
  { namespace, pod, uid }: EvictedPod,
  timeoutMs: number,
): Promise<boolean> {
  const found = await getObject(client, { resource: PODS, namespace, name: pod }, { timeoutMs });
  if (found.kind !== 'ok') return false;
  const { metadata } = found.object;
  return metadata.uid === uid && metadata.deletionTimestamp === undefined;
}
