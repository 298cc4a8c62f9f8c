import { isDeepStrictEqual } from 'node:util';
import {
  LEFT_TO_WEBHOOK,
  leftToWebhook,
  type PodConditions,
  type InProcessRules,
} from '#shared/kube/admission/left-to-webhook.ts';
import type { MatchCondition } from '#shared/kube/admission/cel-expressions.ts';
import { WEBHOOK_CONFIGURATION, WEBHOOK_ENTRIES, COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { ClientContext, KubeClient } from '#shared/kube/client/client.ts';
import { getObject, patchObject } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { MUTATING_WEBHOOKS, type Resource, VALIDATING_WEBHOOKS } from '#shared/kube/resource.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import type { LeaderDuty } from '#webhook/leadership.ts';
import { unlikeShipped } from '#webhook/rules/enforcing-policies.ts';
import { LOG, registering } from '#webhook/messages.ts';

export interface PodEntriesOptions extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  /**
   * The defaults and rules that the API server applies; `undefined` while the compiled rules are outdated or
   * incomplete.
   */
  readonly rules: () => InProcessRules | undefined;
}

const LOOK_EVERY_MS = 2_000;
/** By then every API server knows a new policy. */
const SETTLE_MS = 5_000;
const DEADLINE_MS = 10_000;
const BACKOFF = { initialMs: 250, maxMs: 10_000, factor: 2, jitter: 0.5 };

/**
 * Excludes pods that the API server has resolved and judged itself from both entries for pods, by a match condition,
 * and removes the condition whenever the API server may not have done so (docs/contributing/decisions/defaults-in-api-server.md).
 */
export function createPodEntries({ client, clock, log, rules }: PodEntriesOptions): LeaderDuty {
  async function run(end: AbortSignal, term: LeaseTerm): Promise<void> {
    let completeSince: number | undefined;
    let wasNarrow = false;
    const task = async (signal: AbortSignal): Promise<void> => {
      const unlike = await unlikeShipped(client, signal);
      const now = clock.monotonic();
      completeSince = unlike.length === 0 ? (completeSince ?? now) : undefined;
      const isSettled = completeSince !== undefined && now - completeSince >= SETTLE_MS;
      const known = isSettled ? rules() : undefined;
      const conditions = known && leftToWebhook(known);
      if (!term.isHeld()) return;
      await writePodConditions(client, conditions, signal);
      const isNarrow = conditions !== undefined;
      if (isNarrow !== wasNarrow) log.info({ unlike }, isNarrow ? LOG.entriesNarrowed : LOG.entriesWidened);
      wasNarrow = isNarrow;
    };
    const onError = (error: unknown, failuresInARow: number): void =>
      log.warn({ err: error, failuresInARow }, LOG.entriesFailed);
    return repeat({ task, periodMs: LOOK_EVERY_MS, deadlineMs: DEADLINE_MS, backoff: BACKOFF, onError, clock }, end);
  }
  return { run };
}

/** Sets or removes the condition of both entries for pods. An entry that is not registered is left alone. */
async function writePodConditions(
  client: KubeClient,
  conditions: PodConditions | undefined,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([
    writeCondition(client, MUTATING_WEBHOOKS, conditions?.mutating, signal),
    writeCondition(client, VALIDATING_WEBHOOKS, conditions?.validating, signal),
  ]);
}

async function writeCondition(
  client: KubeClient,
  resource: Resource,
  wanted: MatchCondition | undefined,
  signal: AbortSignal,
): Promise<void> {
  const address = { resource, name: WEBHOOK_CONFIGURATION };
  const found = await getObject(client, address, { signal });
  if (found.kind === 'notFound') return;
  const current = expectOk(found, `read ${resource.kind}`);
  const entries = itemsOf(current['webhooks']);
  const index = entries.findIndex((entry) => fieldOf(entry, 'name') === WEBHOOK_ENTRIES.priority);
  if (index < 0) return;
  const present = itemsOf(fieldOf(entries[index], 'matchConditions'));
  const next = [...present.filter((each) => !isOurs(each)), ...(wanted === undefined ? [] : [wanted])];
  if (isDeepStrictEqual(present, next)) return;
  // The list may have changed since it was read.
  const guard = { op: 'test', path: '/metadata/resourceVersion', value: current.metadata.resourceVersion };
  const change = { op: 'add', path: `/webhooks/${index}/matchConditions`, value: next };
  const options = { signal, type: 'json', fieldManager: COMPONENT_NAMES.webhook } as const;
  const patched = await patchObject(client, address, [guard, change], options);
  expectOk(patched, registering(resource));
}

function isOurs(condition: unknown): boolean {
  return fieldOf(condition, 'name') === LEFT_TO_WEBHOOK;
}

/** The configuration including the condition that the leader has last written. */
export function withPresentCondition(next: KubeObject, present: KubeObject): KubeObject {
  const kept = new Map(
    itemsOf(present['webhooks']).map((entry) => [
      fieldOf(entry, 'name'),
      itemsOf(fieldOf(entry, 'matchConditions')).filter(isOurs),
    ]),
  );
  const webhooks = itemsOf(next['webhooks']).map((entry) => ({
    ...(entry as object),
    matchConditions: [...itemsOf(fieldOf(entry, 'matchConditions')), ...(kept.get(fieldOf(entry, 'name')) ?? [])],
  }));
  return { ...next, webhooks };
}
