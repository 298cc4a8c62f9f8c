import { PREEMPT_NEVER, type PriorityClasses } from './priority-class.ts';
import type { PriorityPolicy } from './priority-policy.ts';

/** Two policies that hold for the same pods. */
interface Pair {
  readonly policy: PriorityPolicy;
  readonly other: PriorityPolicy;
  readonly classes: PriorityClasses;
}

/** What another policy that holds for the same pods says otherwise, and which of both counts, in sentences. */
export function policyConflicts(
  policy: PriorityPolicy,
  other: PriorityPolicy,
  classes: PriorityClasses,
): readonly string[] {
  const pair = { policy, other, classes };
  return [...defaults(pair), ...refusedDefault(pair), ...allowedLists(pair), ...ceilings(pair), ...substitutes(pair)];
}

/** The class with the lower value wins, of equal ones the first by name. */
function defaults({ policy, other, classes }: Pair): readonly string[] {
  const [own, theirs] = [policy, other].map(({ defaultClassName }) => classes.get(defaultClassName ?? ''));
  if (own === undefined || theirs === undefined || own.name === theirs.name) return [];
  const wins = own.value < theirs.value || (own.value === theirs.value && own.name < theirs.name);
  return [
    `policy \`${other.name}\` gives default class \`${theirs.name}\`; the lower one, \`${(wins ? own : theirs).name}\`, counts`,
  ];
}

/** A default that this policy gives and the other refuses. */
function refusedDefault({ policy, other, classes }: Pair): readonly string[] {
  const own = classes.get(policy.defaultClassName ?? '');
  if (own === undefined) return [];
  const { allowedClassNames, maxPriority } = other;
  const isRefused =
    allowedClassNames?.includes(own.name) === false || (maxPriority !== undefined && own.value > maxPriority);
  return isRefused
    ? [
        `policy \`${other.name}\` does not allow class \`${own.name}\`, the default of this one: pods that get it are refused`,
      ]
    : [];
}

function allowedLists({ policy, other }: Pair): readonly string[] {
  const [own, theirs] = [policy.allowedClassNames, other.allowedClassNames];
  if (own === undefined || theirs === undefined) return [];
  const both = own.filter((name) => theirs.includes(name));
  if (both.length === own.length && both.length === theirs.length) return [];
  return both.length === 0
    ? [`policy \`${other.name}\` allows none of the classes that this one allows: where both hold, no pod is let in`]
    : [
        `policy \`${other.name}\` allows other classes; where both hold, only ${both.map((name) => `\`${name}\``).join(', ')}`,
      ];
}

function ceilings({ policy, other }: Pair): readonly string[] {
  const [own, theirs] = [policy.maxPriority, other.maxPriority];
  if (own === undefined || theirs === undefined || own === theirs) return [];
  return [`policy \`${other.name}\` has maxPriority ${theirs}; the lower one, ${Math.min(own, theirs)}, counts`];
}

/** Of several substitutes for a class that of the policy first by name is taken. */
function substitutes({ policy, other, classes }: Pair): readonly string[] {
  if (policy.preemption === 'Allow' || other.preemption === 'Allow') return [];
  return Array.from(policy.substitutes).flatMap(([from, to]) => {
    const theirs = other.substitutes.get(from);
    const isUsable = [to, theirs].every((name) => classes.get(name ?? '')?.preemptionPolicy === PREEMPT_NEVER);
    if (theirs === undefined || theirs === to || !isUsable) return [];
    const counts = policy.name < other.name ? to : theirs;
    return [
      `policy \`${other.name}\` replaces class \`${from}\` by \`${theirs}\`; the first by name counts: \`${counts}\``,
    ];
  });
}
