import { type Backoff, backoffDelay } from '#shared/runtime/repeat.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { type NodePressureStatus, encodeStatus, type ThrottledEntry } from '#shared/api/node-pressure.ts';
import { LOG } from '#agent/messages.ts';
import { encodeObject } from '#shared/api/fields.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { createObject, patchObject } from '#shared/kube/client/objects.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { NODE_PRESSURES } from '#shared/kube/resource.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { PreviousStatus } from '#agent/observe/api-server/node-pressure-object.ts';
import type { EvictionRecord, PassResult } from '#shared/decide/eviction/decide.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';
import { isLending, needsWriting, writtenNow, type WrittenStatus } from './status-age.ts';
import type { AgentMetrics } from './agent-metrics.ts';
import type { SourcesShown } from './source-metrics.ts';
import type { Doubts } from './pressure-conditions.ts';
import { nodePressureStatus, type StatusContext } from './node-pressure-status.ts';

export interface StatusWriterPorts {
  readonly target: StatusTarget;
  /** Longest time between two writes on a quiet node. */
  readonly periodMs: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** A number in [0, 1) for jitter. */
  readonly random: () => number;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/** Writes the status of this node's NodePressure when it is due. */
export interface StatusWriter {
  /** Never rejects. */
  readonly write: (status: NodePressureStatus, signal: AbortSignal) => Promise<void>;
  /** Whether the object shows the last status that was given, as far as that matters; if not, write again soon. */
  readonly isUpToDate: () => boolean;
  /** Generation of the object at the last write. */
  readonly generation: () => number | undefined;
  /** Whether the object says that the node lends spare room. */
  readonly lends: () => boolean;
  /** The limits that the object says are lowered. */
  readonly throttled: () => readonly ThrottledEntry[];
  /** Since when it should have said something else; `undefined` while it is up to date. */
  readonly overdueSinceMs: () => number | undefined;
}

/** Backs off so that thousands of agents do not retry every second against a failing API server. */
const AFTER_FAILURE: Backoff = { initialMs: 2000, maxMs: 30_000, factor: 2, jitter: 0.5 };

/** Outcome of the writes so far. */
interface Past {
  readonly written: WrittenStatus | undefined;
  readonly throttled: readonly ThrottledEntry[];
  readonly generation: number | undefined;
  readonly failures: number;
  readonly notBeforeMs: number;
}

const NOTHING_WRITTEN: Past = {
  written: undefined,
  throttled: [],
  generation: undefined,
  failures: 0,
  notBeforeMs: -Infinity,
};

/** Creates a writer that has written nothing yet. */
export function createStatusWriter({ target, periodMs, clock, random, log }: StatusWriterPorts): StatusWriter {
  let past = NOTHING_WRITTEN;
  let isUpToDate = false;
  let overdueSinceMs: number | undefined;
  const faults = faultLog(log, LOG.statusFailed);

  function succeeded(status: NodePressureStatus, { metadata, status: stored }: KubeObject): Past {
    faults.worked(target.nodeName);
    const written = writtenNow(status, clock.monotonic(), periodMs, random());
    // An older CustomResourceDefinition drops the field without an error.
    const throttled = fieldOf(stored, 'throttled') === undefined ? [] : (status.throttled ?? []);
    return { ...NOTHING_WRITTEN, written, throttled, generation: metadata.generation };
  }

  function failed(kind: string, message: string): Past {
    faults.failed(target.nodeName, { kind, message });
    const notBeforeMs = clock.monotonic() + backoffDelay(AFTER_FAILURE, past.failures, random());
    return { ...past, failures: past.failures + 1, notBeforeMs };
  }

  async function write(status: NodePressureStatus, signal: AbortSignal): Promise<void> {
    const now = clock.monotonic();
    isUpToDate = !needsWriting(status, past.written, now);
    overdueSinceMs = isUpToDate ? undefined : (overdueSinceMs ?? now);
    if (isUpToDate || now < Math.max(past.notBeforeMs, (past.written?.atMs ?? -Infinity) + LEAST_MS)) return;
    const outcome = await writeStatus(target, status, signal);
    past = outcome.kind === 'ok' ? succeeded(status, outcome.object) : failed(outcome.kind, outcome.message);
    isUpToDate = outcome.kind === 'ok';
    if (isUpToDate) overdueSinceMs = undefined;
  }
  return {
    write,
    isUpToDate: () => isUpToDate,
    generation: () => past.generation,
    lends: () => past.written !== undefined && isLending(past.written.status),
    throttled: () => past.throttled,
    overdueSinceMs: () => overdueSinceMs,
  };
}

/** Shortest time between two writes. */
const LEAST_MS = 1000;

export interface StatusTarget {
  readonly client: KubeClient;
  readonly nodeName: string;
  /** UID of the Node that owns the NodePressure, so that both are deleted together; `undefined` while unknown. */
  readonly nodeUid: () => string | undefined;
  /** Whether an earlier report of spare room must not stay; one that is not known yet does. */
  readonly isSpareUnwanted: () => boolean;
}

const TIMEOUT_MS = 5000;

function emptyObject(nodeName: string, nodeUid: string | undefined): object {
  const owner = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeUid };
  return encodeObject(
    'NodePressure',
    { name: nodeName, ownerReferences: nodeUid === undefined ? undefined : [owner] },
    {},
  );
}

/** Writes this node's NodePressure status; creates the object if it is missing. */
async function writeStatus(
  { client, nodeName, nodeUid, isSpareUnwanted }: StatusTarget,
  status: NodePressureStatus,
  signal: AbortSignal,
): Promise<Outcome<KubeObject>> {
  const options = { type: 'merge', fieldManager: COMPONENT_NAMES.agent, signal, timeoutMs: TIMEOUT_MS } as const;
  const address = { resource: NODE_PRESSURES, name: nodeName, subresource: 'status' };
  const patch = { status: { ...(isSpareUnwanted() && { spare: null }), ...encodeStatus(status) } };
  const patched = await patchObject(client, address, patch, options);
  if (patched.kind !== 'notFound') return patched;
  const created = await createObject(client, { resource: NODE_PRESSURES }, emptyObject(nodeName, nodeUid()), options);
  if (created.kind !== 'ok' && created.kind !== 'alreadyExists') return created;
  return patchObject(client, address, patch, options);
}

export interface PublisherPorts {
  readonly writer: StatusWriter;
  readonly agent: StatusContext['agent'];
  readonly lastResult: () => PassResult | undefined;
  /** The status before this process wrote it; `undefined` until it has been read. */
  readonly previousStatus: () => PreviousStatus | undefined;
  readonly records: () => readonly EvictionRecord[];
  readonly doubts: () => Doubts;
  readonly sources: () => SourcesShown;
  readonly spare: () => NodePressureStatus['spare'];
  readonly throttled: () => NodePressureStatus['throttled'];
  readonly metrics: AgentMetrics;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** On a quiet node, gauges and status are computed this often; during a shortage, every time. */
const QUIET_MS = 5000;

/** Whether a resource is short or an eviction is in flight, so that the status must be current. */
function isEventful({ decision: { assessment, state } }: PassResult): boolean {
  const { Enforce, DryRun } = state.evictions;
  const isUnderWay = Enforce.inflight.length > 0 || DryRun.inflight.length > 0;
  return assessment.trigger !== undefined || isUnderWay || state.pressure.observed.length > 0;
}

/** Updates gauges and, when it is due, the NodePressure status; called once a second. Never rejects. */
export function createPublisher(ports: PublisherPorts): (signal: AbortSignal) => Promise<void> {
  const { writer, clock } = ports;
  let previous: StatusContext['previous'];
  let shownAtMs = -Infinity;
  let shownRecords: readonly EvictionRecord[] = [];
  let shownThrottled: NodePressureStatus['throttled'];
  let wasEventful = false;

  function isUnchanged(): boolean {
    return ports.records() === shownRecords && ports.throttled() === shownThrottled;
  }

  /** Updates go on after a shortage until its end is written; a shortage between two updates has left a record. */
  function isRestful(result: PassResult): boolean {
    const isQuiet = !isEventful(result) && !wasEventful && isUnchanged() && writer.isUpToDate();
    wasEventful = isEventful(result);
    return isQuiet && clock.monotonic() - shownAtMs < QUIET_MS;
  }

  return async (signal) => {
    const result = ports.lastResult();
    if (result === undefined || isRestful(result)) return;
    shownAtMs = clock.monotonic();
    shownRecords = ports.records();
    shownThrottled = ports.throttled();
    const spare = ports.spare();
    ports.metrics.show(result, ports.sources(), clock.monotonic(), spare);
    const previousStatus = ports.previousStatus();
    // Writing before reading would lose the history of the previous process.
    if (previousStatus === undefined) return;
    const status = nodePressureStatus(result, {
      agent: ports.agent,
      records: ports.records(),
      doubts: ports.doubts(),
      wallOffsetMs: clock.now() - clock.monotonic(),
      generation: writer.generation(),
      previous: previous ?? previousStatus,
      spare,
      throttled: ports.throttled(),
    });
    previous = status;
    await writer.write(status, signal);
  };
}
