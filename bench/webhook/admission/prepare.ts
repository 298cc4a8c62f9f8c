import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import { API_VERSION, PRIORITY_RULES_NAMES, WEBHOOK_CONFIGURATION } from '#shared/kube/api-names.ts';
import { defaultPolicy } from '#shared/kube/admission/default-policy.ts';
import { LEFT_TO_WEBHOOK } from '#shared/kube/admission/left-to-webhook.ts';
import { eventually } from '#test/build/waiting.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { CLASS, createPod } from './create-pod.ts';
import {
  LABEL_RULES_ONLY,
  LABEL_VALIDATED,
  NAMESPACES,
  BOTH_VARIANTS,
  type Variant,
  WEBHOOK_VARIANTS,
} from './variants.ts';

const HARD = { pods: '1000000', 'requests.cpu': '1000000', 'requests.memory': '1Pi' };
const QUOTA_PATH = `/apis/${API_VERSION}/priorityquotas/${CLASS}`;
export const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const MUTATING = `${REGISTRATION}/mutatingwebhookconfigurations/${WEBHOOK_CONFIGURATION}`;
const VALIDATING = `${REGISTRATION}/validatingwebhookconfigurations/${WEBHOOK_CONFIGURATION}`;
const RULES_PATH = `/apis/${API_VERSION}/priorityrules/${PRIORITY_RULES_NAMES.refusing}`;
const POLICIES = 'mutatingadmissionpolicies';
const BINDINGS = 'mutatingadmissionpolicybindings';
const POLICIES_AT_ONCE = 8;
const WITHIN_MS = 30_000;

/** Creates class, policy, quotas and a namespace for each variant, and waits until pods are admitted as expected. */
export async function prepare(client: KubeClient): Promise<void> {
  await ask(client, 'POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: CLASS }, value: 1_000 });
  await makeOwn(client, 'PriorityPolicy', { defaultPriorityClassName: CLASS, maxPriority: 10_000 });
  await makeOwn(client, 'PriorityQuota', { priorityClassNames: [CLASS], hard: HARD });
  await limit(client, VALIDATING, { key: LABEL_VALIDATED, operator: 'Exists' });
  await limit(client, MUTATING, { key: LABEL_RULES_ONLY, operator: 'DoesNotExist' });
  for (const [name, labels] of Object.entries(NAMESPACES))
    await ask(client, 'POST', '/api/v1/namespaces', { metadata: { name, labels } });
  for (const { namespace } of WEBHOOK_VARIANTS.filter(({ hasResourceQuota }) => hasResourceQuota))
    await ask(client, 'POST', `/api/v1/namespaces/${namespace}/resourcequotas`, {
      metadata: { name: namespace },
      spec: { hard: HARD },
    });
  await untilOnTheirWay(client, WEBHOOK_VARIANTS);
  await eventually(async () => {
    if ((await chargedPods(client)) === 0) throw new Error('no pod is charged to the PriorityQuota');
  }, WITHIN_MS);
}

/** How many pods the PriorityQuota has been charged with. */
async function chargedPods(client: KubeClient): Promise<number> {
  const quota = (await ask(client, 'GET', QUOTA_PATH)) as { readonly status?: { used?: { pods?: string } } };
  return Number(quota.status?.used?.pods ?? 0);
}

interface WebhookEntry {
  readonly namespaceSelector?: { readonly matchExpressions?: readonly object[] };
}

/** The webhooks as shipped, but in fewer namespaces, so that only some of them review a pod. */
async function limit(client: KubeClient, configuration: string, requirement: object): Promise<void> {
  const { webhooks } = (await ask(client, 'GET', configuration)) as { readonly webhooks: readonly WebhookEntry[] };
  const operations = webhooks.map(({ namespaceSelector }, index) => {
    const { matchExpressions = [] } = namespaceSelector ?? {};
    const value = [...matchExpressions, requirement];
    const path = `/webhooks/${index}/namespaceSelector`;
    return { op: 'add', path, value: { ...namespaceSelector, matchExpressions: value } };
  });
  await ask(client, 'PATCH', configuration, operations, 'application/json-patch+json');
}

/** The labels by which the policy with a number selects its namespaces: those of a team, or one by its name. */
type Selecting = (number: number) => Readonly<Record<string, string>>;
const byTeam: Selecting = (number) => ({ team: `team-${number}` });
/** The first of them is that of the variants for the mode InProcess. */
export const byName: Selecting = (number) => ({
  'kubernetes.io/metadata.name': number === 0 ? 'rules-only' : `team-${number}`,
});

/** Adds policies from one number up to another, each for namespaces of its own, and waits until all are compiled. */
export async function addPolicies(client: KubeClient, from: number, to: number, selecting = byTeam): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  await inFlight(POLICIES_AT_ONCE, numbers, (number) => {
    const namespaceSelector = { matchLabels: selecting(number) };
    return makeOwn(client, 'PriorityPolicy', { namespaceSelector, maxPriority: 2_000 + number }, `team-${number}`);
  });
  await eventually(async () => {
    const { spec } = (await ask(client, 'GET', RULES_PATH)) as { readonly spec: { readonly rules: readonly object[] } };
    // Those of `prepare` are one more.
    if (spec.rules.length !== to + 1) throw new Error(`${spec.rules.length} policies are compiled, not ${to + 1}`);
  }, WITHIN_MS);
}

/** From mode Webhook to Both: the API server sets classes, and the entries for pods handle the rest. */
export async function switchToBoth(client: KubeClient): Promise<void> {
  for (const object of defaultPolicy())
    await ask(
      client,
      'POST',
      `${REGISTRATION}/${object.kind === 'MutatingAdmissionPolicy' ? POLICIES : BINDINGS}`,
      object,
    );
  await eventually(async () => {
    for (const path of [MUTATING, VALIDATING])
      if (!JSON.stringify(await ask(client, 'GET', path)).includes(`"${LEFT_TO_WEBHOOK}"`))
        throw new Error('the entries for pods are still asked about every pod');
  }, WITHIN_MS);
  await untilOnTheirWay(client, BOTH_VARIANTS);
}

async function untilOnTheirWay(client: KubeClient, variants: readonly Variant[]): Promise<void> {
  for (const variant of variants)
    await eventually(() => createPod(client, variant, `probe-${crypto.randomUUID()}`), WITHIN_MS);
}

async function makeOwn(
  client: KubeClient,
  kind: 'PriorityPolicy' | 'PriorityQuota',
  spec: object,
  name = CLASS,
): Promise<void> {
  const path = `/apis/${API_VERSION}/${kind === 'PriorityPolicy' ? 'prioritypolicies' : 'priorityquotas'}`;
  await ask(client, 'POST', path, { apiVersion: API_VERSION, kind, metadata: { name }, spec });
}

/** The object in the answer. Throws if the API server refuses. */
export async function ask(
  client: KubeClient,
  method: NonNullable<KubeRequest['method']>,
  path: string,
  body?: unknown,
  contentType = 'application/json',
): Promise<unknown> {
  const outcome = await client.request({ method, path, body, contentType });
  if (outcome.kind !== 'ok') throw new Error(`cannot ${method} ${path}: ${outcome.message}`);
  return outcome.object;
}
