import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { defaultPolicy } from '#shared/kube/admission/default-policy.ts';
import { decodePodRequest, decodeTemplate } from '#shared/kube/decode/decode-pod-request.ts';
import { ANNOTATION_CLASS_RULE } from '#shared/kube/api-names.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import {
  NAMESPACE_LABELS,
  policyArbitrary,
  RULE_CLASSES,
  type RuleVerdict,
  storedPod,
  verdictOfWebhook,
  type Written,
  writtenArbitrary,
  type WrittenPolicy,
} from '#test/build/rule-cases.ts';
import { servesMutatingPolicies } from '#test/cluster/support/control-plane/binaries.ts';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { valueOf } from '#test/build/value-of.ts';
import { at, contractHarness } from '#test/contract/harness.ts';
import { WORKLOAD_KINDS, workloadKind } from '#test/webhook/support/workloads.ts';
import type { AnswerOfUser } from '#test/cluster/admission/support/as-user.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { ruleArena, verdictOf } from './rule-arena.ts';

const SETS = 25;
const WRITTEN_PER_SET = 40;
const SETS_THAT_GIVE = 6;
const PODS_PER_SET = 50;
const SETS_WITH_A_DEATH = 3;
const WRITTEN_AROUND_A_DEATH = 120;
const POLICIES_PER_SET = 6;
const AT_ONCE = 8;
const SEED = 20_261_122;
/** So that in each set rules give something, for no class is lower, and something is refused. */
const GIVES_BY_RULE: WrittenPolicy = {
  name: 'rules',
  spec: {
    classRules: [
      { name: 'daemons', ownerKinds: ['DaemonSet'], priorityClassName: 'rule-also-low' },
      { name: 'front', podSelector: { matchLabels: { role: 'front' } }, priorityClassName: 'rule-low' },
    ],
    maxPriority: 500,
    onViolation: 'Deny',
  },
};
const CLASSES = new Map(RULE_CLASSES.map((each) => [each.name, each]));

describe.skipIf(!hasCluster())('the rules in the API server and the webhook', () => {
  const api = contractHarness(clusterTarget());
  const givesDefaults = servesMutatingPolicies(process.env);
  const webhooks = registeredWebhooks(api, {
    policies: [...rulePolicies(), ...(givesDefaults ? defaultPolicy() : [])],
  });
  const arena = ruleArena(api);
  /** The file of what they stored is of the API server's own policies; where those are not served, the webhook must store the same. */
  const givers = givesDefaults ? (['defaults', 'both', 'everything'] as const) : (['both'] as const);

  function sample(sets: number, perSet: number, seed: number) {
    const policies = fc.array(policyArbitrary(arena.namespaceName), { minLength: 1, maxLength: POLICIES_PER_SET });
    const written = writtenArbitrary(
      WORKLOAD_KINDS.map(({ kind }) => kind),
      arena.namespaceName,
    );
    const all = fc.sample(written, { numRuns: sets * perSet, seed });
    return fc.sample(policies, { numRuns: sets, seed }).map((specs, index) => ({
      policies: specs.map((spec, number) => ({ name: `p${number}`, spec })),
      written: all.slice(index * perSet, (index + 1) * perSet),
    }));
  }

  test(
    `each alone say the same of ${SETS * WRITTEN_PER_SET} random pods and templates under ${SETS} random sets of policies (seed ${SEED})`,
    { timeout: 600_000 },
    async () => {
      const counts = { refused: 0, warned: 0, accepted: 0 };
      for (const { policies, written } of sample(SETS, WRITTEN_PER_SET, SEED)) {
        await arena.enforce(policies);
        const decided = written.map((each) => verdictOfWebhook(each.kind, asStored(each), worldOf(each, policies)));
        const answers = await inFlight(AT_ONCE, written, (each) => arena.ask(each, 'policies'));
        expect(answers.map((answer) => verdictOf(answer, 'policies', policies))).toEqual(decided);
        const ofWebhook = await inFlight(AT_ONCE, written, (each) => arena.ask(each, 'webhook'));
        expect(ofWebhook.map((answer) => verdictOf(answer, 'webhook', policies))).toEqual(decided);
        for (const verdict of decided) counts[kindOf(verdict)] += 1;
      }
      expect(Math.min(...Object.values(counts))).toBeGreaterThan((SETS * WRITTEN_PER_SET) / 20);
    },
  );

  test(
    `and what gives defaults: each alone and together store the same of ${SETS_THAT_GIVE * PODS_PER_SET} random pods, or refuse them alike, on every version (seed ${SEED + 2})`,
    { timeout: 600_000 },
    async () => {
      const counts = { kept: 0, given: 0, refused: 0, byRule: 0, forged: 0 };
      const results: unknown[] = [];
      for (const { policies: drawn, written } of sample(SETS_THAT_GIVE, 2 * PODS_PER_SET, SEED + 2)) {
        const policies = [...drawn, GIVES_BY_RULE];
        await arena.enforce(policies);
        const pods = written.filter(({ kind }) => kind === 'Pod').slice(0, PODS_PER_SET);
        const [byFirst = [], ...byOthers] = await Promise.all(
          givers.map((judge) =>
            inFlight(AT_ONCE, pods, async (each) => storedOrRefused(await arena.ask(each, judge), policies)),
          ),
        );
        expect(byOthers).toEqual(byOthers.map(() => byFirst));
        for (const [index, stored] of byFirst.entries()) {
          for (const outcome of outcomesOf(stored, pods[index])) counts[outcome] += 1;
        }
        results.push(...byFirst);
      }
      expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).toBeGreaterThan(
        (SETS_THAT_GIVE * PODS_PER_SET) / 50,
      );
      const lines = results.map((result) => arena.withoutPrefix(JSON.stringify(result)));
      await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/stored-pods.ndjson');
    },
  );

  /** The three fields and the rule that is recorded, or the policies' own words. */
  function storedOrRefused(answer: AnswerOfUser, policies: readonly WrittenPolicy[]): unknown {
    if (answer.status !== 201) return verdictOf(answer, 'policies', policies).refusal;
    const fields = ['priorityClassName', 'priority', 'preemptionPolicy'].map((field) =>
      at(answer.body, `spec.${field}`),
    );
    return [...fields, recordOf(answer.body)];
  }

  test(
    `together let nothing forbidden in while the webhook is killed under ${SETS_WITH_A_DEATH * WRITTEN_AROUND_A_DEATH} requests (seed ${SEED + 1})`,
    { timeout: 600_000 },
    async () => {
      const counts = { before: 0, after: 0 };
      for (const { policies, written } of sample(SETS_WITH_A_DEATH, WRITTEN_AROUND_A_DEATH, SEED + 1)) {
        await arena.enforce(policies);
        const numbered = written.map((each, index) => ({ each, index }));
        const answers = await inFlight(AT_ONCE, numbered, async ({ each, index }) => {
          if (index === WRITTEN_AROUND_A_DEATH / 2) await webhooks.kill();
          return arena.ask(each, 'both');
        });
        for (const [index, answer] of answers.entries()) {
          if (answer.status !== 201) counts[index < WRITTEN_AROUND_A_DEATH / 2 ? 'before' : 'after'] += 1;
          else expect(refusalOf(answer, written[index], policies)).toBeUndefined();
        }
        await webhooks.start();
      }
      expect(Math.min(...Object.values(counts))).toBeGreaterThan(SETS_WITH_A_DEATH);
    },
  );

  /** What the webhook would have decided about the allowed objects. */
  function refusalOf({ body }: AnswerOfUser, written: Written | undefined, policies: readonly WrittenPolicy[]) {
    if (written === undefined) throw new Error('an answer without a request');
    const object = requestOf(written, body as object);
    return verdictOfWebhook(written.kind, object, worldOf(written, policies)).refusal;
  }

  /** The webhook checks the pod as the API server is about to store it. */
  function asStored(written: Written) {
    const isPod = written.kind === 'Pod';
    return requestOf(
      written,
      isPod
        ? storedPod(written, CLASSES)
        : workloadKind(written.kind).build('web', written.podSpec, written.metadata?.labels),
    );
  }

  function requestOf({ kind, user, groups, namespace }: Written, object: object) {
    const requester = { name: user, groups };
    const where = arena.namespaceName(namespace);
    const read = kind === 'Pod' ? decodePodRequest(object, requester, where) : decodeTemplate(object, requester, where);
    if (read === undefined) throw new Error(`${kind} without a template`);
    return valueOf(read);
  }

  function worldOf({ namespace }: Written, policies: readonly WrittenPolicy[]) {
    return {
      policies: policies.map(({ name, spec }) => valueOf(decodePriorityPolicy({ metadata: { name }, spec }))),
      labels: NAMESPACE_LABELS[namespace] ?? {},
      classes: RULE_CLASSES,
    };
  }
});

type Outcome = 'kept' | 'given' | 'refused' | 'byRule' | 'forged';

function outcomesOf(stored: unknown, written: Written | undefined): readonly Outcome[] {
  if (!Array.isArray(stored) || written === undefined) return ['refused'];
  const [className, , , record] = stored as readonly unknown[];
  const claimed = written.metadata?.annotations?.[ANNOTATION_CLASS_RULE];
  return [
    className === written.podSpec.priorityClassName ? 'kept' : 'given',
    ...(typeof record === 'string' && record.includes('/') ? ['byRule' as const] : []),
    ...(claimed !== undefined && claimed !== record ? ['forged' as const] : []),
  ];
}

function recordOf(stored: unknown): string | undefined {
  const annotations = at(stored, 'metadata.annotations') as Readonly<Record<string, string>> | undefined;
  return annotations?.[ANNOTATION_CLASS_RULE];
}

function kindOf({ refusal, warning }: RuleVerdict): 'refused' | 'warned' | 'accepted' {
  if (refusal !== undefined) return 'refused';
  return warning !== undefined ? 'warned' : 'accepted';
}
