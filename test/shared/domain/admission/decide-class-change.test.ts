import { describe, expect, test } from 'vitest';
import { decideClassChange, type ClassChange } from '#shared/domain/admission/decide-class-change.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { buildClass, buildClassQuota, buildPolicy, buildWorld, type WorldFields } from '#test/build/admission.ts';
import { amountsOf, buildPod, selectorOf, PLAIN_QUOTA } from '#test/build/cluster.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';

const HIGH = buildClass('high', 1_000);
const STANDARD = buildClass('standard', 100, { isGlobalDefault: true });
const PLAIN = { ...STANDARD, isGlobalDefault: false };
const DELETED: ClassChange = { before: HIGH, after: undefined };

function quota(scope: PriorityQuota['scope']): PriorityQuota {
  return {
    name: 'tier',
    namespaces: prepareSelector(selectorOf({})),
    scope,
    hard: amountsOf({ pods: '1' }),
    ...PLAIN_QUOTA,
  };
}

/** A ResourceQuota with a second scope in addition to that of the class. */
function both(name: string): ResourceQuota {
  const quota = buildClassQuota(name, 'high', { hard: {}, used: {} });
  return { ...quota, scopes: [...quota.scopes, { scopeName: 'NotBestEffort', operator: 'Exists', values: [] }] };
}

function decide(change: ClassChange, cluster: WorldFields) {
  return decideClassChange(change, buildWorld({ classes: [HIGH, STANDARD], ...cluster }));
}

describe('decideClassChange', () => {
  const named: Record<string, { cluster: WorldFields; by: string }> = {
    'the default of a policy': {
      cluster: { policies: [buildPolicy('p', { defaultClassName: 'high' })] },
      by: 'PriorityPolicy `p` (defaultPriorityClassName)',
    },
    'among the classes that a policy allows': {
      cluster: { policies: [buildPolicy('p', { allowedClassNames: ['low', 'high'] })] },
      by: 'PriorityPolicy `p` (allowedPriorityClassNames)',
    },
    'replaced by a policy': {
      cluster: { policies: [buildPolicy('p', { substitutes: new Map([['high', 'x']]) })] },
      by: 'PriorityPolicy `p` (substitutePriorityClassNames)',
    },
    'a policy’s substitute': {
      cluster: { policies: [buildPolicy('p', { substitutes: new Map([['x', 'high']]) })] },
      by: 'PriorityPolicy `p` (substitutePriorityClassNames)',
    },
    'one that a policy demands a quota for': {
      cluster: { policies: [buildPolicy('p', { requireQuotaFor: ['high'] })] },
      by: 'PriorityPolicy `p` (requireQuotaFor)',
    },
    'counted by a quota': {
      cluster: { priorityQuotas: [quota({ kind: 'classes', names: new Set(['high']) })] },
      by: 'PriorityQuota `tier` (priorityClassNames)',
    },
    'named by several': {
      cluster: {
        policies: ['a', 'b', 'c', 'd'].map((name) => buildPolicy(name, { defaultClassName: 'high' })),
      },
      by:
        ['a', 'b', 'c'].map((name) => `PriorityPolicy \`${name}\` (defaultPriorityClassName)`).join(', ') +
        ' and 1 more',
    },
  };
  test.each(Object.entries(named))('refuses to delete a class that is %s', (_, { cluster, by }) => {
    expect(decide(DELETED, cluster)).toMatchObject({
      kind: 'refused',
      code: 403,
      because: {
        code: 'ClassInUse',
        text: MESSAGES.classInUse.text({ priorityClassName: 'high', mentions: [by] }),
      },
    });
  });

  test('refuses a second global default, new or made so', () => {
    const second = buildClass('second', 5, { isGlobalDefault: true });
    const text = MESSAGES.secondGlobalDefault.text({ priorityClassName: 'second', globalDefault: 'standard' });
    for (const before of [undefined, { ...second, isGlobalDefault: false }]) {
      expect(decide({ before, after: second }, {})).toMatchObject({
        kind: 'refused',
        code: 403,
        because: { code: 'SecondGlobalDefault', text },
      });
    }
  });

  const allowed: Record<string, { change: ClassChange; cluster?: WorldFields; warnings: readonly string[] }> = {
    'the deletion of an unreferenced class': { change: DELETED, warnings: [] },
    'the deletion of a class whose priority a quota counts by number': {
      change: DELETED,
      cluster: { priorityQuotas: [quota({ kind: 'range', min: 0, max: 2_000 })] },
      warnings: [],
    },
    'the deletion of a class in use, with the pods': {
      change: DELETED,
      cluster: {
        knownPods: [
          buildPod({ name: 'web', namespace: 'team-a', spec: { priorityClassName: 'high' } }),
          buildPod({ name: 'db', namespace: 'team-a', spec: { priorityClassName: 'low' } }),
        ],
      },
      warnings: [PHRASES.podsKeepPriority('high', '`team-a/web`')],
    },
    'the deletion of a class that ResourceQuotas name, with those': {
      change: DELETED,
      cluster: { quotas: [buildClassQuota('q', 'high', { hard: {}, used: {} })] },
      warnings: [PHRASES.quotasNameClass('high', '`team-a/q`')],
    },
    'the deletion of a class that some of the ResourceQuotas name, with those by name': {
      change: DELETED,
      cluster: {
        quotas: [
          buildClassQuota('z', 'high', { hard: {}, used: {} }),
          buildClassQuota('other', 'low', { hard: {}, used: {} }),
          {
            ...buildClassQuota('scope', 'high', { hard: {}, used: {} }),
            scopes: [{ scopeName: 'CrossNamespacePodAffinity', operator: 'In', values: ['high'] }],
          },
          both('a'),
        ],
      },
      warnings: [PHRASES.quotasNameClass('high', '`team-a/a`, `team-a/z`')],
    },
    'a new class in addition to the global default': {
      change: { before: undefined, after: buildClass('new', 1) },
      warnings: [],
    },
    'the first global default': {
      change: { before: undefined, after: STANDARD },
      cluster: { classes: [HIGH] },
      warnings: [],
    },
    'another text for the global default': { change: { before: STANDARD, after: STANDARD }, warnings: [] },
    'the end of the global default, with what follows': {
      change: { before: STANDARD, after: PLAIN },
      warnings: [PHRASES.noGlobalDefault()],
    },
    'a class that was never the default': { change: { before: undefined, after: PLAIN }, warnings: [] },
  };
  test.each(Object.entries(allowed))('allows %s', (_, { change, cluster = {}, warnings }) => {
    expect(decide(change, cluster)).toMatchObject({
      kind: 'allowed',
      because: { code: 'ClassChangeAccepted' },
      warnings,
    });
  });
});
