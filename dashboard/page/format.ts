/** Words and numbers in readable form. */

import type { NodeState, NodeSummary, TimelineKind } from '#dashboard/views/view.ts';

interface StateWords {
  readonly label: string;
  readonly mark: string;
}

/** The state of a node, or that only a condition reports a problem. */
export type ShownState = NodeState | 'Trouble';

export function shownState({ state, troubles }: Pick<NodeSummary, 'state' | 'troubles'>): ShownState {
  return state === 'Far' && troubles.length > 0 ? 'Trouble' : state;
}

/** The label, and a mark that does not depend on colour, in the order of the tiles. */
export const STATES: Readonly<Record<ShownState, StateWords>> = {
  Hard: { label: 'Hard threshold met', mark: '■' },
  Soft: { label: 'Soft threshold met', mark: '▲' },
  Near: { label: 'Near a threshold', mark: '◆' },
  Trouble: { label: 'Needs attention', mark: '!' },
  Unknown: { label: 'Unknown', mark: '?' },
  NoAgent: { label: 'No agent', mark: '○' },
  Far: { label: 'Fine', mark: '●' },
};

export const KINDS: Readonly<Record<TimelineKind, string>> = {
  eviction: 'Eviction',
  preemption: 'Preemption',
  oom: 'OOM kill',
  rescheduling: 'Rescheduling',
  reclaim: 'Reclaim',
  drain: 'Drain',
  taint: 'Taint',
  deletion: 'Deletion',
  'node-lost': 'Node lost',
  removal: 'Removal',
  refusal: 'Refusal',
  pressure: 'Pressure',
  problem: 'Problem',
};

export function percent(ratio: number): string {
  return `${Math.round(ratio * 100)} %`;
}

const SHORT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

/** `26 Nov, 13:50:15 UTC`, in the reader's time zone. */
export function dateTime(at: number | undefined): string {
  return at === undefined ? '–' : SHORT.format(at);
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** `12 s ago`, `4 min ago`, `in 3 h`. */
export function age(at: number | undefined, now: number): string {
  if (at === undefined) return 'never';
  const text = duration(Math.abs(now - at));
  return at > now + 1000 ? `in ${text}` : `${text} ago`;
}

/** `12 s`, `4 min`, `3 h`, `5 days`. */
export function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 1.5 * MINUTE) return `${seconds} s`;
  if (seconds < 1.5 * HOUR) return `${Math.round(seconds / MINUTE)} min`;
  return seconds < 2 * DAY ? `${Math.round(seconds / HOUR)} h` : `${Math.round(seconds / DAY)} days`;
}

/** A pod's name, or a placeholder if the viewer may not list its namespace. */
export function podName(name: string): string {
  return name === '' ? 'a pod of another namespace' : name;
}
