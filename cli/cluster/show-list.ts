import type { Resource } from '#shared/kube/resource.ts';
import { changedRows, formatListing, type Listing, type ListingOptions } from '#cli/output/listing.ts';
import { isTable } from '#cli/output/output-option.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import type { ClusterOptions } from './cluster-options.ts';
import { type ClusterManifests, readManifests } from './read-manifests.ts';

/** Flags of a command that lists objects and may watch them. */
export interface ListCommandOptions extends ClusterOptions, ListingOptions {
  readonly watch?: boolean;
}

/** What is listed: of which kinds, and how. */
export interface ListSource<Row, Item> {
  /** The first kind is watched; the others are read once. */
  readonly resources: readonly [Resource, ...Resource[]];
  readonly listing: (read: ClusterManifests) => Listing<Row, Item>;
}

/**
 * Prints a list, and with `watch` each row that changes, until the process is interrupted. Rejects with an InputError
 * if something cannot be read, and with what `review` throws, which gets the list before it is printed.
 */
export async function showList<Row, Item>(
  { resources, listing }: ListSource<Row, Item>,
  options: ListCommandOptions,
  io: ProcessIo,
  review: (read: ClusterManifests, listing: Listing<Row, Item>) => void = () => undefined,
): Promise<void> {
  expectWatchable(options);
  const read = await readManifests(options, resources, io);
  const first = listing(read);
  review(read, first);
  io.print(await formatListing(first, options));
  const [resource] = resources;
  const others = read.manifests.filter(({ kind }) => kind !== resource.kind);
  const listed = (objects: readonly Manifest[]) =>
    listing({ ...read, manifests: [...others, ...objects], now: io.now() });
  await showChanges({ resource, first, listing: listed }, options, io);
}

/** Says why nothing is listed. As with kubectl that is no error; programs get an empty list. */
export function tellIfEmpty(
  { rows }: Pick<Listing<unknown>, 'rows'>,
  why: string,
  { output }: Pick<ListingOptions, 'output'>,
  io: ProcessIo,
): void {
  if (rows.length === 0 && isTable(output)) io.tell(why);
}

/** Throws an InputError if files are to be watched. */
export function expectWatchable({ watch, filename }: ListCommandOptions): void {
  if (watch === true && filename !== undefined)
    throw new InputError("'--watch' and '--filename' exclude each other: files do not change");
}

interface Watched<Row, Item> {
  readonly resource: Resource;
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  /** The rows printed so far. */
  readonly first: Listing<Row, Item>;
  readonly listing: (objects: readonly Manifest[]) => Listing<Row, Item>;
}

/** With `watch`, prints the rows that differ from those printed before, until the process is interrupted. */
export async function showChanges<Row, Item>(
  { resource, namespace, first, listing }: Watched<Row, Item>,
  options: ListCommandOptions,
  io: ProcessIo,
): Promise<void> {
  if (options.watch !== true) return;
  const { watchObjects } = await import('./watch-objects.ts');
  let before = first;
  await watchObjects({ ...options, resource, namespace }, io, async (objects) => {
    const now = listing(objects);
    const rows = changedRows(now, before);
    before = now;
    if (rows.length > 0) io.print(await formatListing({ ...now, rows }, { ...options, headers: false }));
  });
}
