import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import type { LabelSelector } from '#shared/domain/pod/pod.ts';
import { readSelector } from '#shared/kube/decode/decode-scheduling.ts';
import type { Decoded } from '#shared/kube/decode/decoded.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { readEvictionLimits } from '#shared/kube/decode/read-eviction-limits.ts';
import { ANNOTATION_CONFIRMED_GENERATION } from '#shared/kube/api-names.ts';
import {
  decodeObject,
  readBoolean,
  readChoice,
  readCount,
  readInteger,
  readObject,
  readTextMap,
  readTexts,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { readRanking } from './decode-ranking.ts';
import { readStallRules } from './decode-stall-rules.ts';
import { type AgentPolicy, DEFAULT_POLICY } from './policy.ts';
import { readDurationMs } from './read-amounts.ts';
import { readMode } from './read-mode.ts';
import { readThresholdModes } from './threshold-modes.ts';

/** A NodePressurePolicy as the agent uses it: the nodes it selects and the settings for them. */
export interface NodePolicy {
  readonly nodeSelector: LabelSelector | undefined;
  readonly order: number;
  readonly policy: AgentPolicy;
}

const EMPTY: WireObject = {};

/** Reads the wire form; an unknown field is ignored, an invalid value is refused with the path of its field. */
export function decodePolicy(raw: KubeObject): Decoded<NodePolicy> {
  const identity = identityOf(raw);
  return decodeObject(
    raw,
    (object) => readObject(object, 'spec', (spec) => readSpec(spec, identity)) ?? readSpec(EMPTY, identity),
  );
}

/** Which nodes a policy selects and its order, also for a policy that cannot be read as a whole. */
export type PolicyScope = Pick<NodePolicy, 'nodeSelector' | 'order'>;

/** Reads the scope alone. */
export function decodeScope(raw: KubeObject): Decoded<PolicyScope> {
  return decodeObject(raw, (object) => readObject(object, 'spec', readScope) ?? readScope(EMPTY));
}

function readScope(spec: WireObject): PolicyScope {
  return { nodeSelector: readSelector(spec, 'nodeSelector'), order: readInteger(spec, 'order') ?? 0 };
}

type Identity = Pick<AgentPolicy, 'name' | 'generation' | 'confirmedGeneration'>;

function identityOf({ metadata }: KubeObject): Identity {
  const confirmed = metadata.annotations?.[ANNOTATION_CONFIRMED_GENERATION] ?? '';
  return {
    name: metadata.name ?? '',
    generation: metadata.generation ?? 0,
    confirmedGeneration: /^\d{1,15}$/.test(confirmed) ? Number(confirmed) : undefined,
  };
}

function readSpec(spec: WireObject, identity: Identity): NodePolicy {
  readObject(spec, 'budgets', refuseOverride);
  const mode = readMode(spec);
  const usual = DEFAULT_POLICY;
  const thresholds = readThresholds(spec);
  return {
    ...readScope(spec),
    policy: {
      ...usual,
      ...identity,
      mode,
      thresholds,
      thresholdModes: readThresholdModes(spec, thresholds),
      memoryFigure: readChoice(spec, 'memoryFigure', ['Reclaimable', 'Kubelet']) ?? usual.memoryFigure,
      transitionPeriodMs: readDurationMs(spec, 'evictionPressureTransitionPeriod') ?? usual.transitionPeriodMs,
      mostGraceSeconds: readCount(spec, 'evictionMaxPodGracePeriod') ?? usual.mostGraceSeconds,
      stallRules: readStallRules(spec, mode),
      ranking: readRanking(spec),
      limits: readEvictionLimits(spec),
      perOwnerPerHour: readObject(spec, 'limits', readPerOwner) ?? usual.perOwnerPerHour,
      protect: readObject(spec, 'protect', readProtection) ?? usual.protect,
    },
  };
}

const KUBELET_TABLES = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim'] as const;

/**
 * The kubelet's keys, refused with the kubelet's messages. Without any key the defaults apply; an empty table means no
 * thresholds. Hard memory thresholds are copied to the pods' own limit, as a kubelet that enforces it does, unless the
 * policy sets that signal itself (`0%` switches it off).
 */
function readThresholds(spec: WireObject): AgentPolicy['thresholds'] {
  if (KUBELET_TABLES.every((key) => spec[key] === undefined)) return DEFAULT_POLICY.thresholds;
  const tables = KUBELET_TABLES.map((key) => [key, Object.fromEntries(readTextMap(spec, key))] as const);
  const isAllocatableSet = readTextMap(spec, 'evictionHard').has('allocatableMemory.available');
  const parsed = parseThresholds({
    ...Object.fromEntries(tables),
    enforceNodeAllocatable: isAllocatableSet ? [] : ['pods'],
  });
  return parsed.ok ? parsed.thresholds : refuseField('evictionHard', parsed.mistakes.join('; '));
}

function readPerOwner(limits: WireObject): number {
  return readCount(limits, 'perOwnerPerHour') ?? DEFAULT_POLICY.perOwnerPerHour;
}

function readProtection(protect: WireObject): AgentPolicy['protect'] {
  return {
    namespaces: readTexts(protect, 'namespaces'),
    optOutCeiling: readInteger(protect, 'optOutCeiling') ?? DEFAULT_POLICY.protect.optOutCeiling,
    withinRequest: readBoolean(protect, 'withinRequest'),
  };
}

/** PodDisruptionBudgets hold in both stages (docs/decisions/0007); any other setting is refused. */
function refuseOverride(budgets: WireObject): void {
  for (const stage of ['mild', 'severe']) readChoice(budgets, stage, ['Respect']);
}
