import { type ApiDouble, apiDouble, type Asked, type Fault } from '#test/fakes/api-double.ts';
import type { StoredObject } from '#test/fakes/stored-objects.ts';

/** The API double as one agent meets it: with switches for evictions and for the reads before them. */
export interface AgentApi extends ApiDouble {
  /** What the next evictions are answered with; afterwards they succeed. */
  readonly evictionAnswers: { readonly status: number; readonly body: object }[];
  /** How long an eviction waits for its answer. */
  evictionDelayMs: number;
  /** From now on a read of this path gives another object than lists and watches do. */
  readonly onRead: (path: string, object: StoredObject) => void;
  /** From now on evictions get no answer; resolves when the first one has arrived. */
  readonly hangEvictions: () => Promise<void>;
  /** Ends the watches of a collection and refuses further reads; the times of those are added to what it returns. */
  readonly refuse: (collection: string) => readonly number[];
  /** Called after an eviction was accepted, not after a dry run. */
  onEvicted: (namespace: string, name: string) => void;
}

const EVICTION = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/eviction$/;

/** Starts one. */
export async function agentApi(): Promise<AgentApi> {
  const reads = new Map<string, StoredObject>();
  const refused = new Map<string, number[]>();
  let onHanging: (() => void) | undefined;
  const double = await apiDouble();
  const api: AgentApi = Object.assign(double, {
    evictionAnswers: [],
    evictionDelayMs: 0,
    onRead: (path: string, object: StoredObject) => void reads.set(path, object),
    hangEvictions: () => new Promise<void>((resolve) => (onHanging = resolve)),
    refuse: (collection: string) => {
      const times: number[] = [];
      refused.set(collection, times);
      double.cutWatches(collection);
      return times;
    },
    onEvicted: () => undefined,
  });

  function faultOfRead({ path }: Asked): Fault | undefined {
    refused.get(path)?.push(performance.now());
    if (refused.has(path)) return { kind: 'answer', status: 503, body: {} };
    const body = reads.get(path);
    return body && { kind: 'answer', status: 200, body };
  }

  function faultOfEviction(): Fault | undefined {
    onHanging?.();
    if (onHanging !== undefined) return { kind: 'silence' };
    const prepared = api.evictionAnswers.shift();
    const answer = prepared && ({ kind: 'answer', ...prepared } as const);
    return api.evictionDelayMs === 0 ? answer : { kind: 'delay', ms: api.evictionDelayMs, next: answer };
  }

  double.onRequest = (asked) => {
    if (asked.method === 'GET') return faultOfRead(asked);
    return EVICTION.test(asked.path) ? faultOfEviction() : undefined;
  };
  double.onAnswered = ({ path, isDryRun }, status) => {
    const [, namespace = '', name] = EVICTION.exec(path) ?? [];
    if (name !== undefined && status === 201 && !isDryRun) api.onEvicted(namespace, name);
  };
  return api;
}
