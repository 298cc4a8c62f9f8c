import { finish } from '#shared/domain/base/steps.ts';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import type { ReschedulingResult } from '#shared/domain/rescheduling/pass.ts';
import { AGGRESSIVENESS, DRY_RUN_POLICY, type ReschedulingPolicy } from '#shared/domain/rescheduling/policy.ts';
import { runPass } from '#shared/domain/rescheduling/run-pass.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { moveRules } from '#shared/kube/annotations/annotations.ts';
import { evictionFaults, specOf, takerFaults } from './eviction-laws.ts';
import { firstDifference } from './queue-laws.ts';
import { shuffledCluster, type WildCluster } from './wild-cluster.ts';
import { WildView } from './wild-view.ts';

/** What the rescheduler would do that it never may. */
export function moveFaults(cluster: WildCluster, seed: number): readonly string[] {
  const policy = policyOf(seed);
  const result = movesIn(cluster, policy);
  const uids = result.moves.map(({ pod }) => pod.placed.pod.uid);
  const pods = new Map(cluster.pods.map((pod) => [pod.metadata.uid ?? '', pod]));
  const other = movesText(movesIn(shuffledCluster(cluster, seed), policy));
  const text = movesText(result);
  return [
    ...evictionFaults(cluster, uids),
    ...uids.flatMap((uid) => stayFaults(pods.get(uid))),
    ...result.moves.flatMap(({ pod, from, expectedOn }) => [
      ...expectedOn.flatMap((node) => takerFaults(cluster, { uid: pod.placed.pod.uid, node, gone: [] })),
      ...(expectedOn.includes(from) || expectedOn.length === 0
        ? [`moves ${pod.placed.pod.uid} from ${from} to itself`]
        : []),
    ]),
    ...badTexts(result),
    ...(other === text ? [] : [`another order: ${firstDifference(text, other)}`]),
  ];
}

function policyOf(seed: number): ReschedulingPolicy {
  const low = {
    underused: {
      ...DRY_RUN_POLICY.underused,
      low: new Map([
        ['cpu', 30],
        ['nvidia.com/gpu', 50],
      ]),
      target: new Map([
        ['cpu', 40],
        ['nvidia.com/gpu', 60],
      ]),
    },
  };
  return {
    ...DRY_RUN_POLICY,
    ...(seed % 2 === 0 && low),
    ...(seed % 3 === 0 && { badService: { restarts: 10, oomKills: 2, refused: 1, move: 'Victim' } as const }),
    aggressiveness: AGGRESSIVENESS[seed % 3] ?? 'High',
    fitElsewhere: seed % 5 !== 0,
  };
}

function movesIn(cluster: WildCluster, policy: ReschedulingPolicy): ReschedulingResult {
  const { snapshot, now } = new WildView(cluster);
  const rules = moveRules(snapshot.namespaces, policy.fitElsewhere);
  return finish(runPass(snapshot, policy, { now, memory: NO_MEMORY, rules }));
}

const STAYING = ['DaemonSet', 'Job', 'VirtualMachineInstance', 'Node'];
const WISHES: readonly (readonly [string, string])[] = [
  ['plimsoll.dev/evict', 'never'],
  ['descheduler.alpha.kubernetes.io/prefer-no-eviction', ''],
  ['cluster-autoscaler.kubernetes.io/safe-to-evict', 'false'],
  ['karpenter.sh/do-not-disrupt', 'true'],
];

interface WireSpec {
  readonly restartPolicy?: string;
  readonly priority?: number;
  readonly volumes?: readonly object[];
}

/** Pods that nobody moves: their controller would fail or lose them, or they ask to stay. */
function stayFaults(pod: KubeObject | undefined): readonly string[] {
  if (pod === undefined) return [];
  const { restartPolicy, priority = 0, volumes = [] }: WireSpec = specOf(pod);
  const wish = WISHES.find(([name, value]) => pod.metadata.annotations?.[name] === value);
  const isLocal = volumes.some((volume) => 'hostPath' in volume || 'emptyDir' in volume);
  const why = [
    ...ownerFaults(pod),
    ...(restartPolicy === 'Always' ? [] : [`restarts ${restartPolicy}`]),
    ...(wish !== undefined && priority <= 1_000_000 ? [`asks to stay by ${wish[0]}`] : []),
    ...(isLocal ? ['has data on its node'] : []),
    ...(pod.metadata.namespace === 'ignored' ? ['is in an ignored namespace'] : []),
  ];
  return why.map((each) => `moves ${pod.metadata.uid}, which ${each}`);
}

function ownerFaults({ metadata }: KubeObject): readonly string[] {
  const [owner] = (metadata['ownerReferences'] ?? []) as readonly { kind: string }[];
  if (owner === undefined) return ['has no controller'];
  return STAYING.includes(owner.kind) ? [`is of a ${owner.kind}`] : [];
}

function badTexts({ moves, stays }: ReschedulingResult): readonly string[] {
  const texts = [...moves, ...stays].map(({ because }) => because.text);
  return texts.filter((text) => /undefined|NaN|Infinity/.test(text)).map((text) => `says: ${text}`);
}

/** Without loads: a sum of amounts near 2^63 differs by the order in its last digits. */
function movesText({ moves, stays }: ReschedulingResult): string {
  return [
    ...moves.map(({ pod, from, expectedOn }) => `${pod.placed.pod.uid} ${from} ${expectedOn.join()}`),
    ...stays.map(({ pod, because }) => `${pod} ${because.text}`).sort(),
  ].join('\n');
}
