import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Failure } from '#shared/kube/client/outcome.ts';
import type { Ending } from './reflector-plan.ts';

/** A connection lost so soon after another one belongs to the same outage of the API server. */
const SAME_OUTAGE_MS = 60_000;
/** An API server that has just started answers so until it has read who may do what. */
const DENIALS: ReadonlySet<string> = new Set(['forbidden', 'unauthorized']);
/** What an API server that restarts, or that is gone, answers. */
const OUTAGES: ReadonlySet<Failure['kind']> = new Set([
  'unreachable',
  'timeout',
  'serverError',
  'tooManyRequests',
  'gone',
]);

/**
 * Once each is no fault: a kind that was defined a moment ago is answered so, as is a busy moment; and so is a watch of
 * Events, which brings no bookmarks, where none came for longer than the API server remembers.
 */
const MOMENTARY: ReadonlySet<string> = new Set(['tooManyRequests', 'gone']);

/**
 * Which faults of streams are worth a line in the log: one for an outage, in which every stream of a client breaks and
 * is tried again, and one for each other fault of a resource until it works.
 */
export class StreamFaults {
  #lastOutageAt = -Infinity;
  readonly #others = new Map<string, string>();

  isNew(resource: string, ending: Ending, now: number): boolean {
    const kind = ending.kind === 'refused' ? ending.failure.kind : ending.kind;
    const isSame = now - this.#lastOutageAt < SAME_OUTAGE_MS;
    const isKnown = this.#others.get(resource) === kind;
    if (DENIALS.has(kind) && isSame) return false;
    const isMoment = MOMENTARY.has(kind);
    if (isOutage(ending) && (!isMoment || isKnown || isSame)) {
      this.#lastOutageAt = now;
      return !isSame;
    }
    this.#others.set(resource, kind);
    return !isKnown && !isMoment;
  }

  worked(resource: string): void {
    this.#others.delete(resource);
  }
}

function isOutage(ending: Ending): boolean {
  if (ending.kind === 'refused') return OUTAGES.has(ending.failure.kind);
  return ending.kind === 'broken' || ending.kind === 'silent' || ending.kind === 'ended';
}

const ofClients = new WeakMap<KubeClient, StreamFaults>();

/** Those of all streams of a client: they go to one API server. */
export function streamFaultsOf(client: KubeClient): StreamFaults {
  const known = ofClients.get(client) ?? new StreamFaults();
  ofClients.set(client, known);
  return known;
}
