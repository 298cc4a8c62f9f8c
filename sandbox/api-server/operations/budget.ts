import { forbidden, tooManyRequests } from '#sandbox/api-server/errors/errors.ts';
import { matchesSelector } from '#sandbox/api-server/selectors/label-selector.ts';
import {
  copyObject,
  fieldsAt,
  fieldsOf,
  listAt,
  numberAt,
  textAt,
  type Fields,
  type KubeObject,
} from '#sandbox/api-server/wire/object.ts';
import { timeText } from '#sandbox/api-server/wire/time.ts';
import { BUDGETS } from '#sandbox/api-server/storage-names.ts';
import type { ServerState } from './server-state.ts';

const SUBJECT = { group: 'policy', plural: 'poddisruptionbudget', kind: 'PodDisruptionBudget' };
const MOST_DISRUPTED = 2_000;
const RETRY_SECONDS = 10;
const REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget.";

/** The budgets of the pod's namespace whose selector finds it; an empty selector finds every pod. */
export function matchingBudgets(server: ServerState, pod: KubeObject): KubeObject[] {
  const budgets = server.store
    .collection(BUDGETS)
    .values()
    .map(({ object }) => object);
  return budgets.filter(
    (budget) =>
      budget.metadata.namespace === pod.metadata.namespace &&
      matchesSelector(fieldsAt(budget, 'spec')['selector'], pod.metadata.labels),
  );
}

/** Whether a pod that is not ready may go without a unit of the budget. */
export function isCovered(budget: KubeObject, isPodReady: boolean): boolean {
  if (isPodReady) return false;
  if (textAt(fieldsAt(budget, 'spec'), 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const { currentHealthy, desiredHealthy } = counts(budget);
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

interface Counts {
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly disruptionsAllowed: number;
}

function counts(budget: KubeObject): Counts {
  const status = fieldsAt(budget, 'status');
  return {
    currentHealthy: numberAt(status, 'currentHealthy') ?? 0,
    desiredHealthy: numberAt(status, 'desiredHealthy') ?? 0,
    disruptionsAllowed: numberAt(status, 'disruptionsAllowed') ?? 0,
  };
}

interface Charge {
  readonly budget: KubeObject;
  readonly pod: KubeObject;
  readonly isDryRun: boolean;
}

/** Takes one unit off the budget and lists the pod there. Throws 429 or 403 where the budget does not allow it. */
export function chargeBudget(server: ServerState, { budget, pod, isDryRun }: Charge): void {
  const { name, generation = 0 } = budget.metadata;
  const status = fieldsAt(budget, 'status');
  if ((numberAt(status, 'observedGeneration') ?? 0) < generation) {
    throw refusal(`The disruption budget ${name} is still being processed by the server.`, RETRY_SECONDS);
  }
  const { disruptionsAllowed } = counts(budget);
  if (disruptionsAllowed < 0) throw forbidden(SUBJECT, name, 'pdb disruptions allowed is negative');
  if (Object.keys(fieldsAt(status, 'disruptedPods')).length > MOST_DISRUPTED) {
    throw forbidden(SUBJECT, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (disruptionsAllowed === 0) throw refusal(refusalText(budget), 0);
  if (!isDryRun) store(server, budget, pod);
}

function store(server: ServerState, budget: KubeObject, pod: KubeObject): void {
  const next = copyObject(budget);
  const status = fieldsAt(next, 'status');
  const disruptedPods = { ...fieldsAt(status, 'disruptedPods'), [pod.metadata.name]: timeText(server.clock.now()) };
  fieldsOf(next)['status'] = { ...status, disruptionsAllowed: counts(budget).disruptionsAllowed - 1, disruptedPods };
  server.store.put(BUDGETS, next);
}

function refusal(message: string, retryAfterSeconds: number): Error {
  return tooManyRequests(REFUSAL, retryAfterSeconds, [{ reason: 'DisruptionBudget', message }]);
}

function refusalText(budget: KubeObject): string {
  const { name } = budget.metadata;
  const { desiredHealthy, currentHealthy } = counts(budget);
  const condition = explanation(listAt(fieldsAt(budget, 'status'), 'conditions'));
  const because = condition === undefined ? '' : textAt(condition, 'message');
  if (condition?.['reason'] === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${because}`;
  }
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  if (condition !== undefined) {
    return `The disruption budget ${name} does not allow evicting pods currently (${textAt(condition, 'reason')}): ${because}`;
  }
  return `The disruption budget ${name} does not allow evicting pods currently`;
}

function explanation(conditions: readonly Fields[]): Fields | undefined {
  return conditions.find(
    (condition) =>
      condition['type'] === 'DisruptionAllowed' &&
      condition['status'] === 'False' &&
      textAt(condition, 'message') !== '',
  );
}
