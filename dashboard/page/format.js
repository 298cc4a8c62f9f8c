/** Words and numbers as people read them. */

/** The label, and a mark that does not depend on colour. */
export const STATES = {
  Hard: { label: 'Hard threshold met', mark: '■', rank: 0 },
  Soft: { label: 'Soft threshold met', mark: '▲', rank: 1 },
  Near: { label: 'Near a threshold', mark: '◆', rank: 2 },
  Unknown: { label: 'Unknown', mark: '?', rank: 3 },
  Far: { label: 'Fine', mark: '●', rank: 4 },
};

export const KINDS = {
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
  pressure: 'Pressure',
  problem: 'Problem',
};

export function percent(ratio) {
  return `${Math.round(ratio * 100)} %`;
}

export function timeOfDay(at) {
  return at === undefined || at === null ? '–' : new Date(at).toLocaleTimeString('en-GB', { hour12: false });
}

const DAY_MS = 86_400_000;

/** With the day where it is not within a day of `now`. */
export function timeOrDay(at, now) {
  if (now - at < DAY_MS) return timeOfDay(at);
  return new Date(at).toLocaleString('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
}

/** `12 s ago`, `4 min ago`. */
export function age(at, now) {
  if (at === undefined || at === null) return 'never';
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 90) return `${seconds} s ago`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3600)} h ago`;
}

/** A pod's name, or what is shown where the viewer may not list its namespace. */
export function podName(name) {
  return name === '' ? 'a pod of another namespace' : name;
}
