import type { Instant } from '#shared/domain/model/pod.ts';
import type {
  FilesystemReading,
  MemoryReading,
  NodeReadings,
  ProcessReading,
} from '#shared/domain/pressure/observation.ts';
import type { ContainerUsage, FilesystemUsage, MemoryUsage, PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import type { Decoded } from './decoded.ts';
import { isRecord } from './kube-object.ts';

/** One answer of the kubelet's `/stats/summary`, as far as decisions use it. */
export interface Summary {
  readonly readings: NodeReadings;
  readonly pods: readonly PodUsage[];
}

/** A place in the answer: its value, its path for messages, and where the first fault is noted. */
interface Place {
  readonly value: unknown;
  readonly path: string;
  readonly faults: { field: string; message: string }[];
}

const SYSTEM_CONTAINER_OF_PODS = 'pods';
const NO_FILESYSTEM: FilesystemUsage = { usedBytes: undefined, inodesUsed: undefined };
/** Go prints a time that was never set as this year. */
const UNSET_TIME = '0001-01-01T00:00:00Z';

/** Reads the wire form of `stats/v1alpha1` `Summary`; what is absent stays absent, a figure that is none is refused. */
export function decodeSummary(raw: unknown): Decoded<Summary> {
  const root: Place = { value: raw, path: '', faults: [] };
  if (!isRecord(raw)) return { ok: false, field: 'summary', message: 'expected an object' };
  const summary = { readings: readNode(at(root, 'node')), pods: items(at(root, 'pods')).map(readPod) };
  const [fault] = root.faults;
  return fault === undefined ? { ok: true, value: summary } : { ok: false, ...fault };
}

/** Reads one entry of `pods`, for sources that hand over pods alone. */
export function decodePodStats(raw: unknown): Decoded<PodUsage> {
  const root: Place = { value: raw, path: '', faults: [] };
  if (!isRecord(raw)) return { ok: false, field: 'stats', message: 'expected an object' };
  const usage = readPod(root);
  const [fault] = root.faults;
  return fault === undefined ? { ok: true, value: usage } : { ok: false, ...fault };
}

function readNode(node: Place): NodeReadings {
  const ofPods = items(at(node, 'systemContainers')).find(
    (each) => text(at(each, 'name')) === SYSTEM_CONTAINER_OF_PODS,
  );
  const runtime = at(node, 'runtime');
  return {
    memory: optional(at(node, 'memory'), readMemory),
    allocatableMemory: ofPods === undefined ? undefined : optional(at(ofPods, 'memory'), readMemory),
    nodeFilesystem: optional(at(node, 'fs'), readFilesystem),
    imageFilesystem: optional(at(runtime, 'imageFs'), readFilesystem),
    containerFilesystem: optional(at(runtime, 'containerFs'), readFilesystem),
    processes: optional(at(node, 'rlimit'), readProcesses),
  };
}

function readMemory(memory: Place): MemoryReading {
  return {
    at: instant(at(memory, 'time')),
    availableBytes: whole(at(memory, 'availableBytes')),
    workingSetBytes: whole(at(memory, 'workingSetBytes')),
  };
}

function readFilesystem(filesystem: Place): FilesystemReading {
  return {
    at: instant(at(filesystem, 'time')),
    availableBytes: whole(at(filesystem, 'availableBytes')),
    capacityBytes: whole(at(filesystem, 'capacityBytes')),
    inodesFree: whole(at(filesystem, 'inodesFree')),
    inodes: whole(at(filesystem, 'inodes')),
  };
}

function readProcesses(rlimit: Place): ProcessReading {
  return {
    at: instant(at(rlimit, 'time')),
    maximum: whole(at(rlimit, 'maxpid')),
    running: whole(at(rlimit, 'curproc')),
  };
}

function readPod(pod: Place): PodUsage {
  return {
    uid: text(at(at(pod, 'podRef'), 'uid')),
    memory: optional(at(pod, 'memory'), readMemoryUsage),
    processCount: whole(at(at(pod, 'process_stats'), 'process_count')),
    cpuNanoCores: whole(at(at(pod, 'cpu'), 'usageNanoCores')),
    ioBytesPerSecond: undefined,
    ephemeralStorageBytes: whole(at(at(pod, 'ephemeral-storage'), 'usedBytes')),
    containers: items(at(pod, 'containers')).map(readContainer),
    volumes: items(at(pod, 'volume')).map((volume) => ({
      name: text(at(volume, 'name')),
      ...readFilesystemUsage(volume),
    })),
  };
}

function readMemoryUsage(memory: Place): MemoryUsage {
  return { at: instant(at(memory, 'time')), workingSetBytes: whole(at(memory, 'workingSetBytes')) };
}

function readContainer(container: Place): ContainerUsage {
  return {
    name: text(at(container, 'name')),
    workingSetBytes: whole(at(at(container, 'memory'), 'workingSetBytes')),
    rootfs: optional(at(container, 'rootfs'), readFilesystemUsage) ?? NO_FILESYSTEM,
    logs: optional(at(container, 'logs'), readFilesystemUsage) ?? NO_FILESYSTEM,
  };
}

function readFilesystemUsage(filesystem: Place): FilesystemUsage {
  return { usedBytes: whole(at(filesystem, 'usedBytes')), inodesUsed: whole(at(filesystem, 'inodesUsed')) };
}

/** A field of an object; of an absent object it is absent too. */
function at(parent: Place, key: string): Place {
  const { value, faults } = parent;
  const path = parent.path === '' ? key : `${parent.path}.${key}`;
  if (isRecord(value)) return { value: value[key], path, faults };
  if (!isAbsent(value)) note(parent, 'an object');
  return { value: undefined, path, faults };
}

function items(list: Place): readonly Place[] {
  const { value, path, faults } = list;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => ({ value: item, path: `${path}[${index}]`, faults }));
  if (!isAbsent(value)) note(list, 'a list');
  return [];
}

function optional<T>(place: Place, read: (place: Place) => T): T | undefined {
  return isAbsent(place.value) ? undefined : read(place);
}

function whole(place: Place): number | undefined {
  const { value } = place;
  if (isAbsent(value)) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  note(place, 'a whole number of at least 0');
  return undefined;
}

function text(place: Place): string {
  const { value } = place;
  if (typeof value === 'string') return value;
  if (!isAbsent(value)) note(place, 'a text');
  return '';
}

function instant(place: Place): Instant | undefined {
  const { value } = place;
  if (isAbsent(value) || value === UNSET_TIME) return undefined;
  const milliseconds = typeof value === 'string' ? Date.parse(value) : NaN;
  if (!Number.isNaN(milliseconds)) return milliseconds;
  note(place, 'a time as in RFC 3339');
  return undefined;
}

function note({ path, faults }: Place, expected: string): void {
  faults.push({ field: path, message: `expected ${expected}` });
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
