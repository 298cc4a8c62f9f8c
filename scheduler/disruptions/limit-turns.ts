/** A namespace whose limits are due for a report, and which of them now. */
export interface LimitTurn<Limit> {
  readonly namespace: string;
  readonly limits: readonly Limit[];
}

interface Reported {
  /** State of the last turn. */
  turnAt: number;
  /** Limits whose last turn was before this time are due; `undefined` if none is. */
  dueSince: number | undefined;
  /** The last turn of each limit, by name. */
  limits: ReadonlyMap<string, number>;
}

interface TurnOptions {
  /** A namespace is due again after this time: the windows of its limits move on even without removals. */
  readonly periodMs: number;
  /** Limits in one turn. */
  readonly most: number;
}

/**
 * Decides which limits are reported next: one namespace a turn, and in it the limits that have waited longest.
 * Namespaces whose accounts changed, or that have more limits than fit into a turn, alternate with namespaces whose
 * period is over, so neither group delays the other.
 */
export class LimitTurns<Limit extends { readonly name: string }> {
  readonly #options: TurnOptions;
  readonly #reported = new Map<string, Reported>();
  #wasUrgent = false;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /** The next turn, at a time of the monotonic clock. `changed` are the namespaces whose accounts have changed. */
  next(
    limits: ReadonlyMap<string, readonly Limit[]>,
    changed: readonly string[],
    now: number,
  ): LimitTurn<Limit> | undefined {
    this.#follow(limits, changed, now);
    const byWait = [...this.#reported].sort(([, left], [, right]) => compareTimes(left.turnAt, right.turnAt));
    const urgent = byWait.find(([, { dueSince }]) => dueSince !== undefined);
    const periodic = byWait.find(
      ([, { dueSince, turnAt }]) => dueSince === undefined && now - turnAt >= this.#options.periodMs,
    );
    const found = this.#wasUrgent ? (periodic ?? urgent) : (urgent ?? periodic);
    if (found === undefined) return undefined;
    this.#wasUrgent = found === urgent;
    const [namespace, reported] = found;
    return { namespace, limits: this.#take(reported, limits.get(namespace) ?? [], now) };
  }

  /** A namespace that cannot be read waits for its period, so it takes no turn from others. */
  failed(namespace: string): void {
    const reported = this.#reported.get(namespace);
    if (reported !== undefined) reported.dueSince = undefined;
  }

  #follow(limits: ReadonlyMap<string, readonly Limit[]>, changed: readonly string[], now: number): void {
    for (const namespace of this.#reported.keys()) if (!limits.has(namespace)) this.#reported.delete(namespace);
    for (const namespace of limits.keys())
      if (!this.#reported.has(namespace))
        this.#reported.set(namespace, { turnAt: -Infinity, dueSince: undefined, limits: new Map() });
    for (const namespace of changed) {
      const reported = this.#reported.get(namespace);
      if (reported !== undefined) reported.dueSince = now;
    }
  }

  #take(reported: Reported, all: readonly Limit[], now: number): readonly Limit[] {
    const turnOf = ({ name }: Limit): number => reported.limits.get(name) ?? -Infinity;
    const since = reported.dueSince ?? now;
    const due = all
      .filter((limit) => turnOf(limit) < since)
      .sort((left, right) => compareTimes(turnOf(left), turnOf(right)));
    const taken = due.slice(0, this.#options.most);
    const turns = new Map(all.map((limit) => [limit.name, turnOf(limit)]));
    for (const { name } of taken) turns.set(name, now);
    reported.limits = turns;
    reported.turnAt = now;
    reported.dueSince = due.length > taken.length ? since : undefined;
    return taken;
  }
}

/** Either may never have had a turn. */
function compareTimes(left: number, right: number): number {
  return left === right ? 0 : left - right;
}
