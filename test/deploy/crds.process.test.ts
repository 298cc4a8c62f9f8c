import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createObject } from '#shared/kube/client/objects.ts';
import {
  DISRUPTION_ACCOUNTS,
  DISRUPTION_LIMITS,
  DISRUPTION_POLICIES,
  DISRUPTIONS,
  NODE_PRESSURE_POLICIES,
  OUR_KINDS,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  QUEUES,
  RESCHEDULING_POLICIES,
  type Resource,
} from '#shared/kube/resource.ts';
import { API_VERSION, CATEGORY, SHORT_NAMES } from '#shared/kube/api-names.ts';
import { startTestSandbox } from '#test/build/test-sandbox.ts';
import { ACCEPTED } from './accepted-objects.ts';

const FOLDER = fileURLToPath(new URL('../../deploy/crds/', import.meta.url));
/** In the namespace of the pods, whose viewers may read it. */
const NAMESPACED = [DISRUPTIONS, DISRUPTION_LIMITS, DISRUPTION_ACCOUNTS].map(({ kind }) => kind);

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Definition {
  readonly spec: {
    readonly scope: string;
    readonly names: {
      readonly kind: string;
      readonly shortNames: readonly string[];
      readonly categories: readonly string[];
    };
    readonly versions: readonly {
      readonly subresources: object;
      readonly additionalPrinterColumns: readonly { readonly name: string }[];
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

const definitions = readdirSync(FOLDER)
  .filter((name) => name.startsWith('plimsoll.dev_'))
  .map((name) => parse(readFileSync(`${FOLDER}${name}`, 'utf8')) as Definition);

describe.each(definitions.map((definition) => [definition.spec.names.kind, definition] as const))(
  '%s',
  (kind, { spec }) => {
    const [version] = spec.versions;
    const schema = version?.schema.openAPIV3Schema;

    test('has the agreed names, a status of its own, and its age as the last column', () => {
      expect(spec.names.shortNames).toEqual([SHORT_NAMES[kind as keyof typeof SHORT_NAMES]]);
      expect(spec.names.categories).toEqual([CATEGORY]);
      expect(spec.scope).toBe(NAMESPACED.includes(kind) ? 'Namespaced' : 'Cluster');
      expect(version?.subresources).toEqual({ status: {} });
      expect(version?.additionalPrinterColumns.at(-1)?.name).toBe('Age');
    });

    test('explains itself and every field of its spec', () => {
      expect(schema?.description).toBeDefined();
      const fields = Object.entries(schema?.properties?.['spec']?.properties ?? {});
      expect(fields.length).toBeGreaterThan(0);
      expect(fields.filter(([, field]) => field.description === undefined).map(([name]) => name)).toEqual([]);
    });
  },
);

test('there is one definition for each kind that Plimsoll reads', () => {
  expect(definitions.map(({ spec }) => spec.names.kind).sort()).toEqual(OUR_KINDS.map(({ kind }) => kind).sort());
});

describe('the rules, each with its sentence', () => {
  let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
  beforeAll(async () => {
    sandbox = await startTestSandbox();
  });
  afterAll(() => sandbox.stop());

  const create = (resource: Resource, spec: object) =>
    createObject(
      sandbox.client,
      { resource, ...(resource.namespaced && { namespace: 'default' }) },
      { apiVersion: API_VERSION, kind: resource.kind, metadata: metadataOf(resource), spec },
    );
  const metadataOf = ({ kind }: Resource) =>
    kind === DISRUPTION_POLICIES.kind ? { name: 'plimsoll' } : { generateName: 'rule-' };

  test.each<[Resource, object, string]>([
    [
      PRIORITY_POLICIES,
      { allowedPriorityClassNames: ['a'], maxPriority: 5 },
      'must set at most one of allowedPriorityClassNames and maxPriority',
    ],
    [
      PRIORITY_POLICIES,
      { allowedPriorityClassNames: ['a'], defaultPriorityClassName: 'b' },
      'defaultPriorityClassName must be one of allowedPriorityClassNames',
    ],
    [
      PRIORITY_POLICIES,
      { substitutePriorityClassNames: { a: 'b' } },
      'substitutePriorityClassNames must be used with preemption Never only',
    ],
    [
      PRIORITY_POLICIES,
      { subjects: [{ kind: 'ServiceAccount', name: 'a' }] },
      'namespace must be set for a ServiceAccount, and only for one',
    ],
    [
      PRIORITY_POLICIES,
      { subjects: [{ kind: 'User', name: 'a', namespace: 'b' }] },
      'namespace must be set for a ServiceAccount, and only for one',
    ],
    [PRIORITY_POLICIES, { onViolation: 'Ignore' }, 'supported values: "Deny", "Warn"'],
    [QUEUES, { capacity: { cpu: 1 } }, 'spec.capacity must only be set on the queue root'],
    [QUEUES, { guaranteed: { cpu: 2 }, max: { cpu: '1500m' } }, 'guaranteed must not be greater than max'],
    [QUEUES, { guaranteed: { cpu: -1 } }, 'spec.guaranteed.cpu'],
    [QUEUES, { weight: -1 }, 'spec.weight'],
    [QUEUES, { ordering: 'Random' }, 'supported values: "BestEffort", "Strict"'],
    [PRIORITY_QUOTAS, { hard: { pods: 1 } }, 'must set exactly one of priorityClassNames and priority'],
    [PRIORITY_QUOTAS, { hard: { pods: 1 }, priority: { min: 2, max: 1 } }, 'min must not be greater than max'],
    [PRIORITY_QUOTAS, { hard: { services: 1 }, priority: { min: 1 } }, 'must name resources of pods'],
    [PRIORITY_QUOTAS, { hard: { memory: 'much' }, priority: { min: 1 } }, 'spec.hard.memory'],
    [
      NODE_PRESSURE_POLICIES,
      { evictionSoft: { 'memory.available': '5%' } },
      'evictionSoftGracePeriod must name every signal of evictionSoft',
    ],
    [NODE_PRESSURE_POLICIES, { cpu: { mode: 'Enforce' } }, 'cpu.mode must be DryRun while mode is DryRun'],
    [NODE_PRESSURE_POLICIES, { relief: ['ThrottleCPU'] }, 'relief must be [Evict] or [ThrottleCPU, Evict]'],
    [NODE_PRESSURE_POLICIES, { relief: ['Evict', 'ThrottleCPU'] }, 'relief must be [Evict] or [ThrottleCPU, Evict]'],
    [
      NODE_PRESSURE_POLICIES,
      { ranking: { preset: 'Kubernetes', keys: ['priority'] } },
      'must set at most one of preset and keys',
    ],
    [
      NODE_PRESSURE_POLICIES,
      { pressure: [{ signal: 'io.pressure', avg10: '1%' }] },
      'must set two of avg10, avg60 and avg300',
    ],
    [NODE_PRESSURE_POLICIES, { limits: { concurrent: -1 } }, 'spec.limits.concurrent'],
    [NODE_PRESSURE_POLICIES, { budgets: { severe: 'Override' } }, 'spec.budgets.severe'],
    [NODE_PRESSURE_POLICIES, { budgets: { mild: 'Override' } }, 'spec.budgets.mild'],
    [DISRUPTION_LIMITS, { selector: {} }, 'must set limits or minAvailable'],
    [DISRUPTION_LIMITS, { limits: [{ max: 1, window: '1h' }] }, 'spec.selector'],
    [DISRUPTION_LIMITS, { selector: {}, limits: [{ max: -1, window: '1h' }] }, 'max must be a percentage or a number'],
    [DISRUPTION_LIMITS, { selector: {}, limits: [{ max: '101%', window: '1h' }] }, 'spec.limits[0].max'],
    [DISRUPTION_LIMITS, { selector: {}, limits: [{ max: 1, window: '1d' }] }, 'spec.limits[0].window'],
    [DISRUPTION_LIMITS, { selector: {}, minAvailable: -1 }, 'minAvailable must not be negative'],
    [
      DISRUPTION_LIMITS,
      { selector: {}, minAvailable: 1, shares: [{ component: 'Drain', percent: 5 }] },
      'spec.shares[0].component',
    ],
    [DISRUPTION_POLICIES, { forbiddingBudgets: 'Refuse' }, 'spec.forbiddingBudgets'],
    [DISRUPTION_POLICIES, { defaults: [{ priority: { min: 1 } }] }, 'must set limits or minAvailable'],
    [
      DISRUPTION_POLICIES,
      { defaults: [{ priority: { min: 2, max: 1 }, minAvailable: 1 }] },
      'min must not be greater than max',
    ],
    [DISRUPTION_POLICIES, { retention: { period: '14m' } }, 'period must be from 15m to 8760h'],
    [DISRUPTION_POLICIES, { retention: { period: '7d' } }, 'spec.retention.period'],
    [DISRUPTION_POLICIES, { retention: { total: 0 } }, 'spec.retention.total'],
    [DISRUPTION_ACCOUNTS, {}, 'must be named plimsoll'],
    [
      RESCHEDULING_POLICIES,
      { underused: { low: { cpu: 70 }, target: { cpu: 60 } } },
      'every resource of underused.low must be in underused.target, with a higher percentage',
    ],
    [
      RESCHEDULING_POLICIES,
      { underused: { low: { cpu: 40 }, target: { memory: 60 } } },
      'every resource of underused.low must be in underused.target, with a higher percentage',
    ],
    [RESCHEDULING_POLICIES, { schedule: { period: '5s' } }, 'period must be at least 30s'],
    [RESCHEDULING_POLICIES, { schedule: { windows: [{ start: '24:00', end: '04:00' }] } }, 'spec.schedule.windows'],
    [RESCHEDULING_POLICIES, { badService: { restarts: 0 } }, 'spec.badService.restarts'],
    [RESCHEDULING_POLICIES, { badService: { stalls: 101 } }, 'spec.badService.stalls'],
    [RESCHEDULING_POLICIES, { badService: {} }, 'expected at least one of restarts, oomKills, refused, stalls'],
    [RESCHEDULING_POLICIES, { aggressiveness: 'Reckless' }, 'supported values: "Low", "Medium", "High"'],
  ])('%o refuses %j', async (resource, spec, sentence) => {
    expect(await create(resource, spec)).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining(sentence) as unknown,
    });
  });

  test.each(ACCEPTED)('%o takes %j', async (resource, spec) => {
    expect(await create(resource, spec)).toMatchObject({ kind: 'ok' });
  });

  test('a policy without words is a dry run with the defaults', async () => {
    expect(await create(NODE_PRESSURE_POLICIES, { limits: {} })).toMatchObject({
      kind: 'ok',
      object: {
        spec: {
          mode: 'DryRun',
          order: 0,
          missingStats: 'Never',
          limits: { concurrent: 1, perMinute: 2, perTenMinutes: 4, perNamespacePerTenMinutes: 4 },
        },
      },
    });
  });
});
