import { secondsText } from '#shared/api/fields.ts';
import type { Cause, Disruption } from '#shared/domain/disruption/disruption.ts';
import { ageText } from '#shared/domain/base/texts.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { API_GROUP } from '#shared/kube/api-names.ts';
import { DISRUPTIONS } from '#shared/kube/resource.ts';
import {
  type DisruptionFields,
  disruptionFields,
  disruptionsIn,
  type ReadDisruptions,
  readDisruptions,
} from '#cli/cluster/read-disruptions.ts';
import { expectWatchable, type ListCommandOptions, showChanges, tellIfEmpty } from '#cli/cluster/show-list.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';
import { type Column, formatListing, type Listing } from '#cli/output/listing.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { noDisruption, noneSelected, NOT_SERVED } from './messages.ts';

export interface DisruptionsOptions extends ListCommandOptions {
  readonly namespace?: string;
  readonly allNamespaces: boolean;
  /** All causes if absent. */
  readonly cause?: readonly Cause[];
  /** Milliseconds; all that are kept if absent. */
  readonly since?: number;
}

/** Carries out `plimsoll disruptions`. Rejects with an InputError if the API server does not know the kind. */
export async function runDisruptions(options: DisruptionsOptions, io: ProcessIo): Promise<void> {
  expectWatchable(options);
  const read = await readDisruptions(options, io);
  if (!read.isServed) throw new InputError(NOT_SERVED);
  const { namespace } = read;
  const first = listing(read, options);
  io.print(await formatListing(first, options));
  tellIfEmpty(first, whyNone(read, options), options, io);
  const listed = (manifests: readonly Manifest[]) =>
    listing(disruptionsIn(options, { manifests, now: io.now(), namespace: namespace ?? '' }), options);
  await showChanges({ resource: DISRUPTIONS, namespace, first, listing: listed }, options, io);
}

function whyNone({ disruptions, namespace }: ReadDisruptions, { cause = [], since }: DisruptionsOptions): string {
  return disruptions.length === 0 ? noDisruption(namespace) : noneSelected(namespace, cause, since);
}

/** A history: the time is first, as in `kubectl get events`, and the sentence last. */
function listing(
  { disruptions, now }: Pick<ReadDisruptions, 'disruptions' | 'now'>,
  { cause, since = Infinity, allNamespaces }: DisruptionsOptions,
): Listing<Disruption, DisruptionFields> {
  return {
    kind: 'DisruptionSummary',
    rows: disruptions.filter(({ spec }) => (cause?.includes(spec.cause) ?? true) && now - spec.removedAt <= since),
    itemOf: disruptionFields,
    nameOf: ({ name }) => `disruption.${API_GROUP}/${name}`,
    columns: columnsAt(allNamespaces, now).map((column) => ({
      ...column,
      cell: (row) => column.cell(row) || '<none>',
    })),
  };
}

type OptionalCell = Omit<Column<Disruption>, 'cell'> & { readonly cell: (row: Disruption) => string | undefined };

/** As with kubectl, the namespace is a column if there may be several. */
function columnsAt(ofAll: boolean, now: Instant): readonly OptionalCell[] {
  return [
    { header: 'TIME', cell: ({ spec }) => secondsText(spec.removedAt) },
    ...(ofAll ? [{ header: 'NAMESPACE', cell: ({ namespace }: Disruption) => namespace }] : []),
    { header: 'POD', cell: ({ spec }) => spec.pod },
    { header: 'CAUSE', cell: ({ spec }) => spec.cause },
    { header: 'CLASS', cell: ({ spec }) => spec.priorityClassName },
    { header: 'NODE', cell: ({ spec }) => spec.node },
    { header: 'REQUESTED BY', cell: ({ spec }) => spec.requestedBy },
    { header: 'NAME', cell: ({ name }) => name, isWide: true },
    { header: 'AGE', cell: ({ spec }) => ageText(spec.removedAt, now), isWide: true, isAge: true },
    { header: 'COUNT', cell: ({ outcome }) => String(outcome.count), isWide: true },
    { header: 'SET ASIDE ON', cell: ({ spec }) => spec.madeRoomFor?.nominatedNode, isWide: true },
    { header: 'PLACED ON', cell: ({ outcome }) => outcome.placedOn, isWide: true },
    { header: 'REPLACED ON', cell: ({ outcome }) => outcome.replacement?.node, isWide: true },
    { header: 'REASON', cell: ({ spec }) => spec.because.text },
  ];
}
