import { decodeAccount, encodeAccount } from '#shared/api/disruption-account.ts';
import { decodeDisruptionLimit } from '#shared/api/disruption-limit.ts';
import { type Account, countRemoval, debitEviction, fits, liveDebits } from '#shared/domain/disruption/account.ts';
import { coveringRules, type DisruptionLimit, hasNotRun } from '#shared/domain/disruption/disruption-limit.ts';
import { COMPONENTS, type CoveringRule, podsOf } from '#shared/domain/disruption/limit-rule.ts';
import { limitStatus } from '#shared/domain/disruption/limit-status.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { type RandomSource, randomSource } from '#test/fakes/random-source.ts';
import { valueOf } from '#test/build/value-of.ts';
import { oneOf, sometimes } from './choices.ts';
import type { WildCluster } from './wild-cluster.ts';
import { NAMESPACES } from './wild-settings.ts';

const MAXIMA = [0, 1, 2, '10%', '50%', '99%', '100%', '0%', 2_147_483_647] as const;
const WINDOWS = ['1s', '10s', '5m', '24h'] as const;
const SELECTORS = [
  {},
  { matchLabels: { app: 'app-0' } },
  { matchExpressions: [{ key: 'app', operator: 'Exists' }] },
] as const;

/** What an account of removals must not do, whoever removes the pods of a wild cluster and when. */
export function accountFaults(cluster: WildCluster, seed: number): readonly string[] {
  const random = randomSource(seed);
  const pods = cluster.pods.map((raw) => valueOf(decodePod(raw)));
  return NAMESPACES.flatMap((namespace) => {
    const own = pods.filter((pod) => pod.namespace === namespace);
    return own.length === 0 ? [] : faultsIn(own, wildLimits(random, namespace), { random, now: cluster.now });
  });
}

function wildLimits(random: RandomSource, namespace: string): readonly DisruptionLimit[] {
  return Array.from({ length: 1 + random.below(2) }, (_, index) => {
    const limits = Array.from({ length: 1 + random.below(2) }, () => ({
      max: oneOf(random, MAXIMA),
      window: oneOf(random, WINDOWS),
    }));
    const spec = {
      selector: oneOf(random, SELECTORS),
      limits,
      ...sometimes(random, 0.3, { minAvailable: oneOf(random, MAXIMA) }),
      ...sometimes(random, 0.3, { shares: [{ component: 'Agent', percent: oneOf(random, [1, 50, 99, 100]) }] }),
    };
    return valueOf(decodeDisruptionLimit({ metadata: { namespace, name: `limit-${index}` }, spec }));
  });
}

interface Removed {
  readonly uid: string;
  readonly at: number;
  readonly keys: readonly string[];
}

interface Run {
  readonly random: RandomSource;
  now: number;
}

function faultsIn(pods: readonly Pod[], limits: readonly DisruptionLimit[], run: Run): readonly string[] {
  const faults: string[] = [];
  const removed: Removed[] = [];
  let account: Account = [];
  for (const pod of run.random.shuffled(pods)) {
    run.now += run.random.pick([0, 1, 500, 9_000, 400_000]);
    const rules = coveringRules(pod, pods, { limits, budgets: [], policy: undefined });
    const wanted = wantedFor(pod, run);
    const isAsked = run.random.chance(0.7);
    const outcome = isAsked ? debitEviction(account, wanted, rules) : undefined;
    if (outcome?.kind === 'exceeded') {
      faults.push(...refusalFaults(outcome.retryAfterMs, pod.uid));
      continue;
    }
    if (outcome !== undefined) faults.push(...beyond(removed, rules, { pod, now: run.now }));
    account = outcome?.account ?? countRemoval(account, wanted, rules);
    removed.push({ uid: pod.uid, at: run.now, keys: rules.map(({ rule }) => rule.key) });
    faults.push(
      ...stateFaults(account, limits, pods, run.now),
      ...(hasNotRun(pod) && rules.length > 0 ? [`${pod.uid} never ran and costs`] : []),
    );
  }
  return faults;
}

function wantedFor({ uid, name }: Pod, { random, now }: Run) {
  const component = random.pick(COMPONENTS);
  return {
    uid,
    pod: name,
    at: now,
    component,
    cause: undefined,
    caller: oneOf(random, [undefined, 'x'.repeat(300), '']),
  };
}

function refusalFaults(retryAfterMs: number, uid: string): readonly string[] {
  return retryAfterMs >= 0 && Number.isFinite(retryAfterMs) ? [] : [`${uid} may ask again in ${retryAfterMs} ms`];
}

/** An eviction that was let through, beyond what a window of a limit has. */
function beyond(
  removed: readonly Removed[],
  rules: readonly CoveringRule[],
  { pod, now }: { readonly pod: Pod; readonly now: number },
): readonly string[] {
  return rules.flatMap(({ rule, expected }) =>
    rule.limits.flatMap(({ max, windowMs }) => {
      const inside = removed.filter(({ keys, at }) => keys.includes(rule.key) && now - at < windowMs).length;
      return inside < podsOf(max, expected)
        ? []
        : [`${pod.uid} goes beyond ${rule.key}: ${inside} of ${podsOf(max, expected)}`];
    }),
  );
}

function stateFaults(
  account: Account,
  limits: readonly DisruptionLimit[],
  pods: readonly Pod[],
  now: number,
): readonly string[] {
  const read = decodeAccount({ metadata: { name: 'plimsoll' }, status: encodeAccount(account) });
  const isSame = read.ok && read.value.map(({ uid }) => uid).join() === account.map(({ uid }) => uid).join();
  const uids = account.map(({ uid }) => uid);
  const covered = { expected: pods.length, up: new Set(uids) };
  const statuses = limits.flatMap((limit) => limitStatus(limit, covered, account, now).windows);
  return [
    ...(isSame ? [] : ['an account is not read as it was written']),
    ...(fits(account) ? [] : ['an account does not fit']),
    ...(new Set(uids).size === uids.length ? [] : ['a pod is debited twice']),
    ...(liveDebits(account, now).length <= account.length ? [] : ['more live debits than debits']),
    ...statuses.flatMap(({ left, removed, max }) =>
      Math.min(left, removed, max) < 0 ? ['a window has less than nothing'] : [],
    ),
  ];
}
