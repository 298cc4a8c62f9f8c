/** What the page shows: plain JSON, made by `viewOf`. Times are RFC 3339, ratios lie between 0 and 1. */
export interface View {
  readonly at: string;
  readonly nodes: readonly NodeView[];
  /** Newest first. */
  readonly events: readonly EventView[];
}

export interface NodeView {
  readonly name: string;
  readonly mode: string;
  readonly policy: string;
  readonly observedAt: string;
  /** Older than this object may be: what it says is unknown. */
  readonly isStale: boolean;
  readonly conditions: readonly ConditionView[];
  readonly signals: readonly SignalView[];
  readonly next: readonly NextView[];
  readonly evictions: readonly EvictionView[];
}

export interface ConditionView {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Whether it says that something is wrong, which for some types is True and for others False. */
  readonly isTrouble: boolean;
}

export interface SignalView {
  readonly name: string;
  readonly state: string;
  readonly available: string;
  readonly capacity: string;
  /** What processes can still have of memory; the page's bar shows what the kubelet calls available. */
  readonly reclaimable: string | undefined;
  readonly threshold: string | undefined;
  /** `undefined` where available or capacity cannot be read as an amount. */
  readonly usedRatio: number | undefined;
  /** Where the line is drawn: the used share at which the threshold is met. */
  readonly lineRatio: number | undefined;
}

export interface NextView {
  readonly rank: number;
  readonly pod: string;
  readonly priority: number;
  readonly usage: string | undefined;
  readonly request: string | undefined;
  readonly why: string;
}

export interface EvictionView {
  readonly pod: string;
  readonly signal: string;
  readonly stage: string;
  readonly outcome: string;
  readonly requestedAt: string;
  readonly endedAt: string | undefined;
  readonly why: string;
}

export interface EventView {
  readonly at: string;
  readonly type: string;
  readonly reason: string;
  readonly about: string;
  readonly note: string;
  readonly from: string;
  readonly count: number;
}
