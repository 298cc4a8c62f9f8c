import type { Viewer } from '#dashboard/access/viewer.ts';
import type { DashboardSources } from '#dashboard/sources.ts';
import { namespaceOf } from '#dashboard/views/redact.ts';
import type { PendingPodView } from './overview.ts';

/** A pod whose name matches, and where it was found. */
export interface FoundPodView {
  /** `namespace/name`. */
  readonly pod: string;
  readonly where: string;
}

export interface Search {
  readonly text: string;
  /** As the viewer may see them. */
  readonly pending: readonly PendingPodView[];
  readonly sources: Pick<DashboardSources, 'nodes' | 'timeline' | 'podNames'>;
  readonly viewer: Viewer;
  readonly now: number;
  readonly signal: AbortSignal;
}

const MAX_FOUND = 20;
const MAX_TEXT = 317;

/**
 * Pods that wait, are in line for eviction or were removed, by a part of `namespace/name`; with `namespace/…` all pods
 * of that namespace, otherwise also those of exactly this name.
 */
export async function findPods(search: Search): Promise<readonly FoundPodView[]> {
  const { viewer, sources, signal, now, pending } = search;
  const text = search.text.trim().toLowerCase();
  if (text === '' || text.length > MAX_TEXT) return [];
  const found = new Map<string, string>();
  const add = (pod: string, where: string): void => {
    if (pod.includes(text) && !found.has(pod)) found.set(pod, where);
  };
  for (const { pod } of pending) add(pod, 'waits');
  for (const { name, pods } of sources.nodes(now)) for (const pod of pods) add(pod, `on ${name}`);
  for (const { about, reason } of sources.timeline(now)) if (about.startsWith('Pod ')) add(about.slice(4), reason);
  if (await mayList(text, viewer)) for (const pod of await sources.podNames(text, signal)) add(pod, 'in the cluster');
  await viewer.learn([...found.keys()].map(namespaceOf));
  const shown = [...found].filter(([pod]) => viewer.seesAll || viewer.maySee(namespaceOf(pod)));
  return shown.slice(0, MAX_FOUND).map(([pod, where]) => ({ pod, where }));
}

async function mayList(text: string, viewer: Viewer): Promise<boolean> {
  if (viewer.seesAll || !text.includes('/')) return true;
  await viewer.learn([namespaceOf(text)]);
  return viewer.maySee(namespaceOf(text));
}
