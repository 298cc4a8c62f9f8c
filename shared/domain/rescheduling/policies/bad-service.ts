import type { Because } from '#shared/domain/model/because.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { ownerText } from '#shared/domain/pod/pod-owner.ts';
import { REASONS } from '#shared/domain/rescheduling/messages.ts';
import { MEMORY, type OwnerGroup, ownerGroupOf, type PassNode } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { BadServicePolicy } from '#shared/domain/rescheduling/policy.ts';
import type { RunningPod } from '#shared/domain/rescheduling/running-pod.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { LONG_AVOID_MS, type PolicyInput, type Wish, type WishGroup } from './wish.ts';

/** A pod that works again, in points. */
export const SERVICE_GAIN = 100;

/** A pod that fails where it runs, and why. */
interface Failing {
  readonly placed: PlacedPod;
  readonly node: PassNode;
  readonly because: Because;
}

/** Pods that fail on their nodes, or the pods that use more there than they request (S3-4, S3-5). */
export function* wishesOfBadService(input: PolicyInput, policy: BadServicePolicy): Steps<readonly WishGroup[]> {
  const failing: Failing[] = [];
  for (const node of input.cluster.nodes) {
    for (const placed of node.closed === undefined ? node.entry.occupancy.pods : []) {
      const because = whyFailing(policy, [placed, node]);
      if (because !== undefined) failing.push({ placed, node, because });
    }
    yield;
  }
  const harmful = harmfulNodes(input, failing);
  const moved = policy.move === 'Victim' ? failing : aggressorsOf(input, failing);
  const wishes = moved.flatMap((each) => wishOf(input, each, harmful));
  return [{ wishes: () => wishes, urgency: () => 1 }];
}

/** Restarts of all containers of a pod. */
export function restartsOf({ status }: Pod): number {
  return [...status.containers, ...status.initContainers].reduce((sum, { restartCount }) => sum + restartCount, 0);
}

function whyFailing(
  { restarts: most }: BadServicePolicy,
  [{ pod }, { name }]: readonly [PlacedPod, PassNode],
): Because | undefined {
  const count = restartsOf(pod);
  return count < most ? undefined : REASONS.badService({ node: name, count, most });
}

/** By owner. */
type HarmfulNodes = ReadonlyMap<OwnerGroup | undefined, ReadonlySet<string>>;

/** Nodes by owner on which pods of the owner fail: each is a place to keep away from. */
function harmfulNodes({ cluster }: PolicyInput, failing: readonly Failing[]): HarmfulNodes {
  const found = new Map<OwnerGroup | undefined, Set<string>>();
  for (const { placed, node } of failing) {
    const owner = ownerGroupOf(cluster, placed.pod);
    found.set(owner, (found.get(owner) ?? new Set()).add(node.name));
  }
  return found;
}

/** On each node with a failing pod, the pod that uses most memory beyond its request. */
function aggressorsOf({ cluster }: PolicyInput, failing: readonly Failing[]): readonly Failing[] {
  const firstOfNode = new Map(failing.map((each) => [each.node, each]));
  return [...firstOfNode.values()].flatMap(({ node, because }) => {
    const overages = node.entry.occupancy.pods.map((placed) => {
      const used = cluster.measurements.ofPod(placed.pod.uid)?.memory ?? 0;
      return { placed, overage: used - Number(placed.row[MEMORY] ?? 0) };
    });
    const [worst] = overages.filter(({ overage }) => overage > 0).toSorted((a, b) => b.overage - a.overage);
    return worst === undefined ? [] : [{ placed: worst.placed, node, because }];
  });
}

function wishOf(input: PolicyInput, { placed, node, because }: Failing, harmful: HarmfulNodes): readonly Wish[] {
  const movable = input.movable(placed, node);
  if (movable?.kind !== 'movable') return [];
  const { pod } = movable;
  return [
    {
      policy: 'badService',
      pod,
      because,
      worth: () => SERVICE_GAIN,
      gainOn: () => SERVICE_GAIN,
      leastGain: SERVICE_GAIN,
      reasonAgainst: (target) => whyHarmful(pod, target, harmful),
      avoidForMs: LONG_AVOID_MS,
    },
  ];
}

function whyHarmful({ owner }: RunningPod, target: PassNode, harmful: HarmfulNodes): Because | undefined {
  if (harmful.get(owner)?.has(target.name) !== true) return undefined;
  return REASONS.harmfulNode({ node: target.name, owner: ownerText(owner.key) });
}
