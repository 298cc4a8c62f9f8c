import type { StageBudget, StageCluster } from './stage-cluster.ts';
import type { Step } from './stage.ts';

/** What is worse with the extender than without it. */
export interface Breach {
  /** `a` later or dearer, `b` protected pods, `c` removed for nothing, `d` room kept idle. */
  readonly law: 'a' | 'b' | 'c' | 'd';
  readonly pod: string;
  readonly text: string;
  readonly without: Step | undefined;
  readonly with: Step;
}

/** Longest time that a pod may be placed later: the longest grace period of a victim, back-off and a busy machine. */
const LATER_MS = 20_000;
const SHIFT = 2 ** 31;

/**
 * Compares what kube-scheduler did by itself with what it did with the extender, pod by pod. `without` was played with
 * pods that kube-scheduler alone does not preempt in place of the protected ones. Once both differ, later pods meet
 * different clusters, so of them only what is true of any cluster is asked.
 */
export function breachesOf(
  cluster: StageCluster,
  without: readonly Step[],
  withExtender: readonly Step[],
): readonly Breach[] {
  const breaches: Breach[] = [];
  let isSame = true;
  for (const [index, step] of withExtender.entries()) {
    const alone = without[index];
    const found = [
      ...(isSame && alone !== undefined ? compared(cluster, alone, step) : []),
      ...absolute(cluster, alone, step),
    ];
    breaches.push(...found.map(([law, text]) => ({ law, pod: step.pod, text, without: alone, with: step })));
    isSame &&= alone !== undefined && alone.node === step.node && String(alone.victims) === String(step.victims);
  }
  return breaches;
}

type Found = readonly [law: Breach['law'], text: string];

/**
 * Laws a and b for a pod that met the same cluster both times. With protected pods and a reason outside its model the
 * extender can name no other victims, so it only keeps the protected ones. The other scheduler learns of a nomination from
 * the API server, unless both serve in one process, as they do without the extender: who is first there is chance.
 */
function compared(cluster: StageCluster, alone: Step, step: Step): readonly Found[] {
  if ((cluster.hasProtected && cluster.isOutsideTheModel) || (step.isOvertaken && !alone.isOvertaken)) return [];
  const law = cluster.hasProtected ? 'b' : 'a';
  if (alone.node !== undefined && step.node === undefined) return [[law, 'is not placed']];
  const isLater = alone.node !== undefined && step.waitedMs > alone.waitedMs + LATER_MS;
  return [...(isLater ? [[law, 'is placed later'] as const] : []), ...dearer(cluster, law, alone, step)];
}

/**
 * In the place of protected pods kube-scheduler alone counts terminating ones however long they take; the extender only
 * those that are over in time, so their costs differ.
 */
function dearer(cluster: StageCluster, law: 'a' | 'b', alone: Step, step: Step): readonly Found[] {
  if (cluster.hasProtected && cluster.features.includes('terminating')) return [];
  const [cost, costAlone] = [costOf(cluster, step), costOf(cluster, alone)];
  return compare(cost, costAlone) > 0 ? [[law, `costs ${cost.join('/')} instead of ${costAlone.join('/')}`]] : [];
}

/** What holds whatever happened before. */
function absolute({ running }: StageCluster, alone: Step | undefined, step: Step): readonly Found[] {
  const lost = step.victims.filter((name) => running.some((each) => each.name === name && each.isProtected));
  const isInVain = ({ node, victims }: Step): boolean => node === undefined && victims.length > 0;
  const isIdle = ({ node, nominated }: Step): boolean => node === undefined && nominated !== undefined;
  return [
    ...(lost.length > 0 ? [['b', `protected pods were preempted: ${lost.join(', ')}`] as const] : []),
    ...(isInVain(step) && !step.isOvertaken && !(alone && isInVain(alone))
      ? [['c', `${step.victims.join(', ')} went for nothing`] as const]
      : []),
    ...(isIdle(step) && !(alone && isIdle(alone)) ? [['d', `keeps ${step.nominated} idle`] as const] : []),
  ];
}

/**
 * The steps by which kube-scheduler compares victims: budgets violated, highest priority, sum of priorities, number.
 * `pkg/scheduler/framework/preemption/preemption.go` pickOneNodeForPreemption.
 */
function costOf({ running, incoming, budgets }: StageCluster, { victims, spare }: Step): readonly number[] {
  const pods = [...running, ...incoming].filter(({ name }) => victims.includes(name));
  const priorities = pods.map(({ priority }) => priority);
  const violations = budgets.reduce((sum, budget) => sum + violationsOf(budget, pods, spare), 0);
  const sum = priorities.reduce((total, each) => total + each + SHIFT, 0);
  return [violations, Math.max(-SHIFT, ...priorities), sum, pods.length];
}

function violationsOf(
  { app }: StageBudget,
  victims: readonly { readonly app: string }[],
  spare: Step['spare'],
): number {
  const members = victims.filter((each) => each.app === app).length;
  return Math.max(0, members - Math.max(0, spare[app] ?? 0));
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) if (value !== b[index]) return value - (b[index] ?? 0);
  return 0;
}
