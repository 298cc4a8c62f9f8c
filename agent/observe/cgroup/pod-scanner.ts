import {
  closeDetails,
  openDetails,
  readDetails,
  type CgroupDetails,
  type DetailSources,
  type CgroupPids,
} from './cgroup-details.ts';
import { type CgroupLayout, podCgroupPath, type PodCgroupName } from './cgroup-layout.ts';
import { memoryCgroupSource, type CgroupMemory } from './memory-cgroup.ts';
import type { Reading, Source } from '#agent/observe/source/reading.ts';

/** Reads the cgroups of the followed pods; it never walks the tree. */
export interface PodScanner {
  /** Opens the files of new pods and closes those of removed pods. */
  readonly follow: (pods: readonly PodCgroupName[]) => void;
  /** Two files per pod, so that it can run every 100 ms near a threshold. */
  readonly readMemory: (uid: string) => Reading<CgroupMemory> | undefined;
  /** One file per pod. */
  readonly readProcesses: (uid: string) => Reading<CgroupPids> | undefined;
  readonly readDetails: (uid: string) => CgroupDetails | undefined;
  readonly close: () => void;
}

interface PodSources {
  readonly path: string;
  readonly memory: Source<CgroupMemory>;
  readonly details: DetailSources;
}

function openSources(layout: CgroupLayout, path: string): PodSources {
  return { path, memory: memoryCgroupSource(layout, path), details: openDetails(layout, path) };
}

/** Keyed by the UID given to `follow`. */
export function createPodScanner(layout: CgroupLayout): PodScanner {
  const open = new Map<string, PodSources>();

  function drop(uid: string, sources: PodSources): void {
    sources.memory.close();
    closeDetails(sources.details);
    open.delete(uid);
  }

  function follow(pods: readonly PodCgroupName[]): void {
    const paths = new Map(pods.map((pod) => [pod.uid, podCgroupPath(layout, pod)]));
    for (const [uid, sources] of open) if (paths.get(uid) !== sources.path) drop(uid, sources);
    for (const [uid, path] of paths) if (!open.has(uid)) open.set(uid, openSources(layout, path));
  }

  function detailsOf(uid: string): CgroupDetails | undefined {
    const sources = open.get(uid);
    return sources === undefined ? undefined : readDetails(sources.details);
  }

  function close(): void {
    for (const [uid, sources] of open) drop(uid, sources);
  }
  return {
    follow,
    readMemory: (uid) => open.get(uid)?.memory.read(),
    readProcesses: (uid) => open.get(uid)?.details.pids.read(),
    readDetails: detailsOf,
    close,
  };
}
