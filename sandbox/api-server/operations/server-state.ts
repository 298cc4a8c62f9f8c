import type { Log } from '#shared/runtime/log.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Admission } from '#sandbox/api-server/admission.ts';
import type { Catalog } from '#sandbox/api-server/catalog/catalog.ts';
import type { Definitions } from '#sandbox/api-server/schema/definitions.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { SnapshotCache } from '#sandbox/api-server/storage/snapshot-cache.ts';

/** Which part of a pod's output is wanted. */
export interface PodLogRequest {
  readonly pod: KubeObject;
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly sinceSeconds: number | undefined;
  readonly limitBytes: number | undefined;
  /** Ends when the client goes away. */
  readonly signal: AbortSignal;
}

/** Where the output of pods comes from: the node that runs them. Throws a StatusError where it cannot be had. */
export type PodLogs = (request: PodLogRequest) => AsyncIterable<Buffer | string>;

/** What every operation works on. */
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
