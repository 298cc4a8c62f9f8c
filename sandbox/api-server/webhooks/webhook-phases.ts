import { isDeepStrictEqual } from 'node:util';
import type { Attributes } from '#sandbox/api-server/admission.ts';
import { forbidden, internalError } from '#sandbox/api-server/errors/errors.ts';
import type { Fields, KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { applyJsonPatch } from '#sandbox/api-server/patch/patch.ts';
import type { WebhookCaller } from './call-webhook.ts';
import { reviewRequest, denialOf, patchOf } from './review-outcome.ts';
import { checkConditions, isWanted } from './match-webhook.ts';
import type { Webhook, WebhookRegistry } from './webhook.ts';

export interface WebhookPorts {
  readonly registry: WebhookRegistry;
  readonly caller: WebhookCaller;
  readonly namespaceLabels: (namespace: string) => ReadonlyMap<string, string>;
  /** Checks and completes an object that a patch has changed. */
  readonly normalise: (attributes: Attributes, object: KubeObject) => KubeObject;
  readonly clock: Clock;
  readonly log: Log;
}

/** State passed from the first round to the second. */
export interface WebhookRounds {
  readonly isSecond: boolean;
  /** Webhooks to call again if something changes after their call. */
  readonly called: Set<string>;
  readonly dueAgain: Set<string>;
}

/** One round of the mutating webhooks, one after another. Returns the object as they leave it. Throws a StatusError. */
export async function runMutating(
  ports: WebhookPorts,
  attributes: Attributes,
  rounds: WebhookRounds,
): Promise<KubeObject | undefined> {
  let { object } = attributes;
  for (const webhook of ports.registry.mutating()) {
    if (rounds.isSecond && !rounds.dueAgain.delete(webhook.id)) continue;
    const now = { ...attributes, object };
    if (!isWanted(webhook, now, ports.namespaceLabels(attributes.namespace))) continue;
    const outcome = await review(ports, webhook, now);
    if (outcome.kind === 'passedOver') continue;
    if (outcome.object !== undefined && !isDeepStrictEqual(outcome.object, object)) {
      object = outcome.object;
      for (const id of rounds.called) rounds.dueAgain.add(id);
      rounds.called.clear();
    }
    if (webhook.isReinvoked) rounds.called.add(webhook.id);
  }
  return object;
}

/** All validating webhooks at once; the first refusal in their order is the answer. Throws a StatusError. */
export async function runValidating(ports: WebhookPorts, attributes: Attributes): Promise<void> {
  const webhooks = ports.registry.validating();
  if (webhooks.length === 0) return;
  const labels = ports.namespaceLabels(attributes.namespace);
  const wanted = webhooks.filter((webhook) => isWanted(webhook, attributes, labels));
  const results = await Promise.allSettled(wanted.map((webhook) => review(ports, webhook, attributes)));
  const refused = results.find((result) => result.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
}

type WebhookReview =
  { readonly kind: 'passedOver' } | { readonly kind: 'allowed'; readonly object: KubeObject | undefined };

/** One call: conditions, the request itself, and what the answer means. */
async function review(ports: WebhookPorts, webhook: Webhook, attributes: Attributes): Promise<WebhookReview> {
  const request = reviewRequest(attributes);
  const conditions = checkConditions(webhook.conditions, request);
  if (conditions.kind === 'unmet') return { kind: 'passedOver' };
  if (conditions.kind === 'failed') return unmatched(webhook, attributes, conditions.message);
  const answer = await answerOf(ports, webhook, request);
  if (answer === undefined) return { kind: 'passedOver' };
  warn(answer, attributes);
  if (answer['allowed'] !== true) throw denialOf(webhook.name, answer);
  return {
    kind: 'allowed',
    object: webhook.isMutating ? patchedObject(ports, webhook, attributes, answer) : attributes.object,
  };
}

function unmatched(webhook: Webhook, { type, name }: Attributes, message: string): WebhookReview {
  if (webhook.failurePolicy === 'Ignore') return { kind: 'passedOver' };
  throw forbidden(type, name, message);
}

/** The answer, or undefined if the call failed and the failure policy ignores that. */
async function answerOf(ports: WebhookPorts, webhook: Webhook, request: Fields): Promise<Fields | undefined> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), webhook.timeoutSeconds * 1000);
  try {
    return await ports.caller.call(webhook, request, deadline.signal);
  } catch (error) {
    failedCall(ports.log, webhook, error);
    return;
  } finally {
    clearTimeout(timer);
  }
}

function failedCall(log: Log, webhook: Webhook, error: unknown): undefined {
  const why = error instanceof Error ? error.message : String(error);
  if (webhook.failurePolicy === 'Fail')
    throw internalError(`failed calling webhook ${JSON.stringify(webhook.name)}: ${why}`);
  log.warn({ webhook: webhook.id, why }, 'Passed over a webhook that could not be called');
  return undefined;
}

const MAX_WARNINGS = 16;

function warn(answer: Fields, attributes: Attributes): void {
  const { warnings } = answer;
  if (Array.isArray(warnings)) warnings.slice(0, MAX_WARNINGS).forEach((text) => attributes.warn(String(text)));
}

function patchedObject(
  ports: WebhookPorts,
  webhook: Webhook,
  attributes: Attributes,
  answer: Fields,
): KubeObject | undefined {
  const patch = tryPatch(webhook, answer);
  if (patch === undefined) return attributes.object;
  if (attributes.object === undefined) {
    throw internalError(
      `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, which is not supported for this operation`,
    );
  }
  return ports.normalise(attributes, applyJsonPatch(attributes.object, patch));
}

function tryPatch(webhook: Webhook, answer: Fields): unknown {
  try {
    return patchOf(answer);
  } catch (error) {
    if (webhook.failurePolicy === 'Ignore') return undefined;
    throw internalError(
      `failed calling webhook ${JSON.stringify(webhook.name)}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
