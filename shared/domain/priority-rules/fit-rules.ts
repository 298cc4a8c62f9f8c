import { compareTexts } from '#shared/domain/model/compare-texts.ts';
import type { Requirement } from '#shared/domain/labels/requirement.ts';
import { placeEverywhere, placeRule, type RulePlace } from './place-rule.ts';
import { highestCost, ruleCost } from './rule-cost.ts';
import type { UnplacedRule } from './rule-of-policy.ts';

/** A rule, what it needs of a namespace, and how many bytes it takes in storage. */
export interface RuleDraft {
  readonly rule: UnplacedRule;
  readonly requirements: readonly Requirement[];
  readonly bytes: number;
}

export interface PlacedRule {
  readonly rule: UnplacedRule;
  readonly place: RulePlace;
}

/** What one object may hold, so that it can be stored and every expression over it ends within its budget. */
export interface RuleLimits {
  /** etcd refuses objects above 1.5 MiB. */
  readonly bytes: number;
  /** In units of CEL, see rule-cost.ts. */
  readonly cost: number;
  /** Different names of groups. */
  readonly groups: number;
  /** Different labels by which rules are found; others are found everywhere. */
  readonly labels: number;
}

export const RULE_LIMITS: RuleLimits = { bytes: 1_000_000, cost: 400_000, groups: 2_000, labels: 64 };

export type RuleLimit = 'bytes' | 'cost' | 'groups';

export interface FittedRules {
  readonly placed: readonly PlacedRule[];
  /** Policies and quotas, by `ruleName`, that found no room, and what was too small for them. */
  readonly leftOut: ReadonlyMap<string, RuleLimit>;
}

/** Takes the smallest first, so that a large policy never displaces a small one. `bytes` are taken already. */
export function fitRules(
  drafts: readonly RuleDraft[],
  bytes = 0,
  { bytes: mostBytes, ...limits }: RuleLimits = RULE_LIMITS,
): FittedRules {
  const placed: PlacedRule[] = [];
  const leftOut = new Map<string, RuleLimit>();
  const groupsNamed = Math.min(limits.groups, groupsIn(drafts).size);
  const room = createRoom({ ...limits, bytes: mostBytes - bytes }, groupsNamed);
  for (const draft of drafts.toSorted(bySize)) {
    const place = room.placeFor(draft);
    const exceeded = room.exceededBy(draft, place);
    if (exceeded === undefined) {
      room.take(draft, place);
      placed.push({ rule: draft.rule, place });
    } else leftOut.set(ruleName(draft.rule), exceeded);
  }
  return { placed, leftOut };
}

/** A quota and a policy may have the same name. */
export function ruleName({ policy, counted }: Pick<UnplacedRule, 'policy' | 'counted'>): string {
  return counted === undefined ? policy : `PriorityQuota ${policy}`;
}

function bySize(a: RuleDraft, b: RuleDraft): number {
  return a.bytes - b.bytes || compareTexts(a.rule.policy, b.rule.policy);
}

function groupsIn(drafts: readonly RuleDraft[]): ReadonlySet<string> {
  return new Set(drafts.flatMap(({ rule }) => rule.subjects?.groups ?? []));
}

/** What is taken of the limits so far. */
function createRoom(limits: RuleLimits, groupsNamed: number) {
  const costs = highestCost();
  const groups = new Set<string>();
  let bytes = 0;

  function exceededBy(draft: RuleDraft, place: RulePlace): RuleLimit | undefined {
    if (bytes + bytesAt(draft, place) > limits.bytes) return 'bytes';
    if (costs.with(place, ruleCost(draft.rule, place, groupsNamed)) > limits.cost) return 'cost';
    const more = new Set(draft.rule.subjects?.groups.filter((group) => !groups.has(group)));
    return groups.size + more.size > limits.groups ? 'groups' : undefined;
  }

  return {
    exceededBy,
    placeFor: ({ requirements }: RuleDraft): RulePlace => {
      const place = placeRule(requirements);
      const isNew = place.label !== undefined && !costs.hasKey(place.label.key);
      return isNew && costs.keys() >= limits.labels ? placeEverywhere(requirements) : place;
    },
    take: (draft: RuleDraft, place: RulePlace): void => {
      bytes += bytesAt(draft, place);
      costs.add(place, ruleCost(draft.rule, place, groupsNamed));
      for (const group of draft.rule.subjects?.groups ?? []) groups.add(group);
    },
  };
}

/** A value in the index: itself, and numbers of rules. */
const BYTES_OF_VALUE = 90;

function bytesAt({ bytes }: RuleDraft, { label }: RulePlace): number {
  return bytes + (label === undefined ? 0 : label.values.length * BYTES_OF_VALUE);
}
