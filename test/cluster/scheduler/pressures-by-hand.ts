/** What a writer other than the agent puts into a NodePressure. */
export interface WrittenByHand {
  readonly avoid?: readonly object[];
  readonly status: object;
}

/** At a time, by the clock of the scheduler process, in a cluster with these pods. */
export type PressureByHand = (now: number, pods: readonly Placed[]) => WrittenByHand;

interface Placed {
  readonly name: string;
  readonly uid: string;
}

export const HOUR_MS = 3_600_000;
const END_OF_TIME = '9999-12-31T23:59:59Z';
const because = { code: 'x', text: 'x' };

/** Entries that end later than the longest `avoidFor` allows do not count. */
export function inHalfADay(): string {
  return new Date(Date.now() + 12 * HOUR_MS).toISOString();
}

/** An owner that no pod has; by its score a test sees that the extender knows the NodePressure. */
export const MARKER = {
  owner: { namespace: 'default', kind: 'ReplicaSet', name: 'marker' },
  until: inHalfADay(),
  cause: 'by hand',
  hard: false,
};

/** The status of a node with these conditions, as an agent in mode Enforce writes it. */
export function reported(now: number, memory: 'True' | 'False', more: object = {}): WrittenByHand {
  const time = new Date(now).toISOString();
  const conditions = [{ type: 'Memory', status: memory, reason: 'x', message: 'x', lastTransitionTime: time }];
  const state = memory === 'True' ? 'Hard' : 'Far';
  const signals = [{ name: 'memory.available', available: '1Mi', capacity: '1Gi', state, since: time }];
  return { status: { observedAt: time, mode: 'Enforce', conditions, signals, next: [], evictions: [], ...more } };
}

function evicted(now: number, { name, uid }: Placed): object {
  const requestedAt = new Date(now).toISOString();
  const owner = `default/ReplicaSet/${name}`;
  return { pod: `default/${name}`, uid, owner, signal: 'memory.available', outcome: 'evicted', requestedAt, because };
}

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
const nobody = (index: number): Placed => ({ name: `nobody-${index}`, uid: `nobody-${index}` });

export const PRESSURES_BY_HAND: Readonly<Record<string, PressureByHand>> = {
  'whose agent is an hour ahead': (now, pods) =>
    reported(now + HOUR_MS, 'True', { evictions: pods.map((each) => evicted(now + HOUR_MS, each)) }),
  'whose agent is an hour behind': (now, pods) =>
    reported(now - HOUR_MS, 'True', { evictions: pods.map((each) => evicted(now - HOUR_MS, each)) }),
  'that list every pod as evicted an hour ago': (now, pods) =>
    reported(now, 'False', { evictions: pods.map((each) => evicted(now - HOUR_MS, each)) }),
  'that list evictions of pods that do not exist': (now) =>
    reported(now, 'False', { evictions: range(32).map((index) => evicted(now, nobody(index))) }),
  'with times at the end of time': (now, pods) =>
    reported(now, 'False', {
      conditions: [{ type: 'Memory', status: 'False', reason: 'x', message: 'x', lastTransitionTime: END_OF_TIME }],
      evictions: pods.map((each) => ({ ...evicted(now, each), requestedAt: END_OF_TIME })),
    }),
  'with amounts that are no quantities': (now) =>
    reported(now, 'False', {
      signals: [{ name: '∞', available: 'much', capacity: '-1', threshold: '1e999', state: 'Hard' }],
      next: range(10).map((index) => ({ pod: '///', uid: `${index}`, usage: 'NaN', request: '-5', because })),
    }),
  'with full avoid lists that never end': (now) => ({
    ...reported(now, 'False'),
    avoid: range(63).map((index) => ({
      owner: { namespace: 'default', kind: 'ReplicaSet', name: `nobody-${index}` },
      until: END_OF_TIME,
      cause: 'x'.repeat(1_024),
      hard: true,
    })),
  }),
};
