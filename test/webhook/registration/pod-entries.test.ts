import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { defaultPolicy } from '#shared/kube/admission/default-policy.ts';
import type { InProcessRules } from '#shared/kube/admission/left-to-webhook.ts';
import { webhookConfigurations } from '#shared/kube/admission/webhook-configurations.ts';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { liveReader } from '#webhook/cluster-state/read-own.ts';
import type { ConfiguredNamespaces } from '#webhook/registration/elsewhere.ts';
import { createPodEntries } from '#webhook/registration/pod-entries.ts';
import { registerFully } from '#webhook/registration/registration.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { selectorOf } from '#test/build/cluster.ts';
import { RULE_CLASSES } from '#test/build/rule-cases.ts';
import { apiDouble, type ApiDouble, type Fault } from '#test/fakes/api-double.ts';
import { fastClock } from '#test/fakes/fast-clock.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { leadPart } from '#test/webhook/support/lead-part.ts';

const FOLDER = '/apis/admissionregistration.k8s.io/v1';
const PLURALS = {
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
} as Readonly<Record<string, string>>;
const OPTIONS = {
  target: { kind: 'url', url: 'https://127.0.0.1:10250' },
  failurePolicy: 'Ignore',
  gatedCallers: [],
} as const;
/** Two seconds take a fiftieth of that. */
const FACTOR = 50;
const LOOK_MS = 2_000 / FACTOR;
const SETTLED_MS = 5_000 / FACTOR;
const NARROW = [true, true];
const WIDE = [false, false];
const log = createLog({ component: 'test', level: 'silent', format: 'json' });

describe('createPodEntries', () => {
  const running: AbortController[] = [];
  let api: ApiDouble;
  let client: KubeClient;
  let rules: InProcessRules | undefined;
  let configured: ConfiguredNamespaces;
  let isServed: boolean;
  let clock: Clock;
  /** When the policies were first read, and when an entry was first written. */
  let times: { seenAt?: number; writtenAt?: number };

  beforeEach(async () => {
    api = await apiDouble();
    client = createClient(directConnection({ server: api.url }), { userAgent: 'test' });
    for (const { kind, ...object } of rulePolicies()) api.put(`${FOLDER}/${PLURALS[kind ?? '']}`, { ...object });
    // The double does not serve the kinds of 1.36.
    isServed = true;
    clock = fastClock(FACTOR);
    api.onRequest = ({ path, method }): Fault | undefined => {
      if (path.endsWith('/mutatingadmissionpolicies/defaults.plimsoll.dev')) times.seenAt ??= clock.monotonic();
      if (method === 'PATCH') times.writtenAt ??= clock.monotonic();
      if (!isServed || !path.includes('mutatingadmissionpolic')) return undefined;
      const [policy, binding] = defaultPolicy();
      return { kind: 'answer', status: 200, body: (path.includes('bindings') ? binding : policy) as object };
    };
    const classes = new Map(RULE_CLASSES.map((each) => [each.name, each]));
    rules = { giving: undefined, classes, avoiding: [] };
    configured = { namespaces: [], policies: [], quotas: [] };
    await registerFully(client, OPTIONS);
    times = {};
  });
  afterEach(async () => {
    for (const each of running.splice(0)) each.abort();
    client.close();
    await api.close();
  });

  function lead(): { lose: () => void } {
    const end = new AbortController();
    running.push(end);
    let isHeld = true;
    const duty = createPodEntries({
      read: liveReader(client),
      client,
      clock,
      log,
      rules: () => rules,
      configured: () => configured,
      nevertheless: () => ({ avoiding: [], judgesBudgets: false }),
    });
    leadPart(duty, { fencingToken: '', formerUntil: 0, isHeld: () => isHeld }, end.signal, clock);
    return {
      lose: () => {
        isHeld = false;
      },
    };
  }

  /** As an administrator may, who wants the rules in some namespaces only. */
  function limit(binding: string): void {
    const collection = `${FOLDER}/validatingadmissionpolicybindings`;
    const found = api.get(collection, binding) as { metadata: Record<string, unknown>; spec: object };
    const matchResources = { namespaceSelector: { matchLabels: { team: 'a' } } };
    api.put(collection, { ...found, spec: { ...found.spec, matchResources } });
  }

  /** Whether the mutating and the validating entry for pods leave pods out. */
  function narrowed(): readonly boolean[] {
    return ['mutating', 'validating'].map((phase) => {
      const found = api.get(`${FOLDER}/${phase}webhookconfigurations`, 'plimsoll');
      const entries = found?.['webhooks'] as readonly { name: string; matchConditions?: { name: string }[] }[];
      const entry = entries.find(({ name }) => name === 'priority.plimsoll.dev');
      return entry?.matchConditions?.some(({ name }) => name === 'left-to-webhook') === true;
    });
  }

  async function become(wanted: readonly boolean[]): Promise<void> {
    await eventually(() => expect(narrowed()).toEqual(wanted), 5_000);
  }

  async function stay(wanted: readonly boolean[]): Promise<void> {
    await letTimePass(SETTLED_MS + 3 * LOOK_MS, 'double');
    expect(narrowed()).toEqual(wanted);
  }

  test('leaves pods out once the policies have been there for a while, and only those of the two entries for pods', async () => {
    lead();
    await become(NARROW);
    const { seenAt = 0, writtenAt = 0 } = times;
    expect(writtenAt - seenAt).toBeGreaterThanOrEqual(5_000);
    const { webhooks } = api.get(`${FOLDER}/validatingwebhookconfigurations`, 'plimsoll') as unknown as {
      webhooks: { name: string; matchConditions?: { name: string }[] }[];
    };
    const changed = webhooks.filter(({ matchConditions = [] }) =>
      matchConditions.some(({ name }) => name === 'left-to-webhook'),
    );
    expect(changed.map(({ name }) => name)).toEqual(['priority.plimsoll.dev']);
    const { length } = api.writes;
    await stay(NARROW);
    expect(api.writes).toHaveLength(length);
  });

  test.each<[string, () => void]>([
    ['the policy that gives defaults', () => (isServed = false)],
    ['the policy that judges', () => api.remove(`${FOLDER}/validatingadmissionpolicies`, 'priority.plimsoll.dev')],
    ['its binding', () => api.remove(`${FOLDER}/validatingadmissionpolicybindings`, 'priority.plimsoll.dev')],
    ['a binding for every namespace', () => limit('priority.plimsoll.dev')],
    ['what is compiled', () => (rules = undefined)],
  ])('asks about every pod without %s', async (_, takeAway) => {
    lead();
    await become(NARROW);
    takeAway();
    await become(WIDE);
    await stay(WIDE);
  });

  test('follows the classes, and keeps what it wrote when the entries are registered anew', async () => {
    lead();
    await become(NARROW);
    rules = { giving: undefined, classes: new Map(), avoiding: [] };
    await eventually(() => {
      const found = JSON.stringify(api.get(`${FOLDER}/validatingwebhookconfigurations`, 'plimsoll'));
      expect(found).not.toContain('rule-low');
    }, 5_000);
    await registerFully(client, OPTIONS);
    expect(narrowed()).toEqual(NARROW);
  });

  test('leaves out namespaces for which nothing is configured, on pods and templates, until something is', async () => {
    const [plain, mine] = ['plain', 'mine'].map((name) => ({
      name,
      labels: new Map([['kubernetes.io/metadata.name', name]]),
    }));
    const namespaces = [plain, mine].filter((each) => each !== undefined);
    const policy = { namespaces: prepareSelector(selectorOf({ 'kubernetes.io/metadata.name': 'mine' })) };
    configured = { ...configured, namespaces, policies: [policy] };
    rules = undefined;
    lead();
    const texts = () =>
      ['mutating', 'validating'].flatMap((phase) => {
        const found = api.get(`${FOLDER}/${phase}webhookconfigurations`, 'plimsoll');
        const entries = found?.['webhooks'] as readonly {
          name: string;
          matchConditions?: { name: string; expression: string }[];
        }[];
        return entries.flatMap(({ name, matchConditions = [] }) =>
          matchConditions.filter((each) => each.name === 'not-elsewhere').map(({ expression }) => [name, expression]),
        );
      });
    await eventually(() => {
      expect(texts().map(([name]) => name)).toEqual([
        'priority.plimsoll.dev',
        'priority.plimsoll.dev',
        'templates.plimsoll.dev',
      ]);
    }, 5_000);
    for (const [, expression] of texts()) {
      expect(expression).toContain("'plain'");
      expect(expression).not.toContain("'mine'");
    }
    configured = { ...configured, policies: [{ namespaces: prepareSelector(selectorOf({})) }] };
    await eventually(() => expect(texts()).toEqual([]), 5_000);
  });

  test('writes nothing once another replica may lead, and registers no entry that is not there', async () => {
    const { lose } = lead();
    await become(NARROW);
    lose();
    isServed = false;
    await stay(NARROW);
    for (const each of running.splice(0)) each.abort();
    const [mutating, validating] = webhookConfigurations(OPTIONS);
    for (const each of [mutating, validating]) {
      const entries = each['webhooks'] as readonly { name: string }[];
      const webhooks = entries.filter(({ name }) => name !== 'priority.plimsoll.dev');
      const plural = `${String(each.kind).toLowerCase()}s`;
      api.put(`${FOLDER}/${plural}`, { ...each, webhooks });
    }
    isServed = true;
    lead();
    await stay(WIDE);
  });
});
