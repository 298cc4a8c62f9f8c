import type { Log } from '#shared/runtime/log.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Admission } from '#sandbox/api-server/admission.ts';
import type { Catalog } from '#sandbox/api-server/catalog/catalog.ts';
import type { Definitions } from '#sandbox/api-server/schema/definitions.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { SnapshotCache } from '#sandbox/api-server/storage/snapshot-cache.ts';

/** The requested part of a pod's output. */
export interface PodLogRequest {
  readonly pod: KubeObject;
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly sinceSeconds: number | undefined;
  readonly limitBytes: number | undefined;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Reads the output of pods from the node that runs them. Throws a StatusError if it is not available. */
export type PodLogs = (request: PodLogRequest) => AsyncIterable<Buffer | string>;

/** The state that every operation uses. */
export interface ServerState {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Store;
  readonly catalog: Catalog;
  readonly definitions: Definitions;
  readonly admission: Admission;
  readonly snapshots: SnapshotCache;
  readonly podLogs: PodLogs;
}
