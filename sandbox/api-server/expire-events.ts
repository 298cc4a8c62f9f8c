import { EVENTS } from './storage-names.ts';
import type { Store } from './storage/store.ts';
import { fieldsAt, textAt, type KubeObject } from './wire/object.ts';

/** The real server's `--event-ttl`. */
const LIFETIME_MS = 60 * 60 * 1000;
const EVERY_MS = 60 * 1000;

/** Removes Events an hour after they last happened, once a minute, until the returned function is called. */
export function expireEvents(store: Store, now: () => number): () => void {
  const timer = setInterval(() => removeOldEvents(store, now() - LIFETIME_MS), EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Removes the Events that last happened before `oldest` (milliseconds since the epoch). */
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
