import type { Log } from '#shared/runtime/log.ts';
import { StatusError } from '#sandbox/api-server/errors/status-error.ts';
import type { Change } from '#sandbox/api-server/storage/change.ts';
import type { Revision } from '#sandbox/api-server/storage/revision.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';
import { copyOf, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import { ownerIndex, type OwnerIndex, type Place } from './owner-index.ts';

export interface GarbageCollector {
  readonly stop: () => void;
}

export interface GarbagePorts {
  readonly store: Store;
  readonly log: Log;
  /** Deletes through admission, as the controller of Kubernetes would. */
  readonly remove: (storage: string, object: KubeObject) => Promise<void>;
}

/** So that an owner and its dependents can be written in either order. */
const DELAY_MS = 50;

/**
 * Deletes what has lost its owners, and works off the finalizers `orphan` and `foregroundDeletion`.
 * The part of `pkg/controller/garbagecollector` that workloads need.
 */
export function collectGarbage({ store, log, remove }: GarbagePorts): GarbageCollector {
  const index = ownerIndex(store);
  const due = new Map<string, Place>();
  let timer: NodeJS.Timeout | undefined;

  function schedule(place: Place): void {
    due.set(`${place.storage} ${place.key}`, place);
    timer ??= setTimeout(() => void run(), DELAY_MS);
  }

  async function run(): Promise<void> {
    timer = undefined;
    const places = Array.from(due.values());
    due.clear();
    for (const place of places)
      await collect({ store, log, remove }, index, place).catch((error: unknown) => report(log, place, error));
  }

  const unsubscribe = store.onChange((storage, change) => placesToLookAt(index, storage, change).forEach(schedule));
  return {
    stop: () => {
      unsubscribe();
      clearTimeout(timer);
    },
  };
}

/** A change concerns the object itself, what depends on it, and owners that wait for it to go. */
function placesToLookAt(index: OwnerIndex, storage: string, { current, isRemoval }: Change): readonly Place[] {
  const { metadata } = current.object;
  const own = { storage, key: current.key };
  if (isRemoval) return [...index.dependentsOf(metadata.uid ?? ''), ...ownersOf(index, current.object)];
  const concerns = metadata.ownerReferences !== undefined || metadata.deletionTimestamp !== undefined;
  return concerns ? [own] : [];
}

function ownersOf(index: OwnerIndex, { metadata }: KubeObject): Place[] {
  return (metadata.ownerReferences ?? []).map(({ uid }) => index.find(uid)).filter((place) => place !== undefined);
}

async function collect(ports: GarbagePorts, index: OwnerIndex, place: Place): Promise<void> {
  const revision = ports.store.collection(place.storage).get(place.key);
  if (revision === undefined) return;
  const finalizers = revision.object.metadata.finalizers ?? [];
  if (revision.object.metadata.deletionTimestamp !== undefined) {
    if (finalizers.includes('orphan')) return orphan(ports, index, { place, revision });
    if (finalizers.includes('foregroundDeletion')) return finishForeground(ports, index, { place, revision });
    return;
  }
  const owners = revision.object.metadata.ownerReferences ?? [];
  if (owners.length > 0 && owners.every(({ uid }) => index.find(uid) === undefined))
    await ports.remove(place.storage, revision.object);
}

interface Found {
  readonly place: Place;
  readonly revision: Revision;
}

/** Dependents stay and forget their owner. */
function orphan({ store }: GarbagePorts, index: OwnerIndex, { place, revision }: Found): void {
  const uid = revision.object.metadata.uid ?? '';
  for (const dependent of index.dependentsOf(uid)) {
    const found = store.collection(dependent.storage).get(dependent.key);
    if (found === undefined) continue;
    const next = copyOf(found.object);
    next.metadata.ownerReferences = (next.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
    if (next.metadata.ownerReferences.length === 0) Reflect.deleteProperty(next.metadata, 'ownerReferences');
    store.put(dependent.storage, next);
  }
  dropFinalizer(store, place, revision.object, 'orphan');
}

/** The owner goes after its last dependent, whose end brings us here again. */
async function finishForeground(ports: GarbagePorts, index: OwnerIndex, { place, revision }: Found): Promise<void> {
  const uid = revision.object.metadata.uid ?? '';
  for (const dependent of index.dependentsOf(uid)) {
    const found = ports.store.collection(dependent.storage).get(dependent.key);
    if (found !== undefined && found.object.metadata.deletionTimestamp === undefined)
      await ports.remove(dependent.storage, found.object);
  }
  if (index.dependentsOf(uid).length === 0) dropFinalizer(ports.store, place, revision.object, 'foregroundDeletion');
}

function dropFinalizer(store: Store, { storage, key }: Place, object: KubeObject, name: string): void {
  if (store.collection(storage).get(key)?.object !== object) return;
  const next = copyOf(object);
  next.metadata.finalizers = (next.metadata.finalizers ?? []).filter((finalizer) => finalizer !== name);
  if (next.metadata.finalizers.length > 0) {
    store.put(storage, next);
    return;
  }
  Reflect.deleteProperty(next.metadata, 'finalizers');
  store.remove(storage, next);
}

function report(log: Log, place: Place, error: unknown): void {
  if (error instanceof StatusError && error.status.code === 404) return;
  log.warn({ err: error, ...place }, 'Could not collect an object without owners');
}
