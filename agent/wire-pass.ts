import { lastingEntries } from '#shared/domain/avoidance/avoid-entry.ts';
import { ownerText } from '#shared/domain/pod/owner-key.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { enforceEviction, dryRunEviction, readAgain } from './act/attempt-eviction.ts';
import { readFresh } from './act/read-fresh.ts';
import type { Reporter } from './report/reporter.ts';
import type { AgentParts, Wiring } from './wire.ts';
import { createPassRunner, type PassRunner } from './pass.ts';
import { readinessGates } from './decide/readiness-gates.ts';

/** Connects the passes with everything that they read and write. */
export function wirePasses({ configuration, ports: { clock }, parts }: Wiring, reporter: Reporter): PassRunner {
  const { client, pods } = parts;
  const startedAtMs = clock.monotonic();
  const closedGates = () =>
    readinessGates({
      nowMs: clock.monotonic(),
      startedAtMs,
      warmUpMs: configuration.warmUpMs,
      arePodsSynced: pods.isSynced(),
      arePoliciesRead: parts.policies.areRead(),
      isHistoryKnown: parts.previousStatus() !== undefined,
      lastContactMs: parts.contact.lastMs(pods.lastContactMs()),
    });
  return createPassRunner({
    source: parts.source,
    pods,
    namespaces: parts.namespaces.known,
    policy: parts.policies.inForce,
    avoided: () => avoidedOwners(parts, clock),
    history: parts.previousStatus,
    restored: reporter.restoreRecords,
    doubts: parts.crossCheck.doubts,
    doubtfulPods: parts.crossCheck.doubtfulPods,
    isKubeletSilent: () => [...parts.ownNode.values()][0]?.isKubeletSilent ?? false,
    closedGates,
    readFresh: readFresh(client),
    attempt: { Enforce: enforceEviction(client), DryRun: dryRunEviction(client) },
    readAgain: (eviction, signal) => readAgain(client, eviction, clock, signal),
    requested: reporter.requested,
    answered: reporter.answered,
    clock,
    periods: configuration.period,
  });
}

const NO_OWNERS: ReadonlySet<string> = new Set();

/** Owners whose avoid entries in this node's NodePressure have not expired. */
function avoidedOwners({ nodePressure }: AgentParts, clock: Pick<Clock, 'now'>): ReadonlySet<string> {
  const [pressure] = nodePressure.values();
  if (pressure === undefined || pressure.avoid.length === 0) return NO_OWNERS;
  return new Set(lastingEntries(pressure, clock.now()).map(({ owner }) => ownerText(owner)));
}
