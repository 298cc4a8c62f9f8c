import type { Because } from '#shared/domain/base/because.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';

/** Why a gang stands aside, and until when by the monotonic clock. */
interface Pause {
  readonly because: Because;
  readonly until: number;
  readonly pauseMs: number;
}

/** One kind of pauses: the first one and the longest. */
export interface Pauses {
  readonly first: number;
  readonly most: number;
  /** A gang that starts does not begin anew. */
  readonly outlastsStart?: boolean;
}

/** How long a gang that went back lets others go first; twice as long each time. */
export const BACK_MS: Pauses = { first: 60_000, most: 600_000, outlastsStart: true };

const MAX_REMEMBERED = 10_000;

/** Gangs that stand aside for some time, the longer the more often. */
export class GangPauses {
  readonly #ports: Pick<ClientContext, 'clock' | 'log'>;
  readonly #pauses = new Map<string, Pause>();
  /** The last pause of each kind: what a gang waits for meanwhile makes none shorter. */
  readonly #last = new Map<Pauses, Map<string, Pause>>();
  #changes = 0;
  #nextEnd = Infinity;

  constructor(ports: Pick<ClientContext, 'clock' | 'log'>) {
    this.#ports = ports;
  }

  /** Rises when a pause begins or ends. */
  get changes(): number {
    if (this.#now >= this.#nextEnd) {
      const ends = Array.from(this.#pauses.values(), ({ until }) => until);
      this.#nextEnd = ends.reduce((next, until) => (until > this.#now ? Math.min(next, until) : next), Infinity);
      this.#changes += 1;
    }
    return this.#changes;
  }

  /** Why a gang does not start now although its pods are there and its queue may have room. */
  whyNotNow(gang: string): Because | undefined {
    const pause = this.#pauses.get(gang);
    return pause !== undefined && pause.until > this.#now ? pause.because : undefined;
  }

  pause(gang: string, because: Because, kind: Pauses): void {
    const { first, most } = kind;
    const last = this.#last.get(kind) ?? new Map<string, Pause>();
    this.#last.set(kind, last);
    const before = last.get(gang);
    const isAgain = before !== undefined && this.#now - before.until < most;
    const pauseMs = isAgain ? Math.min(2 * before.pauseMs, most) : first;
    const until = this.#now + pauseMs;
    const pause = { because, until, pauseMs };
    for (const each of [last, this.#pauses]) putBounded(each, MAX_REMEMBERED, [gang, pause]);
    this.#nextEnd = Math.min(this.#nextEnd, until);
    this.#changes += 1;
  }

  /** As `pause`; a reason that is not the last one is logged. */
  tell(gang: string, because: Because, pauses: Pauses): void {
    if (this.#pauses.get(gang)?.because.text !== because.text)
      this.#ports.log.info({ gang, because }, 'Gang not let in');
    this.pause(gang, because, pauses);
  }

  /** The gang starts. */
  end(gang: string): void {
    this.#pauses.delete(gang);
    for (const [{ outlastsStart }, last] of this.#last) if (outlastsStart !== true) last.delete(gang);
  }

  get #now(): number {
    return this.#ports.clock.monotonic();
  }
}
