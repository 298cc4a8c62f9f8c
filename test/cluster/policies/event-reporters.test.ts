import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { randomSource } from '#test/fakes/random-source.ts';
import { type AskedOfPolicies, evaluatePolicies, findPolicyEvaluator, type PolicyOutcome } from './policy-evaluator.ts';

const FILE = new URL('../../../deploy/base/account-policies.yaml', import.meta.url);
const [POLICY = {}] = parseAllDocuments(readFileSync(FILE, 'utf8')).map((document) => document.toJS() as object);
const SEED = 20_261_124;
const COUNT = 3_000;
const AGENT = 'system:serviceaccount:plimsoll-node:plimsoll-agent';
const USERS = [
  AGENT,
  ...['webhook', 'controller', 'scheduler', 'queues', 'rescheduling', 'other'].map(
    (name) => `system:serviceaccount:plimsoll-system:plimsoll-${name}`,
  ),
  'system:serviceaccount:plimsoll-system:default',
  'system:serviceaccount:team:plimsoll-queues',
  'system:node:n0',
  'tenant',
  '',
];
const SCHEDULER = 'plimsoll.dev/scheduler';
const OURS = ['plimsoll.dev/agent', 'plimsoll.dev/webhook', SCHEDULER, ' PLIMSOLL.dev/agent', 'plimsoll.dev/'];
/** In whose name each account writes. */
const REPORTERS: Readonly<Record<string, string>> = {
  [AGENT]: 'plimsoll.dev/agent',
  'system:serviceaccount:plimsoll-system:plimsoll-webhook': 'plimsoll.dev/webhook',
  'system:serviceaccount:plimsoll-system:plimsoll-controller': SCHEDULER,
  // The accounts of earlier builds.
  'system:serviceaccount:plimsoll-system:plimsoll-scheduler': SCHEDULER,
  'system:serviceaccount:plimsoll-system:plimsoll-queues': SCHEDULER,
  'system:serviceaccount:plimsoll-system:plimsoll-rescheduling': SCHEDULER,
};
const OTHERS = [
  '',
  'kubelet',
  'plimsoll',
  'plimsoll.development/agent',
  'x/plimsoll.dev/agent',
  '🙂',
  'a'.repeat(2_000),
];
const FIELDS = {
  'events.k8s.io/Event': { reporter: 'reportingController', source: 'deprecatedSource', about: 'regarding' },
  Event: { reporter: 'reportingComponent', source: 'source', about: 'involvedObject' },
} as const;

const program = findPolicyEvaluator(process.env);
const why = program.kind === 'missing' && process.env['CI'] === undefined ? ` (not run: ${program.because})` : '';

/** Events with any of the fields that name a reporter, some without, some changed. */
function* events(): Generator<AskedOfPolicies & { readonly names: readonly string[] }> {
  const random = randomSource(SEED);
  const pick = <T>(items: readonly T[]): T => random.pick(items);
  for (let n = 0; n < COUNT; n += 1) {
    const kind = pick(Object.keys(FIELDS) as (keyof typeof FIELDS)[]);
    const { reporter, source, about } = FIELDS[kind];
    const names = [pick([...OURS, ...OTHERS]), pick([...OURS, ...OTHERS, ...OTHERS, ...OTHERS])];
    const object = {
      metadata: { name: 'e', namespace: 'default' },
      ...(names[0] !== '' && { [reporter]: names[0] }),
      ...pick([{ [source]: { component: names[1] } }, { [source]: { component: names[1], host: 'n0' } }]),
      ...pick([{ [about]: { kind: 'Node', name: pick(['n0', 'n1']) } }, { [about]: { kind: 'Pod', name: 'p' } }, {}]),
    };
    const old = random.chance(0.3) ? { oldObject: { ...object, [reporter]: pick(OTHERS) } } : {};
    const user = pick(USERS);
    const node = random.chance(0.8) ? { node: 'n0' } : {};
    yield { kind, object, ...old, names, namespace: 'default', namespaceLabels: {}, user, groups: [], ...node };
  }
}

describe.skipIf(why !== '')(`the reporters of Events, by the code of the API server${why}`, () => {
  test(`${COUNT} Events: none of other reporters matches, and no expression fails (seed ${SEED})`, async () => {
    if (program.kind === 'missing') throw new Error(program.because);
    const asked = [...events()];
    const outcomes: (PolicyOutcome | undefined)[] = [];
    const setup = { policies: [POLICY], params: {} };
    for await (const answer of evaluatePolicies(program.paths.policies, setup, asked))
      outcomes.push(answer.outcomes?.[0]);
    expect(outcomes).toHaveLength(COUNT);
    for (const [index, { names, user, object, node }] of asked.entries()) {
      const { matches, denied = [], errors = [] } = outcomes[index] as PolicyOutcome;
      const isOurs = names.some((name) => OURS.includes(name));
      expect({ names, matches, errors }).toEqual({ names, matches: isOurs, errors: [] });
      if (isOurs)
        expect({ names, user, isAllowed: denied.length === 0 }).toEqual({
          names,
          user,
          isAllowed: mayWrite(names, user, object, node),
        });
      else expect(denied).toEqual([]);
    }
    expect(outcomes.filter((each) => each?.matches === true && each.denied === undefined).length).toBeGreaterThan(10);
  });
});

/** The rule in other words. */
function mayWrite(names: readonly string[], user: string, object: object, node: string | undefined): boolean {
  const own = REPORTERS[user];
  const isNamed = own !== undefined && names.every((name) => name === '' || name === own);
  const other = JSON.stringify(object).includes(`"kind":"Node","name":"${node === undefined ? 'n' : 'n1'}`);
  return isNamed && !(user === AGENT && other);
}
