import { finish } from '#shared/domain/base/steps.ts';
import { simulatePreemption } from '#shared/domain/preemption/explain/simulate-preemption.ts';
import type { ProposalRules, ProposedVictims } from '#shared/domain/preemption/proposal/proposal.ts';
import { reviewInSteps } from '#shared/domain/preemption/proposal/review-proposal.ts';
import { decodeAnnotatedClass } from '#shared/kube/decode/decode-objects.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { protectedFromPreemption } from '#shared/kube/annotations/annotations.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { keptByQueues } from '#shared/decide/queues/kept-by-queues.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { podKey } from '#shared/domain/snapshot/snapshot-pods.ts';
import { valueOf } from '#test/build/value-of.ts';
import { isMirror, specOf, statusOf } from './eviction-laws.ts';
import type { WildCluster } from './wild-cluster.ts';
import { WildView } from './wild-view.ts';

/** What the extender answers to preemptions of kube-scheduler that it never may. */
export function preemptFaults(cluster: WildCluster): readonly string[] {
  const view = new WildView(cluster);
  const pending = cluster.pods.filter(
    (pod) => specOf(pod)['nodeName'] === undefined && specOf(pod)['schedulingGates'] === undefined,
  );
  return pending.flatMap((raw) => answerFaults(view, cluster, raw));
}

function rulesOf(view: WildView, { classes }: WildCluster): ProposalRules {
  const byName = new Map(classes.map((each) => [each.metadata.name ?? '', valueOf(decodeAnnotatedClass(each))]));
  const { snapshot, charges, amounts, queues: directory, now } = view;
  return {
    budgets: 'BestEffort',
    usageAware: false,
    tieBreak: 'none',
    protection: protectedFromPreemption((name) => byName.get(name)),
    keptOn: (preemptor) => keptByQueues({ snapshot, directory, charges, amounts, now }, preemptor),
  };
}

function answerFaults(view: WildView, cluster: WildCluster, raw: KubeObject): readonly string[] {
  const pod = valueOf(decodePod(raw));
  const proposal = proposalOf(view, pod);
  if (proposal.length === 0) return [];
  const rules = rulesOf(view, cluster);
  const verdicts = finish(reviewInSteps(view.snapshot, { pod, proposal, now: view.now }, rules));
  const pods = new Map(cluster.pods.map((each) => [each.metadata.uid ?? '', each]));
  return verdicts.flatMap((verdict, index) => {
    const name = `${raw.metadata.uid} on ${proposal[index]?.node}`;
    const asked = (proposal[index]?.uids ?? []).flatMap((uid) => pods.get(uid) ?? []);
    const isFree =
      asked.every((each) => !hasOptedOut(each) && protectionsFor(raw)(each).length === 0) &&
      rules.keptOn?.(pod) === undefined;
    const isSetAside = cluster.pods.some((each) => statusOf(each)['nominatedNodeName'] === proposal[index]?.node);
    if (verdict.kind === 'removed') return isFree && !isSetAside ? [`removes ${name}: ${verdict.because.text}`] : [];
    // Pods that are already terminating are named to keep their room.
    const all = verdict.victims.uids.flatMap((uid) => pods.get(uid) ?? []);
    const victims = all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return [
      ...(verdict.victims.uids.length === 0 ? [`no victims for ${name}`] : []),
      ...victims.flatMap((victim) =>
        protectionsFor(raw)(victim).map((why) => `${name} preempts ${victim.metadata.uid}, which ${why}`),
      ),
      ...victims.flatMap((victim) =>
        specOf(victim)['nodeName'] === verdict.victims.node ? [] : [`${name} preempts elsewhere`],
      ),
    ];
  });
}

function proposalOf({ snapshot }: WildView, pod: Pod): readonly ProposedVictims[] {
  const simulation = simulatePreemption(snapshot, pod);
  if (simulation.kind !== 'preempts') return [];
  return simulation.candidates.map(({ node, victims, budgetViolations }) => ({
    node,
    uids: victims.map((victim) => podKey(victim.pod)),
    budgetViolations,
  }));
}

/** Why a pod may not preempt another one, from the wire. */
function protectionsFor(preemptor: KubeObject) {
  // One of a DaemonSet runs on no other node: as a last resort it preempts pods that opted out.
  const isOfDaemonSet = JSON.stringify(preemptor.metadata['ownerReferences'] ?? []).includes('"DaemonSet"');
  const priority = Number(specOf(preemptor)['priority'] ?? 0);
  return (victim: KubeObject): readonly string[] => [
    ...(Number(specOf(victim)['priority'] ?? 0) >= priority ? ['is as important'] : []),
    ...(isMirror(victim) ? ['is a mirror pod'] : []),
    ...(!isOfDaemonSet && hasOptedOut(victim) ? ['has a class that is not preempted'] : []),
    ...(priority < 2_000_000_000 &&
    ['kube-system', 'plimsoll-system', 'plimsoll-node'].includes(victim.metadata.namespace ?? '')
      ? ['is of the system']
      : []),
  ];
}

function hasOptedOut(victim: KubeObject): boolean {
  const isWilling = victim.metadata.annotations?.['plimsoll.dev/allow-preemption'] === 'true';
  return specOf(victim)['priorityClassName'] === 'class-1' && !isWilling;
}
