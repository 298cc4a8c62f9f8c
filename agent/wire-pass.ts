import type { Clock } from '#shared/runtime/clock.ts';
import { enforceEviction, pretendEviction, readAgain } from './act/attempt-eviction.ts';
import { readFresh } from './act/read-fresh.ts';
import type { Reporter } from './report/reporter.ts';
import type { AgentParts, Assembly } from './wire.ts';
import { createCycle, type Cycle } from './pass.ts';
import { ownHolds } from './decide/readiness-gates.ts';

/** Connects the cycle with everything that it reads and writes. */
export function assembleCycle({ configuration, ports: { clock }, parts }: Assembly, reporter: Reporter): Cycle {
  const { client, pods } = parts;
  const startedAtMs = clock.monotonic();
  const holds = () =>
    ownHolds({
      nowMs: clock.monotonic(),
      startedAtMs,
      warmUpMs: configuration.warmUpMs,
      arePodsSynced: pods.isSynced(),
      arePoliciesRead: parts.policies.areRead(),
      isHistoryKnown: parts.told() !== undefined,
      lastContactMs: pods.lastContactMs(),
    });
  return createCycle({
    source: parts.source,
    pods,
    namespaces: parts.namespaces.known,
    policy: parts.policies.inForce,
    avoided: () => avoidedOwners(parts, clock),
    history: parts.told,
    recalled: reporter.recall,
    doubts: parts.crossCheck.doubts,
    doubtfulPods: parts.crossCheck.doubtfulPods,
    isKubeletSilent: () => [...parts.ownNode.values()][0]?.isKubeletSilent ?? false,
    holds,
    readFresh: readFresh(client),
    attempt: { Enforce: enforceEviction(client), DryRun: pretendEviction() },
    readAgain: (eviction, signal) => readAgain(client, eviction, clock, signal),
    requested: reporter.requested,
    answered: reporter.answered,
    clock,
    periods: configuration.period,
  });
}

const NO_OWNERS: ReadonlySet<string> = new Set();

/** Owners whose entries in our NodePressure's spec still hold. */
function avoidedOwners({ ownPressure }: AgentParts, clock: Pick<Clock, 'now'>): ReadonlySet<string> {
  const [pressure] = ownPressure.values();
  if (pressure === undefined || pressure.avoid.length === 0) return NO_OWNERS;
  return new Set(pressure.avoid.filter(({ until }) => until > clock.now()).map(({ owner }) => owner));
}
