import { isDeepStrictEqual } from 'node:util';
import {
  LEFT_TO_WEBHOOK,
  leftToWebhook,
  type Nevertheless,
  NOT_ELSEWHERE,
  notElsewhere,
  type PodConditions,
  type InProcessRules,
} from '#shared/kube/admission/left-to-webhook.ts';
import type { MatchCondition } from '#shared/kube/admission/cel-expressions.ts';
import { WEBHOOK_ENTRIES } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { MUTATING_WEBHOOKS, type Resource, VALIDATING_WEBHOOKS } from '#shared/kube/resource.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { ControllerPart, TermWork } from '#shared/kube/lease/run-controller.ts';
import type { ReadOwn } from '#webhook/cluster-state/read-own.ts';
import { unlikeShipped } from '#webhook/rules/enforcing-policies.ts';
import { type ConfiguredNamespaces, type LeftOut, namespacesElsewhere, nextLeftOut } from './elsewhere.ts';
import { LOG } from '#webhook/messages.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';
import { patchAsRead } from './patch-as-read.ts';

export interface PodEntriesOptions extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  /**
   * The defaults and rules that the API server applies; `undefined` while the compiled rules are outdated or
   * incomplete.
   */
  readonly rules: () => InProcessRules | undefined;
  readonly configured: () => ConfiguredNamespaces;
  readonly nevertheless: () => Nevertheless;
  readonly read: ReadOwn;
}

const LOOK_EVERY_MS = 2_000;
/** By then every API server knows a new policy. */
const SETTLE_MS = 5_000;
const DEADLINE_MS = 10_000;
const BACKOFF = { initialMs: 250, maxMs: 10_000, factor: 2, jitter: 0.5 };

/**
 * Excludes pods that the API server has resolved and judged itself from both entries for pods, by a match condition,
 * and removes the condition whenever the API server may not have done so (docs/contributing/decisions/defaults-in-api-server.md).
 * Another condition excludes the namespaces for which nothing is configured, also from the entry for templates.
 */
export function createPodEntries(options: PodEntriesOptions): ControllerPart {
  const { client, read, clock, log, rules, configured, nevertheless } = options;
  function begin(term: LeaseTerm): TermWork {
    let completeSince: number | undefined;
    let wasNarrow = false;
    let leftOut: LeftOut | undefined;
    const task = async (signal: AbortSignal): Promise<void> => {
      const unlike = await unlikeShipped(read, signal);
      const now = clock.monotonic();
      completeSince = unlike.length === 0 ? (completeSince ?? now) : undefined;
      const isSettled = completeSince !== undefined && now - completeSince >= SETTLE_MS;
      const known = isSettled ? rules() : undefined;
      const left = known && leftToWebhook(known);
      leftOut = nextLeftOut(leftOut, knownNamespaces(configured(), now));
      const elsewhere = notElsewhere(leftOut.names, nevertheless());
      if (!term.isHeld()) return;
      await writeConditions({ client, read, signal }, { left, elsewhere });
      const isNarrow = left !== undefined;
      if (isNarrow !== wasNarrow) log.info({ unlike }, isNarrow ? LOG.entriesNarrowed : LOG.entriesWidened);
      wasNarrow = isNarrow;
    };
    const rounds = reportRounds(log, LOG.entriesFailed);
    return { passes: [{ task, periodMs: LOOK_EVERY_MS, deadlineMs: DEADLINE_MS, backoff: BACKOFF, ...rounds }] };
  }
  return { name: 'entries for pods', begin };
}

function knownNamespaces(configured: ConfiguredNamespaces, now: number): Parameters<typeof nextLeftOut>[1] {
  const names = new Set(configured.namespaces.map(({ name }) => name));
  return { elsewhere: namespacesElsewhere(configured), exists: (name) => names.has(name), now };
}

interface EntryConditions {
  readonly left: PodConditions | undefined;
  readonly elsewhere: ReturnType<typeof notElsewhere>;
}

interface Access extends Pick<PodEntriesOptions, 'client' | 'read'> {
  readonly signal: AbortSignal;
}

type WantedConditions = ReadonlyMap<string, readonly MatchCondition[]>;

/** Sets or removes the conditions of the entries for pods and templates. An entry that is not registered is left alone. */
async function writeConditions(access: Access, { left, elsewhere }: EntryConditions): Promise<void> {
  const present = (...conditions: readonly (MatchCondition | undefined)[]) =>
    conditions.filter((each) => each !== undefined);
  const { priority, templates } = WEBHOOK_ENTRIES;
  const mutating = new Map([[priority, present(left?.mutating, elsewhere?.mutating)]]);
  const validating = new Map([
    [priority, present(left?.validating, elsewhere?.validating)],
    [templates, present(elsewhere?.templates)],
  ]);
  await Promise.all([
    writeEntries(access, MUTATING_WEBHOOKS, mutating),
    writeEntries(access, VALIDATING_WEBHOOKS, validating),
  ]);
}

function writeEntries(access: Access, resource: Resource, wanted: WantedConditions): Promise<void> {
  return patchAsRead({
    ...access,
    resource,
    operationsOf: (current) => itemsOf(current?.['webhooks']).flatMap((entry, index) => changeOf(entry, index, wanted)),
  });
}

function changeOf(entry: unknown, index: number, wanted: WantedConditions): readonly object[] {
  const ours = wanted.get(String(fieldOf(entry, 'name')));
  if (ours === undefined) return [];
  const present = itemsOf(fieldOf(entry, 'matchConditions'));
  const next = [...present.filter((each) => !isOurs(each)), ...ours];
  if (isDeepStrictEqual(present, next)) return [];
  return [{ op: 'add', path: `/webhooks/${index}/matchConditions`, value: next }];
}

const OURS: readonly unknown[] = [LEFT_TO_WEBHOOK, NOT_ELSEWHERE];

function isOurs(condition: unknown): boolean {
  return OURS.includes(fieldOf(condition, 'name'));
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
