import type { Cause, Disruption } from '#shared/domain/disruption/disruption.ts';
import { ageText } from '#shared/domain/model/texts.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { API_GROUP } from '#shared/kube/api-names.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { disruptionFields, type ReadDisruptions, readDisruptions } from '#cli/cluster/read-disruptions.ts';
import { formatAnswer, listDocument } from '#cli/output/answer.ts';
import { isTable, type OutputFormat } from '#cli/output/output-option.ts';
import { formatSection, timeText } from '#cli/output/table.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { noDisruption, noneOfCause, NOT_SERVED } from './messages.ts';

export interface DisruptionsOptions extends ClusterOptions {
  readonly namespace?: string;
  readonly allNamespaces: boolean;
  /** All causes if absent. */
  readonly cause?: readonly Cause[];
  readonly output: OutputFormat;
}

/** Carries out `plimsoll disruptions`. Rejects with an InputError where the API server does not know the kind. */
export async function runDisruptions(options: DisruptionsOptions, io: ProcessIo): Promise<void> {
  const read = await readDisruptions(options, io);
  if (!read.isServed) throw new InputError(NOT_SERVED);
  const shown = read.disruptions.filter(({ spec }) => options.cause?.includes(spec.cause) ?? true);
  const answer = {
    document: listDocument('DisruptionSummary', shown.map(disruptionFields)),
    table: (isWide: boolean) => printList(shown, { isWide, ofAll: options.allNamespaces, now: read.now }),
    names: shown.map(({ name }) => `disruption.${API_GROUP}/${name}`),
  };
  io.print(await formatAnswer(answer, options.output));
  if (shown.length === 0 && isTable(options.output)) io.tell(whyNone(read, options.cause));
}

function whyNone({ disruptions, namespace }: ReadDisruptions, causes: readonly Cause[] = []): string {
  return disruptions.length === 0 ? noDisruption(namespace) : noneOfCause(namespace, causes);
}

interface TableOptions {
  readonly isWide: boolean;
  readonly ofAll: boolean;
  readonly now: Instant;
}

/** A history: the time stands first, as in `kubectl get events`, and the sentence last. */
function printList(disruptions: readonly Disruption[], options: TableOptions): string {
  const columns = COLUMNS.filter(
    ({ isWide, isOfAll }) => (isWide !== true || options.isWide) && (isOfAll !== true || options.ofAll),
  );
  const rows = disruptions.map((each) => columns.map(({ cell }) => cell(each, options.now) || '<none>'));
  return formatSection(
    columns.map(({ header }) => header),
    rows,
  );
}

interface Column {
  readonly header: string;
  readonly cell: (disruption: Disruption, now: Instant) => string | undefined;
  /** Shown with `-o wide` only. */
  readonly isWide?: boolean;
  /** Shown with `-A` only. */
  readonly isOfAll?: boolean;
}

const COLUMNS: readonly Column[] = [
  { header: 'TIME', cell: ({ spec }) => timeText(spec.removedAt) },
  { header: 'NAMESPACE', cell: ({ namespace }) => namespace, isOfAll: true },
  { header: 'POD', cell: ({ spec }) => spec.pod },
  { header: 'CAUSE', cell: ({ spec }) => spec.cause },
  { header: 'CLASS', cell: ({ spec }) => spec.priorityClassName },
  { header: 'NODE', cell: ({ spec }) => spec.node },
  { header: 'REQUESTED BY', cell: ({ spec }) => spec.requestedBy },
  { header: 'NAME', cell: ({ name }) => name, isWide: true },
  { header: 'AGE', cell: ({ spec }, now) => ageText(spec.removedAt, now), isWide: true },
  { header: 'COUNT', cell: ({ outcome }) => String(outcome.count), isWide: true },
  { header: 'SET ASIDE ON', cell: ({ spec }) => spec.madeRoomFor?.nominatedNode, isWide: true },
  { header: 'PLACED ON', cell: ({ outcome }) => outcome.placedOn, isWide: true },
  { header: 'REPLACED ON', cell: ({ outcome }) => outcome.replacement?.node, isWide: true },
  { header: 'REASON', cell: ({ spec }) => spec.because.text },
];
