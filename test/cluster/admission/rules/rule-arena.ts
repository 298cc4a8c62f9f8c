import { afterAll, beforeAll, expect } from 'vitest';
import { at, type Harness, pod, uniqueName } from '#test/contract/harness.ts';
import { ADMISSION } from '#test/contract/webhook-registrar.ts';
import { serviceAccountUser } from '#shared/domain/priority/classes-and-policies.ts';
import { DEFAULT_POLICY } from '#shared/kube/api-names.ts';
import { ADMISSION_POLICY_BINDINGS, MUTATING_POLICY_BINDINGS } from '#shared/kube/resource.ts';
import { servesMutatingPolicies } from '#test/cluster/support/control-plane/binaries.ts';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import {
  NAMESPACE_LABELS,
  RULE_CLASSES,
  type RuleVerdict,
  type Written,
  type WrittenPolicy,
} from '#test/build/rule-cases.ts';
import { collectionPath, workloadKind } from '#test/webhook/support/workloads.ts';
import { asUser, type AnswerOfUser } from '#test/cluster/admission/support/as-user.ts';
import { clusterObjects, POLICIES, PRIORITY_CLASSES } from '#test/cluster/admission/support/cluster-objects.ts';
import { eventually } from '#test/build/waiting.ts';

/**
 * What is in force in a namespace: only the API server's validating policies, only the webhook's validating entries, both
 * with the webhook's mutating entry, the API server's policies including that which gives defaults, or everything.
 */
export const JUDGES = ['policies', 'webhook', 'both', 'defaults', 'everything'] as const;
export type JudgeName = (typeof JUDGES)[number];

const LABEL = 'judged-by';
const PROBE = 'probe';
const USERS = ['rule-alice', 'rule-bob', 'rule-carol'];

/** Namespaces for each enforcement variant with the same labels, and classes, for the current `describe`. */
export interface RuleArena {
  /** The namespace of a number, as test/build/rule-cases.ts writes it, or as one variant has it. */
  readonly namespaceName: (index: number, judge?: JudgeName) => string;
  /** Replaces all policies with these, and waits until the API server and the webhook enforce them. */
  enforce(policies: readonly WrittenPolicy[]): Promise<void>;
  /** Writes a pod or a workload where that variant is enforced; a dry run. */
  ask(written: Written, judge: JudgeName): Promise<AnswerOfUser>;
  /** A text in which the names of namespaces are the same in every run. */
  withoutPrefix(text: string): string;
}

/** The webhooks must be registered and the rules installed by a hook before this one. */
export function ruleArena(api: Harness): RuleArena {
  const objects = clusterObjects(api);
  const prefix = uniqueName('rules');
  const placeholder = (index: number): string => `${prefix}-n${index}`;
  const namespaceName = (index: number, judge?: JudgeName): string =>
    judge === undefined ? placeholder(index) : `${placeholder(index)}-${judge}`;
  const probeName = (judge: JudgeName): string => `${prefix}-${PROBE}-${judge}`;
  const spaces = JUDGES.flatMap((judge) => [
    { judge, name: probeName(judge), labels: { [PROBE]: prefix } },
    ...NAMESPACE_LABELS.map((labels, index) => ({ judge, name: namespaceName(index, judge), labels })),
  ]);
  let marker = 0;

  beforeAll(async () => {
    for (const { name, value, preemptionPolicy } of RULE_CLASSES)
      await api.post(PRIORITY_CLASSES, { metadata: { name }, value, preemptionPolicy });
    for (const { name, judge, labels } of spaces) await makeNamespace(api, name, { ...labels, [LABEL]: judge });
    const accounts = spaces.map(({ name }) => accountOf(name));
    for (const user of [...USERS, ...accounts]) await objects.administrator(user);
    await keepApart(api);
    await objects.askedAlways({ matchExpressions: [{ key: LABEL, operator: 'Exists' }] });
  }, 90_000);
  afterAll(async () => {
    await removePolicies(api);
    for (const { name } of RULE_CLASSES) await api.remove(`${PRIORITY_CLASSES}/${name}`);
    for (const { name } of spaces) await api.remove(`/api/v1/namespaces/${name}`);
  });

  /** A policy for a namespace number applies to the namespaces of all variants. */
  function everywhere({ name, spec }: WrittenPolicy): WrittenPolicy {
    const subjects = spec['subjects'] as readonly { readonly namespace?: string }[] | undefined;
    if (subjects === undefined) return { name, spec };
    const spread = subjects.flatMap(({ namespace, ...rest }) =>
      namespace === undefined ? [rest] : JUDGES.map((judge) => ({ ...rest, namespace: `${namespace}-${judge}` })),
    );
    return { name, spec: { ...spec, subjects: spread } };
  }

  async function enforce(policies: readonly WrittenPolicy[]): Promise<void> {
    marker += 1;
    await removePolicies(api);
    const marks = marksOf({ [PROBE]: prefix }, -marker);
    const gives = givingMark({ [PROBE]: prefix }, marker);
    for (const { name, spec } of [...policies.map(everywhere), ...marks, gives]) {
      const object = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'PriorityPolicy', metadata: { name }, spec };
      const { status, body } = await api.post(POLICIES, object);
      expect([status, at(body, 'message')]).toEqual([201, undefined]);
    }
    // From its beginning: behind another variant's prefix the namespace is not yet left to this one.
    const said = (name: string): unknown =>
      expect.stringMatching(`^policy \`${name}\` allows a priority of at most ${-marker} here`);
    for (const judge of ['policies', 'webhook'] as const) {
      const path = `/api/v1/namespaces/${probeName(judge)}/pods`;
      await eventually(async () => {
        const answer = await api.post(path, pod('probe'), { query: { dryRun: 'All' } });
        expect(verdictOf(answer, judge, marks)).toEqual({ refusal: said('a-deny'), warning: said('a-warn') });
        // What rules give is compiled into an object of its own.
        const marked = await api.post(path, pod('probe', {}, { labels: markLabels(marker) }), {
          query: { dryRun: 'All' },
        });
        const { warning } = verdictOf(marked, judge, [gives]);
        expect(warning).toMatch(/^policy `a-gives` gives pods here priority class/);
      }, 30_000);
    }
  }

  function ask(written: Written, judge: JudgeName): Promise<AnswerOfUser> {
    const user = written.user.replace(/^(?<account>system:serviceaccount:[^:]+)/, `$<account>-${judge}`);
    const as = asUser(api.target.connection, user, { groups: written.groups });
    const namespace = namespaceName(written.namespace, judge);
    if (written.kind === 'Pod') {
      const { qosClass, podSpec, metadata } = written;
      const object = { ...pod('web', podSpec, metadata), ...(qosClass !== undefined && { status: { qosClass } }) };
      return as('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, object);
    }
    const kind = workloadKind(written.kind);
    return as(
      'POST',
      `${collectionPath(kind, namespace)}?dryRun=All`,
      kind.build('web', written.podSpec, written.metadata?.labels),
    );
  }

  return { namespaceName, enforce, ask, withoutPrefix: (text) => text.replaceAll(prefix, 'rules') };
}

/** Two policies, whose sentences show that the others are in force too. */
function marksOf(labels: Readonly<Record<string, string>>, maxPriority: number): readonly WrittenPolicy[] {
  return (['Deny', 'Warn'] as const).map((onViolation) => ({
    name: `a-${onViolation.toLowerCase()}`,
    spec: { namespaceSelector: { matchLabels: labels }, maxPriority, onViolation },
  }));
}

/** A policy that gives a class to pods with the label of one round. */
function givingMark(labels: Readonly<Record<string, string>>, round: number): WrittenPolicy {
  const rule = { name: 'mark', podSelector: { matchLabels: markLabels(round) }, priorityClassName: 'rule-low' };
  const namespaceSelector = { matchLabels: labels };
  return { name: 'a-gives', spec: { namespaceSelector, classRules: [rule], onViolation: 'Warn' } };
}

function markLabels(round: number): Readonly<Record<string, string>> {
  return { round: String(round) };
}

async function makeNamespace(api: Harness, name: string, labels: object): Promise<void> {
  await api.post('/api/v1/namespaces', { metadata: { name, labels } });
  await api.post(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'builder' } });
  const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
  await eventually(async () => expect((await api.get(account)).status).toBe(200));
}

function accountOf(namespace: string): string {
  return serviceAccountUser({ namespace, name: 'builder' });
}

async function removePolicies(api: Harness): Promise<void> {
  const listed = at((await api.get(POLICIES)).body, 'items') as readonly { metadata: { name: string } }[];
  for (const { metadata } of listed) await api.remove(`${POLICIES}/${metadata.name}`);
}

/** The mutating entry is used only together with the policies: its changes would hide what the others check. */
async function keepApart(api: Harness): Promise<void> {
  const bindings = rulePolicies().filter(({ kind }) => kind === ADMISSION_POLICY_BINDINGS.kind);
  for (const { metadata } of bindings)
    await narrowBinding(api, `${ADMISSION_POLICY_BINDINGS.plural}/${metadata.name}`, except('webhook'));
  if (servesMutatingPolicies(process.env))
    await narrowBinding(
      api,
      `${MUTATING_POLICY_BINDINGS.plural}/${DEFAULT_POLICY}`,
      except('policies', 'webhook', 'both'),
    );
  await narrow(api, 'mutating', except('policies', 'webhook', 'defaults'));
  await narrow(api, 'validating', except('policies', 'defaults'));
}

async function narrowBinding(api: Harness, name: string, requirement: object): Promise<void> {
  const matchResources = { namespaceSelector: { matchExpressions: [requirement] } };
  expect((await api.patch(`${ADMISSION}/${name}`, { spec: { matchResources } }, 'merge')).status).toBe(200);
}

function except(...values: readonly JudgeName[]): object {
  return { key: LABEL, operator: 'NotIn', values };
}

async function narrow(api: Harness, kind: 'mutating' | 'validating', requirement: object): Promise<void> {
  const path = `${ADMISSION}/${kind}webhookconfigurations/plimsoll`;
  const entries = at((await api.get(path)).body, 'webhooks') as readonly object[];
  const operations = entries.flatMap((entry, index) =>
    at(entry, 'namespaceSelector.matchExpressions') === undefined
      ? []
      : [{ op: 'add', path: `/webhooks/${index}/namespaceSelector/matchExpressions/-`, value: requirement }],
  );
  expect((await api.patch(path, operations, 'json')).status).toBe(200);
}

/** The prefix of each variant's message. */
const SPOKEN: Readonly<Record<'policies' | 'webhook', readonly [refusal: RegExp, warning: RegExp]>> = {
  policies: [
    /^.* is forbidden: ValidatingAdmissionPolicy '\S+' with binding '\S+' denied request: /,
    /^Validation failed for ValidatingAdmissionPolicy '\S+' with binding '\S+': /,
  ],
  webhook: [/^admission webhook "\S+" denied the request: /, /^/],
};

/** The verdict of a variant because of these policies, without the API server's prefix; any other refusal unchanged. */
export function verdictOf(
  { status, headers, body }: AnswerOfUser,
  judge: 'policies' | 'webhook',
  policies: readonly WrittenPolicy[],
): RuleVerdict {
  const [refusing, warning] = SPOKEN[judge];
  // With a refusal, the webhook reports other violations as warnings, including those of other policies.
  const begins = policies.filter(({ spec }) => spec.onViolation === 'Warn').map(({ name }) => `policy \`${name}\` `);
  const warnings = [...(headers['warning'] ?? '').matchAll(/299 \S+ "(?<text>(?:[^"\\]|\\.)*)"/g)];
  const texts = warnings.map(({ groups }) =>
    (groups?.['text'] ?? '').replaceAll(/\\(?<escaped>.)/g, '$<escaped>').replace(warning, ''),
  );
  return {
    refusal: status === 201 ? undefined : String(at(body, 'message')).replace(refusing, ''),
    warning: texts.find((text) => begins.some((beginning) => text.startsWith(beginning))),
  };
}
