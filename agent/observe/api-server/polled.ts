import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { NAMESPACES } from '#shared/kube/resource.ts';
import { LABEL_IGNORE } from '#shared/kube/api-names.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { PassResult } from '#shared/decide/eviction/decide.ts';
import { isSilent, type NamespaceState, stateByLabel } from '#shared/decide/eviction/snapshot/node-snapshot.ts';

/** Whether namespaces have opted out, read on demand: the agent watches nothing cluster-wide. */
export interface NamespaceLabels {
  /** What is known now; a missing namespace is being read. */
  readonly known: () => ReadonlyMap<string, NamespaceState>;
  /** Reads namespaces that are unknown or too old; never rejects. */
  readonly refresh: (names: Iterable<string>, signal: AbortSignal) => Promise<void>;
}

const TIME_TO_LIVE_MS = 300_000;
/** A state that could not be refreshed within this time counts as unknown. */
const MAX_LIFE_MS = 2 * TIME_TO_LIVE_MS;
const TIMEOUT_MS = 5000;

interface AskedNamespace {
  readonly state: NamespaceState;
  readonly askedAtMs: number;
}

/** The state that a namespace's labels select. */
export function namespaceState({ metadata }: KubeObject): NamespaceState {
  return stateByLabel(metadata.labels?.[LABEL_IGNORE]);
}

export function createNamespaceLabels(client: KubeClient, clock: Pick<Clock, 'monotonic'>): NamespaceLabels {
  const entries = new Map<string, AskedNamespace>();
  let known: ReadonlyMap<string, NamespaceState> = new Map();

  async function ask(name: string, signal: AbortSignal): Promise<void> {
    const outcome = await getObject(client, { resource: NAMESPACES, name }, { signal, timeoutMs: TIMEOUT_MS });
    if (outcome.kind === 'notFound') entries.delete(name);
    if (outcome.kind !== 'ok') return;
    entries.set(name, { state: namespaceState(outcome.object), askedAtMs: clock.monotonic() });
  }

  async function refresh(names: Iterable<string>, signal: AbortSignal): Promise<void> {
    const now = clock.monotonic();
    const wanted = new Set(names);
    for (const [name, { askedAtMs }] of entries) {
      if (!wanted.has(name) || now - askedAtMs > MAX_LIFE_MS) entries.delete(name);
    }
    for (const name of wanted) {
      const entry = entries.get(name);
      if (entry === undefined || now - entry.askedAtMs > TIME_TO_LIVE_MS) await ask(name, signal);
    }
    known = new Map([...entries].map(([name, { state }]) => [name, state]));
  }
  return { known: () => known, refresh };
}

/** When the API server last answered any request of this process. Times are monotonic milliseconds. */
export interface ApiContact {
  /** Called with every answer, such as the start of a watch. */
  readonly answered: () => void;
  /** The later of an answer and `watchedMs`, when a watch last received something; `undefined` before the first. */
  readonly lastMs: (watchedMs: number | undefined) => number | undefined;
  readonly passed: (result: PassResult) => void;
  /** Whether a hard threshold in Enforce mode was met recently, so that an up-to-date copy of the node's pods matters. */
  readonly isUrgent: () => boolean;
  /** Sends any request where an answer is urgent and nothing was heard for too long; never rejects. */
  readonly probe: (client: KubeClient, heard: ProbedContact, signal: AbortSignal) => Promise<void>;
}

export interface ProbedContact {
  /** When a watch last received something. */
  readonly watchedMs: number | undefined;
  /** Whether others rely on this process to notice soon that it is cut off. */
  readonly isReliedOn: boolean;
}

/** Then it is asked whether it is there: a watch receives a bookmark about once a minute. */
const QUIET_MS = 20_000;

/** During a shortage, measurements may show brief relief, or be missing. */
const MOMENT_MS = 10_000;
/** Every account may read it, and it costs the API server almost nothing. */
const PROBED_PATH = '/version';
/** A connection that an outage left half open must not hold the next probe. */
const PROBE_TIMEOUT_MS = 900;

/** An idle watch may receive nothing for minutes, whatever its bookmark interval; an answer ends an outage at once. */
export function createApiContact(clock: Pick<Clock, 'monotonic'>): ApiContact {
  let answeredMs: number | undefined;
  let urgentAtMs = -Infinity;

  function lastMs(watchedMs: number | undefined): number | undefined {
    const known = [answeredMs, watchedMs].filter((each) => each !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  }

  function passed({ decision, snapshot }: PassResult): void {
    const { trigger } = decision.assessment;
    if (trigger?.mode === 'Enforce' && trigger.stage === 'severe') urgentAtMs = snapshot.now;
  }

  const isUrgent = (): boolean => clock.monotonic() - urgentAtMs <= MOMENT_MS;

  async function probe(
    client: KubeClient,
    { watchedMs, isReliedOn }: ProbedContact,
    signal: AbortSignal,
  ): Promise<void> {
    const [now, last] = [clock.monotonic(), lastMs(watchedMs)];
    const isNeeded = (isUrgent() && isSilent(now, last)) || (isReliedOn && now - (last ?? now) > QUIET_MS);
    if (!isNeeded) return;
    await client.request({ path: PROBED_PATH, timeoutMs: PROBE_TIMEOUT_MS, signal });
  }
  return { answered: () => void (answeredMs = clock.monotonic()), lastMs, passed, isUrgent, probe };
}
