import { isFresh, type NodePressure } from '#shared/api/node-pressure.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import {
  DISRUPTION_POLICIES,
  NODE_PRESSURES,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  PRIORITY_RULES,
  QUEUES,
  type Resource,
} from '#shared/kube/resource.ts';
import { type Manifest, nameOf, ofKind } from '#cli/manifests/parse-manifests.ts';
import type { Finding } from './finding.ts';
import { conditionTells } from './messages.ts';

/** Kinds whose conditions say what is wrong; those of nodes are in `NodePressure`. */
export const WITH_CONDITIONS: readonly Resource[] = [
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  PRIORITY_RULES,
  QUEUES,
  DISRUPTION_POLICIES,
];
/** Types that are True while all is well; `SourcesAgree` has findings of its own. */
const HEALTHY_WHEN_TRUE = new Set([
  'Ready',
  'Current',
  'SettingsEffective',
  'GuaranteesCovered',
  'PoliciesRead',
  'RulesConfirmed',
  'PodsRead',
  'PodsReadable',
  'PodsMeasured',
  'FiguresAgree',
]);
/** Types that are True while something is wrong. */
const HEALTHY_WHEN_FALSE = new Set(['Conflicting', 'NodesDoubted', 'ForbiddingBudgets']);

/** A condition of an object that says that something is wrong there. */
interface Trouble {
  readonly kind: string;
  readonly name: string;
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** What objects of ours say of themselves; what several of a kind say alike is one finding. */
export function conditionFindings(manifests: readonly Manifest[]): readonly Finding[] {
  const alike = Map.groupBy(manifests.flatMap(troublesOf), ({ kind, type, reason, message }) =>
    [kind, type, reason, message].join('\n'),
  );
  return [...alike.values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [
          conditionTells(
            first,
            [first, ...others].map(({ name }) => name),
          ),
        ],
  );
}

/** The same of nodes whose agent reports: what the others say is old. */
export function nodeConditionFindings(
  manifests: readonly Manifest[],
  pressures: readonly NodePressure[],
  now: Instant,
): readonly Finding[] {
  const reporting = new Set(pressures.filter(({ status }) => isFresh(status, now)).map(({ name }) => name));
  return conditionFindings(ofKind(manifests, NODE_PRESSURES).filter((each) => reporting.has(nameOf(each))));
}

function troublesOf(manifest: Manifest): readonly Trouble[] {
  const text = (condition: unknown, key: string): string => {
    const value = fieldOf(condition, key);
    return typeof value === 'string' ? value : '';
  };
  return itemsOf(fieldOf(fieldOf(manifest.raw, 'status'), 'conditions'))
    .map((condition) => ({
      type: text(condition, 'type'),
      status: text(condition, 'status'),
      reason: text(condition, 'reason'),
      message: text(condition, 'message'),
    }))
    .filter(isTrouble)
    .map((condition) => ({ kind: manifest.kind, name: nameOf(manifest), ...condition }));
}

function isTrouble({ type, status }: Pick<Trouble, 'type' | 'status'>): boolean {
  return (status === 'False' && HEALTHY_WHEN_TRUE.has(type)) || (status === 'True' && HEALTHY_WHEN_FALSE.has(type));
}
