import { secondsText } from '#shared/api/fields.ts';
import { type Disruption, namesPod, type RecordedCandidate } from '#shared/domain/disruption/disruption.ts';
import { ageText, durationText } from '#shared/domain/base/texts.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { PODS } from '#shared/kube/resource.ts';
import { NOT_SERVED } from '#cli/disruptions/messages.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { type NamespacedName, splitName } from '#cli/cluster/find-pod.ts';
import { disruptionFields, type DisruptionFields, readDisruptions } from '#cli/cluster/read-disruptions.ts';
import { formatAnswer, objectDocument } from '#cli/output/answer.ts';
import type { OutputFormat } from '#cli/output/output-option.ts';
import { formatSection, joinParts, printLine } from '#cli/output/table.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import {
  avoidEntry,
  debited,
  gone,
  HAS_NO_REPLACEMENT,
  headline,
  isOneOfThem,
  KIND_NOT_SERVED,
  madeRoom,
  NO_RECORD,
  noDisruption,
  NOT_FOLLOWED,
  NOT_FOLLOWED_YET,
  NOT_KNOWN,
  NOT_REPLACED,
  NOT_SEEN_GONE,
  OTHER_NAMESPACE,
  podIsGone,
  reasonLine,
  replaced,
  requested,
  standing,
  storm,
} from './messages.ts';
import type { RecordsOfNamespace } from './owner-losses.ts';

export interface ExplainOptions extends ClusterOptions {
  readonly namespace?: string;
  readonly output: OutputFormat;
}

/** What a record says about a removed pod, in its fields and in sentences. */
export interface DisruptionExplanation extends DisruptionFields {
  readonly sentences: readonly string[];
}

/** Carries out `plimsoll explain disruption` from the record alone, so it needs no other permission and no pod. */
export async function explainDisruption(wanted: string, options: ExplainOptions, io: ProcessIo): Promise<void> {
  const given = splitName(wanted, 'disruption', options.namespace ?? '');
  const namespace = given.namespace === '' ? undefined : given.namespace;
  const read = await readDisruptions({ ...options, namespace }, io);
  if (!read.isServed) throw new InputError(NOT_SERVED);
  const found = read.disruptions.find(({ name }) => name === given.name);
  if (found === undefined) throw new InputError(noDisruption(read.namespace ?? '', given.name));
  const document = objectDocument('DisruptionExplanation', explanationOf(found, read.now));
  io.print(await formatAnswer({ document, table: () => printDisruption(found, read.now) }, options.output));
}

/** A pod that no longer exists, and the Disruptions of pods of its name, the newest first. */
export interface PodWithRecords {
  readonly name: NamespacedName;
  readonly removals: readonly Disruption[];
  readonly now: Instant;
}

/** Looks for a pod in a cluster: `undefined` if it exists or there is no record of it. */
export async function findGonePod(
  wanted: string,
  options: ExplainOptions,
  io: ProcessIo,
): Promise<PodWithRecords | undefined> {
  const { withCluster } = await import('#cli/cluster/open-cluster.ts');
  const name = await withCluster(options, async ({ client, namespace = 'default' }) => {
    const address = splitName(wanted, 'pod', options.namespace ?? namespace);
    const found = await getObject(client, { resource: PODS, ...address });
    return found.kind === 'notFound' ? address : undefined;
  });
  if (name === undefined) return undefined;
  const read = await readDisruptions({ ...options, namespace: name.namespace }, io);
  const removals = removalsOf(name, read);
  return removals.length === 0 ? undefined : { name, removals, now: read.now };
}

/** The Disruptions of a namespace that are about pods of one name, alone or among others. */
export function removalsOf(
  pod: NamespacedName,
  { disruptions }: Pick<RecordsOfNamespace, 'disruptions'>,
): readonly Disruption[] {
  return disruptions.filter((each) => each.namespace === pod.namespace && namesPod(each, pod.name));
}

/** Prints what the records say about every pod of that name. */
export async function explainGonePod(
  { name, removals, now }: PodWithRecords,
  options: ExplainOptions,
  io: ProcessIo,
): Promise<void> {
  const answer = {
    document: objectDocument('RemovedPodExplanation', {
      metadata: { namespace: name.namespace, name: name.name },
      removals: removals.map((each) => explanationOf(each, now, name.name)),
    }),
    table: () =>
      joinParts([
        printLine(podIsGone(`${name.namespace}/${name.name}`, removals.length)),
        ...removals.map((each) => printDisruption(each, now, name.name)),
      ]),
  };
  io.print(await formatAnswer(answer, options.output));
}

/** Why there is no record of a pod. */
export function whyNoRecord({ isServed, problem }: RecordsOfNamespace): string {
  if (problem !== undefined) return `; ${problem}`;
  return isServed ? NO_RECORD : KIND_NOT_SERVED;
}

function explanationOf(disruption: Disruption, now: Instant, asked?: string): DisruptionExplanation {
  return { ...disruptionFields(disruption), sentences: sentencesOf(disruption, now, asked) };
}

function printDisruption(disruption: Disruption, now: Instant, asked?: string): string {
  const [first = '', ...others] = sentencesOf(disruption, now, asked);
  return joinParts([
    `${printLine(first)}${others.map((each) => printLine(`  ${each}`)).join('')}`,
    formatSection(['NEXT IN THE RANKING', 'PRIORITY', 'REASON'], disruption.spec.ranked.map(rankedCells)),
  ]);
}

function rankedCells({ pod = OTHER_NAMESPACE, priority, code }: RecordedCandidate): readonly string[] {
  return [pod, priority === undefined ? NOT_KNOWN : String(priority), code];
}

/**
 * All that a record says: what, when and where; who and why; for which pod; the outcome. It may represent the requested
 * pod and be the record of another one.
 */
export function sentencesOf(
  { namespace, spec, outcome }: Disruption,
  now: Instant,
  asked = spec.pod,
): readonly string[] {
  const { pod, node, cause, removedAt } = spec;
  const [at, age] = [secondsText(removedAt), ageText(removedAt, now)];
  return [
    headline({ pod: `${namespace}/${pod}`, node, cause, at, age }),
    standing(spec),
    ...(outcome.count > 1 ? [storm(outcome.count, spec.owner !== undefined)] : []),
    ...(asked === spec.pod ? [] : [isOneOfThem(asked)]),
    requested(spec.requestedBy),
    reasonLine(spec.because),
    ...(spec.debited === undefined ? [] : [debited(spec.debited)]),
    ...(spec.madeRoomFor === undefined ? [] : [madeRoom(spec.madeRoomFor, outcome.placedOn)]),
    ...outcomeSentences({ spec, outcome }, now),
  ];
}

/** A little more than the longest time that a removal is followed (`shared/domain/disruption/removal.ts`). */
const FOLLOWED_MS = 70 * 60_000;

/** The outcome is written as a whole, when nothing more is expected. */
function outcomeSentences({ spec, outcome }: Pick<Disruption, 'spec' | 'outcome'>, now: Instant): readonly string[] {
  const { goneAt, replacement, placedOn, avoid } = outcome;
  if ([goneAt, replacement, placedOn, avoid].every((each) => each === undefined))
    return [now - spec.removedAt < FOLLOWED_MS ? NOT_FOLLOWED_YET : NOT_FOLLOWED];
  return [
    goneSentence({ spec, outcome }),
    replacementSentence({ spec, outcome }),
    ...(avoid === undefined ? [] : [avoidEntry({ ...avoid, node: spec.node, until: secondsText(avoid.until) })]),
  ];
}

function goneSentence({ spec, outcome: { goneAt, count } }: Pick<Disruption, 'spec' | 'outcome'>): string {
  if (goneAt === undefined) return NOT_SEEN_GONE;
  const after = durationText(Math.max(0, Math.floor((goneAt - spec.removedAt) / 1_000)));
  return gone(secondsText(goneAt), after, count > 1);
}

function replacementSentence({ spec, outcome: { replacement } }: Pick<Disruption, 'spec' | 'outcome'>): string {
  if (replacement !== undefined) return replaced({ ...replacement, isSameNode: replacement.node === spec.node });
  return spec.owner === undefined ? HAS_NO_REPLACEMENT : NOT_REPLACED;
}
