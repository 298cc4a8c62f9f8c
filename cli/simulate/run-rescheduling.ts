import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { decodeReschedulingPolicy } from '#shared/api/rescheduling-policy.ts';
import { runningGangsIn, withGangLimits } from '#shared/kube/annotations/running-gangs.ts';
import { limitsIn } from '#shared/domain/rescheduling/limit-room.ts';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import type { ReschedulingResult } from '#shared/domain/rescheduling/pass.ts';
import { DRY_RUN_POLICY, type ReschedulingPolicy } from '#shared/domain/rescheduling/policy.ts';
import { runPass } from '#shared/domain/rescheduling/run-pass.ts';
import {
  countReasons,
  keptAwayStatus,
  type KeptAwayStatus,
  type LeftStatus,
  moveStatus,
  type MoveStatus,
  overTargetStatus,
  type OverTargetStatus,
} from '#shared/domain/rescheduling/status.ts';
import { moveRules } from '#shared/kube/annotations/annotations.ts';
import { apiVersionOf, RESCHEDULING_POLICIES } from '#shared/kube/resource.ts';
import { CLUSTER_RESOURCES, decodeManifest, storedModel } from '#cli/cluster/cluster-model.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { limitsBeside, type ReadLimits } from '#cli/cluster/read-disruptions.ts';
import { type ClusterManifests, readManifests } from '#cli/cluster/read-manifests.ts';
import { typeOf } from '#cli/manifests/parse-manifests.ts';
import { formatAnswer, objectDocument } from '#cli/output/answer.ts';
import { isTable, type OutputFormat } from '#cli/output/output-option.ts';
import { formatSection, joinParts, printLine } from '#cli/output/table.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import {
  BUILT_IN_POLICY,
  limitsNotKnown,
  loadChange,
  moreStay,
  noSuchPolicy,
  PASS_NOT_SIMULATED,
  passHeadline,
  severalPolicies,
} from './messages.ts';

export interface ReschedulingOptions extends ClusterOptions {
  readonly policy?: string;
  readonly output: OutputFormat;
}

const EXIT_NO_MOVE = 1;
const MAX_SHOWN = 20;

/** What `plimsoll simulate rescheduling -o json` prints. */
interface ReschedulingView {
  readonly metadata: { readonly name: string };
  readonly mode: string;
  readonly considered: number;
  readonly unevenness: ReschedulingResult['unevenness'];
  readonly moves: readonly MoveStatus[];
  readonly stays: ReschedulingResult['stays'];
  readonly left: readonly LeftStatus[];
  readonly overTarget: readonly OverTargetStatus[];
  readonly keptAway: readonly KeptAwayStatus[];
  readonly limits: readonly HoldingLimit[];
  readonly notes: readonly string[];
}

/** A DisruptionLimit or a default limit because of which pods stay. */
interface HoldingLimit {
  readonly limit: string;
  /** How many disruptions it has left after the moves. */
  readonly left: number;
  readonly pods: readonly string[];
}

/** Carries out `plimsoll simulate rescheduling`: exit code 0 if a pod would be moved, 1 if none. */
export async function runRescheduling(options: ReschedulingOptions, io: ProcessIo): Promise<void> {
  const read = await readManifests(options, [...CLUSTER_RESOURCES, RESCHEDULING_POLICIES], io);
  const view = viewOf(read, await limitsBeside(read, options, io), options.policy);
  const { output } = options;
  const answer = { document: objectDocument('ReschedulingSimulation', view), table: () => printView(view) };
  io.print(await formatAnswer(answer, output));
  if (isTable(output)) for (const note of view.notes) io.tell(`Note: ${note}`);
  io.exit(view.moves.length > 0 ? 0 : EXIT_NO_MOVE);
}

function viewOf(read: ClusterManifests, limits: ReadLimits, wanted: string | undefined): ReschedulingView {
  const policy = policyIn(read, wanted);
  const snapshot = createSnapshot(storedModel(read));
  const rules = moveRules(snapshot.namespaces, policy.fitElsewhere);
  const limitsOf = withGangLimits(limitsIn(snapshot, limits, read.now), runningGangsIn(snapshot));
  const result = finish(runPass(snapshot, policy, { now: read.now, memory: NO_MEMORY, rules, limitsOf }));
  return {
    metadata: { name: policy.name },
    mode: policy.mode,
    considered: result.considered,
    unevenness: result.unevenness,
    moves: result.moves.map(moveStatus),
    stays: result.stays,
    overTarget: overTargetStatus(result),
    keptAway: result.keptAway.map(keptAwayStatus),
    left: countReasons(result.stays.map(({ because }) => because)),
    limits: holdingLimits(result),
    notes: [
      ...(policy === DRY_RUN_POLICY ? [BUILT_IN_POLICY] : []),
      ...(limits.problem === undefined ? [] : [limitsNotKnown(limits.problem)]),
      PASS_NOT_SIMULATED,
    ],
  };
}

/** The limits that hold pods, most pods first. */
function holdingLimits({ stays }: ReschedulingResult): readonly HoldingLimit[] {
  const held = stays.filter(({ because }) => typeof because.facts['limit'] === 'string');
  const byLimit = Map.groupBy(held, ({ because }) => String(because.facts['limit']));
  const found = Array.from(byLimit, ([limit, of]) => ({
    limit,
    left: Number(of[0]?.because.facts['left']),
    pods: of.map(({ pod }) => pod),
  }));
  return found.toSorted((a, b) => b.pods.length - a.pods.length);
}

function policyIn({ manifests }: ClusterManifests, wanted: string | undefined): ReschedulingPolicy {
  const type = typeOf({ apiVersion: apiVersionOf(RESCHEDULING_POLICIES), kind: RESCHEDULING_POLICIES.kind });
  const found = manifests.filter((each) => typeOf(each) === type);
  const policies = found.map((manifest) => decodeManifest(manifest, decodeReschedulingPolicy));
  const names = policies.map(({ name }) => name);
  if (wanted !== undefined) {
    const named = policies.find(({ name }) => name === wanted);
    if (named === undefined) throw new InputError(noSuchPolicy(wanted, names));
    return named;
  }
  if (policies.length > 1) throw new InputError(severalPolicies(names));
  return policies[0] ?? DRY_RUN_POLICY;
}

function printView(view: ReschedulingView): string {
  const { metadata, mode, considered, moves, stays, keptAway, overTarget, left } = view;
  const { before, after } = view.unevenness;
  const hidden = stays.length - MAX_SHOWN;
  return joinParts([
    printLine(passHeadline(metadata.name, mode, moves.length, considered)) +
      printLine(loadChange(before.toFixed(2), after.toFixed(2))),
    formatSection(['MOVE', 'FROM', 'EXPECTED ON', 'GAIN', 'WHY'], moves.map(moveCells)),
    formatSection(
      ['KEPT AWAY', 'FROM', 'WHY'],
      keptAway.map(({ owner, node, text }) => [owner, node, text]),
    ),
    formatSection(
      ['STILL OVER TARGET', 'LOAD', 'WHY ITS PODS STAY'],
      overTarget.slice(0, MAX_SHOWN).map(({ node, text, obstacle }) => [node, text, obstacle]),
    ),
    formatSection(
      ['STAY', 'PODS'],
      left.map(({ code, count }) => [code, String(count)]),
    ),
    formatSection(
      ['LIMIT', 'LEFT', 'PODS THAT STAY FOR IT'],
      view.limits.map(({ limit, left: room, pods }) => [limit, String(room), String(pods.length)]),
    ),
    formatSection(['POD', 'NODE', 'WHY IT STAYS'], stays.slice(0, MAX_SHOWN).map(stayCells)),
    hidden > 0 ? printLine(moreStay(hidden)) : '',
  ]);
}

function moveCells({ pod, from, expectedOn, gain, because }: MoveStatus): readonly string[] {
  return [pod, from, expectedOn, gain.toFixed(2), because.text];
}

function stayCells({ pod, node, because }: ReschedulingResult['stays'][number]): readonly string[] {
  return [pod, node, because.text];
}
