import type { Instant } from '#shared/domain/pod/pod.ts';
import { isManaged } from '#shared/kube/annotations/annotations.ts';
import { decodeNamespace } from '#shared/kube/decode/decode-objects.ts';
import { jsonIn } from '#shared/kube/decode/wire-object.ts';
import { NAMESPACES, QUEUES, type Resource } from '#shared/kube/resource.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { type Manifest, manifestsIn, ofKind, parseManifests } from '#cli/manifests/parse-manifests.ts';
import { readFiles, type TextFile } from '#cli/manifests/read-files.ts';
import type { ClusterOptions } from './cluster-options.ts';

/** Objects of a cluster, from files or from the cluster itself. */
export interface ClusterManifests {
  readonly manifests: readonly Manifest[];
  /** When they were read; for a snapshot, when it was taken. */
  readonly now: Instant;
  /** The namespace of objects that name none. */
  readonly namespace: string;
  /** Kinds that a snapshot does not contain, because its author was not allowed to list them. */
  readonly unread?: ReadonlySet<string>;
}

/** A snapshot of 5,000 nodes and 150,000 pods has some 150 MiB. */
const LARGEST_SNAPSHOT_MIB = 400;

type InputIo = Pick<ProcessIo, 'standardInput' | 'now'>;

/** Reads the given files, else these kinds of the cluster. Rejects with an InputError if something cannot be read. */
export async function readManifests(
  options: ClusterOptions,
  resources: readonly Resource[],
  io: InputIo,
): Promise<ClusterManifests> {
  if (options.filename === undefined) return readLive(options, resources, io.now());
  const files = await readFiles(options.filename, io.standardInput, LARGEST_SNAPSHOT_MIB);
  const manifests = files.flatMap(parseFile);
  if (manifests.length === 0) throw new InputError(`no objects in ${options.filename.join(', ')}`);
  const unread = new Set(manifests.flatMap((each) => each.unread ?? []));
  return { manifests, now: timeOf(manifests) ?? io.now(), namespace: 'default', unread };
}

/** As `readManifests`, with the Queues if pods of a namespace wait in them. */
export async function readWithQueues(
  options: ClusterOptions,
  resources: readonly Resource[],
  io: InputIo,
): Promise<ClusterManifests> {
  const read = await readManifests(options, resources, io);
  const isQueued = ofKind(read.manifests, NAMESPACES).some(({ raw }) => isQueuedNamespace(raw));
  if (options.filename !== undefined || !isQueued) return read;
  const queues = await readManifests(options, [QUEUES], io);
  return { ...read, manifests: [...read.manifests, ...queues.manifests] };
}

function isQueuedNamespace(raw: Manifest['raw']): boolean {
  const namespace = decodeNamespace(raw);
  return namespace.ok && isManaged(namespace.value.labels);
}

/** The client is loaded only if a cluster is used. */
async function readLive(
  options: ClusterOptions,
  resources: readonly Resource[],
  now: Instant,
): Promise<ClusterManifests> {
  const [{ withCluster }, { listAll }] = await Promise.all([import('./open-cluster.ts'), import('./list-all.ts')]);
  return withCluster(options, async ({ client, namespace }) => {
    const lists = await Promise.all(resources.map((resource) => listAll(client, resource)));
    return { manifests: lists.flat(), now, namespace: namespace ?? 'default' };
  });
}

/** One JSON document, as `plimsoll snapshot` writes it: the YAML parser takes a minute for a large cluster. */
function parseFile(file: TextFile): readonly Manifest[] {
  const content = /^\s*\{/.test(file.text) ? jsonIn(file.text) : undefined;
  return content === undefined ? parseManifests(file) : manifestsIn(content, file.name);
}

function timeOf(manifests: readonly Manifest[]): Instant | undefined {
  const taken = manifests.map(({ takenAt }) => Date.parse(takenAt ?? '')).filter((time) => !Number.isNaN(time));
  return taken.length === 0 ? undefined : taken.reduce((a, b) => Math.max(a, b));
}
