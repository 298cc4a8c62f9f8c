import { hash } from 'node:crypto';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Failure, Outcome } from '#shared/kube/client/outcome.ts';
import { PODS, resourcePath } from '#shared/kube/resource.ts';
import { WEBHOOK_ENTRIES } from '#shared/kube/api-names.ts';
import { managedName } from '#shared/kube/namespace-switches.ts';

const ID_LENGTH = 12;

/** Identifies a decision to evict by its inputs: the same however often it is made. */
export function decisionIdOf(...inputs: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(inputs), 'hex').slice(0, ID_LENGTH);
}

export interface EvictionRequest {
  readonly namespace: string;
  readonly name: string;
  /** UID of the pod that the decision is about: a successor with the same name is never evicted. */
  readonly uid: string;
  /** At least 1; if absent, the pod's own. */
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
  /** Annotations of the Eviction itself, for admission and the audit log; the pod does not get them. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * Which limit of our webhook is reached: on the node, for the pod's namespace on it, in the cluster, or a
 * DisruptionLimit.
 */
export type LimitScope = 'nodeLimit' | 'namespaceLimit' | 'clusterLimit' | 'disruptionLimit';

/** The causes in the Status of a refusal by our webhook, by limit. */
export const LIMIT_CAUSES: Readonly<Record<LimitScope, string>> = {
  nodeLimit: 'NodeEvictionLimit',
  namespaceLimit: 'NamespaceEvictionLimit',
  clusterLimit: 'ClusterEvictionLimit',
  disruptionLimit: 'DisruptionLimit',
};

/** `webhook`: the webhook of another project denied this eviction; `throttled`: the server is busy. */
type ThrottleCause = 'budget' | 'throttled' | 'webhook' | LimitScope;

/**
 * The outcome of an eviction. After `serverError`, `unreachable` and `timeout` it may have taken effect: read the pod
 * again by UID before anything else. An exhausted budget is not the same as a busy server.
 */
export type EvictionOutcome =
  | { readonly kind: 'evicted' }
  | {
      readonly kind: 'tooManyRequests';
      readonly cause: ThrottleCause;
      readonly message: string;
      readonly retryAfterSeconds: number | undefined;
      /** What the API server says about the budget: its name, and why it does not allow the eviction. */
      readonly budget?: string;
    }
  | {
      readonly kind:
        | 'notFound'
        | 'uidMismatch'
        | 'forbidden'
        | 'unauthorized'
        | 'invalid'
        | 'severalBudgets'
        | 'unreachable'
        | 'timeout';
      readonly message: string;
    }
  | { readonly kind: 'serverError'; readonly message: string; readonly status: number | undefined };

/** The API server retries conflicts for 10 s: it rejects a wrong UID of a pending pod only then. */
const TIMEOUT_MS = 15_000;
/** A replica that is being replaced is unavailable for seconds. */
const ASK_AGAIN_SECONDS = 2;

/** Asks the API server to evict one pod, by UID and with a grace period of at least a second. */
export async function evictPod(client: KubeClient, eviction: EvictionRequest): Promise<EvictionOutcome> {
  const mistake = mistakeIn(eviction);
  return mistake === undefined ? outcomeOf(await send(client, eviction)) : { kind: 'invalid', message: mistake };
}

/** Without a UID, any pod of that name would be evicted; grace period 0 would skip the pod's own shutdown. */
function mistakeIn({ uid, name, gracePeriodSeconds: grace }: EvictionRequest): string | undefined {
  if (uid === '') return `cannot evict pod "${name}": the UID of the judged pod is missing`;
  if (grace === undefined || (Number.isInteger(grace) && grace >= 1)) return undefined;
  return `cannot evict pod "${name}" with a grace period of ${grace} s: expected a whole number of at least 1`;
}

function send(client: KubeClient, eviction: EvictionRequest): Promise<Outcome<unknown>> {
  const { namespace, name, uid, gracePeriodSeconds, dryRun, annotations, signal } = eviction;
  return client.request({
    method: 'POST',
    path: resourcePath(PODS, { namespace, name, subresource: 'eviction' }),
    query: { dryRun: dryRun === true ? 'All' : undefined },
    body: {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace, name, ...(annotations === undefined ? {} : { annotations }) },
      deleteOptions: { preconditions: { uid }, gracePeriodSeconds },
    },
    timeoutMs: TIMEOUT_MS,
    ...(signal === undefined ? {} : { signal }),
  });
}

function outcomeOf(outcome: Outcome<unknown>): EvictionOutcome {
  if (outcome.kind === 'ok') return { kind: 'evicted' };
  const { kind, message, retryAfterSeconds } = outcome;
  // Its author chose the code: 409 would look like another pod, 404 like none, 500 like a failure of the server.
  if (kind !== 'tooManyRequests' && isDenied(message))
    return { kind: 'tooManyRequests', cause: 'webhook', message, retryAfterSeconds };
  switch (kind) {
    case 'tooManyRequests':
      return { kind, cause: throttleCause(outcome), message, retryAfterSeconds, ...budgetIn(outcome) };
    // The UID is the only precondition sent; conflicts inside the API server are answered with 429.
    case 'conflict':
    case 'alreadyExists':
    case 'gone':
      return { kind: 'uidMismatch', message };
    case 'serverError':
      return serverError(outcome);
    default:
      return { kind, message };
  }
}

/** Our own webhook did not answer, so the API server has not looked at the pod yet, and no eviction can succeed now. */
function serverError(failure: Failure): EvictionOutcome {
  const { message, status } = failure;
  if (hasSeveralBudgets(failure)) return { kind: 'severalBudgets', message };
  if (!isUnjudged(failure)) return { kind: 'serverError', message, status };
  return { kind: 'tooManyRequests', cause: 'throttled', message, retryAfterSeconds: ASK_AGAIN_SECONDS };
}

function isUnjudged({ status, message }: Failure): boolean {
  return status === 500 && message.includes(`failed calling webhook "${WEBHOOK_ENTRIES.ownEvictions}"`);
}

const SCOPES = Object.keys(LIMIT_CAUSES) as readonly LimitScope[];

const BUDGET = 'DisruptionBudget';

function budgetIn({ details }: Failure): { readonly budget?: string } {
  const cause = details?.causes.find(({ reason }) => reason === BUDGET);
  return cause === undefined ? {} : { budget: cause.message };
}

function throttleCause({ details, message }: Failure): ThrottleCause {
  const reasons = details?.causes.map(({ reason }) => reason) ?? [];
  if (reasons.includes(BUDGET)) return 'budget';
  return SCOPES.find((scope) => reasons.includes(LIMIT_CAUSES[scope])) ?? (isDenied(message) ? 'webhook' : 'throttled');
}

const OWN_ENTRIES = new Set<string>(Object.values(WEBHOOK_ENTRIES).flatMap((name) => [name, managedName(name)]));

/** What the API server says of a webhook's denial, whatever its code; one of ours without a cause could not decide. */
function isDenied(message: string): boolean {
  const webhook = /^admission webhook "(?<name>[^"]*)" denied the request/.exec(message)?.groups?.['name'];
  return webhook !== undefined && !OWN_ENTRIES.has(webhook);
}

/** The API server answers 500 here. It must not be mistaken for an exhausted budget (TR-9). */
function hasSeveralBudgets({ status, message }: Failure): boolean {
  return status === 500 && message.startsWith('This pod has more than one PodDisruptionBudget');
}
