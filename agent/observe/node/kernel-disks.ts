import type { FilesystemReading, NodeReadings } from '#shared/domain/pressure/observation.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import { type FilesystemRoom, readFilesystem } from '#agent/observe/kernel/filesystem.ts';
import { createPolledSource, type PolledSource } from '#agent/observe/source/polled-source.ts';
import { valueOf } from '#agent/observe/source/reading.ts';

/** Paths on the file systems to measure; `undefined` for those that are left to the kubelet. */
export interface DiskPaths {
  readonly nodefs: string | undefined;
  readonly imagefs: string | undefined;
}

type Disk = PolledSource<FilesystemRoom>;

const PERIOD_MS = 10_000;
const DEADLINE_MS = 5000;

/** The node's file systems. They are polled, because a call may hang on one that does not answer. */
export function createKernelDisks({ nodefs, imagefs }: DiskPaths, clock: Clock) {
  const node = openDisk('nodefs', nodefs, clock);
  const image = openDisk('imagefs', imagefs, clock);
  const disks = [node, image].filter((disk) => disk !== undefined);
  return {
    readings: (): Pick<NodeReadings, 'nodeFilesystem' | 'imageFilesystem' | 'containerFilesystem'> => ({
      nodeFilesystem: latest(node),
      imageFilesystem: latest(image),
      containerFilesystem: latest(image ?? node),
    }),
    health: () => disks.map((disk) => disk.health()),
    /** Polls until the signal aborts. */
    run: async (signal: AbortSignal): Promise<void> => {
      await Promise.all(disks.map((disk) => poll(disk, clock, signal)));
    },
  };
}

function openDisk(name: string, path: string | undefined, clock: Clock): Disk | undefined {
  if (path === undefined) return undefined;
  return createPolledSource({ name, ask: () => readFilesystem(path), timeToLiveMs: 3 * PERIOD_MS, clock });
}

function latest(disk: Disk | undefined): FilesystemReading | undefined {
  const room = disk === undefined ? undefined : valueOf(disk.latest());
  return room === undefined ? undefined : { at: disk?.health().lastReadingAtMs, ...room };
}

function poll(disk: Disk, clock: Clock, signal: AbortSignal): Promise<void> {
  return repeat(
    { task: disk.poll, periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, onError: () => undefined, clock },
    signal,
  );
}
