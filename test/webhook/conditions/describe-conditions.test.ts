import { describe, expect, test } from 'vitest';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import { podsCondition, policyConditions, quotaConditions } from '#webhook/conditions/wanted-conditions.ts';
import { buildClass } from '#test/build/admission.ts';
import { amountsOf, selectorOf, PLAIN_QUOTA } from '#test/build/cluster.ts';
import { CONDITIONS } from '#webhook/messages.ts';

const ENFORCED = { 'plimsoll.dev/priority-quota': 'enforced' };
const CLASSES = new Map([['high', buildClass('high', 1_000)]]);

function namespace(name: string, labels: Record<string, string>) {
  return { name, uid: name, labels: new Map(Object.entries({ 'kubernetes.io/metadata.name': name, ...labels })) };
}

function quota(classNames: readonly string[]): PriorityQuota {
  const namespaces = prepareSelector(selectorOf({ tenant: 'yes' }));
  return {
    name: 'q',
    namespaces,
    scope: { kind: 'classes', names: new Set(classNames) },
    hard: amountsOf({ pods: '1' }),
    ...PLAIN_QUOTA,
  };
}

const TENANT = { tenant: 'yes' };

describe('the condition of a quota', () => {
  test.each([
    [
      'is ready where it is in force',
      [namespace('a', { ...TENANT, ...ENFORCED })],
      ['high'],
      ['True', 'Enforced', CONDITIONS.enforcedEverywhere()],
    ],
    [
      'reports that nothing is selected',
      [namespace('a', ENFORCED)],
      ['high'],
      ['False', 'NoNamespace', CONDITIONS.noNamespaceSelected()],
    ],
    [
      'names some of the namespaces where it is not in force',
      Array.from({ length: 12 }, (_, index) => namespace(`n${String(index).padStart(2, '0')}`, TENANT)),
      ['high'],
      [
        'False',
        'NotEnforcedEverywhere',
        CONDITIONS.notEnforced([
          `${CONDITIONS.gapUnlabelled('plimsoll.dev/priority-quota=enforced')}: n00, n01, n02, n03, n04, n05, n06, n07, n08, n09 and 2 more`,
        ]),
      ],
    ],
    [
      'names where the ignore label or an exempt namespace switches it off, labelled or not',
      [
        namespace('a', { ...TENANT, ...ENFORCED }),
        namespace('b', TENANT),
        namespace('c', { ...TENANT, ...ENFORCED, 'plimsoll.dev/ignore': 'true' }),
        namespace('d', { ...TENANT, 'plimsoll.dev/ignore': 'true' }),
        namespace('kube-system', { ...TENANT, ...ENFORCED }),
        namespace('plimsoll-node', TENANT),
      ],
      ['high'],
      [
        'False',
        'NotEnforcedEverywhere',
        CONDITIONS.notEnforced([
          `${CONDITIONS.gapUnlabelled('plimsoll.dev/priority-quota=enforced')}: b`,
          `${CONDITIONS.gapIgnored('plimsoll.dev/ignore=true')}: c, d`,
          `${CONDITIONS.gapExempt()}: kube-system, plimsoll-node`,
        ]),
      ],
    ],
    [
      'is not ready where the ignore label alone switches it off',
      [namespace('c', { ...TENANT, ...ENFORCED, 'plimsoll.dev/ignore': 'true' })],
      ['high'],
      [
        'False',
        'NotEnforcedEverywhere',
        CONDITIONS.notEnforced([`${CONDITIONS.gapIgnored('plimsoll.dev/ignore=true')}: c`]),
      ],
    ],
    [
      'is ready where the ignore label says something else',
      [namespace('c', { ...TENANT, ...ENFORCED, 'plimsoll.dev/ignore': 'false' })],
      ['high'],
      ['True', 'Enforced', CONDITIONS.enforcedEverywhere()],
    ],
    [
      'reports what can never take effect',
      [namespace('a', { ...TENANT, ...ENFORCED })],
      ['high', 'gone'],
      [
        'False',
        'SettingsWithoutEffect',
        `${CONDITIONS.enforcedEverywhere()}; priorityClassNames: there is no class \`gone\``,
      ],
    ],
  ])('%s', (_, namespaces, classNames, [status, reason, message]) => {
    expect(quotaConditions(quota(classNames), namespaces, CLASSES)).toEqual([
      { type: 'Ready', status, reason, message },
    ]);
  });
});

test('the conditions of a policy distinguish settings without effect and conflicts', () => {
  const states = [
    policyConditions({ policy: 'p', ineffective: [], conflicts: [] }),
    policyConditions({ policy: 'p', ineffective: ['a', 'b'], conflicts: ['c'] }),
  ];
  expect(states.map((conditions) => conditions.map(({ type, status, message }) => [type, status, message]))).toEqual([
    [
      ['Ready', 'True', CONDITIONS.everySettingWorks()],
      ['Conflicting', 'False', CONDITIONS.noConflict()],
    ],
    [
      ['Ready', 'False', 'a; b'],
      ['Conflicting', 'True', 'c'],
    ],
  ]);
});

test('podsCondition names pods that cannot be read, what is not charged, and says so when none have been counted', () => {
  const fine = { unreadable: [], unstated: new Map() };
  expect(podsCondition(undefined)).toMatchObject({ type: 'PodsReadable', status: 'Unknown' });
  expect(podsCondition(fine)).toMatchObject({ type: 'PodsReadable', status: 'True' });
  const { status, message } = podsCondition({ ...fine, unreadable: ['a/x', 'b/y'] });
  expect([status, message.split(': ').at(-1)]).toEqual(['False', 'a/x, b/y']);
  const unstated = new Map([['requests.memory', 2]]);
  expect(podsCondition({ ...fine, unstated })).toMatchObject({
    status: 'False',
    reason: 'ValuesNotStated',
    message: CONDITIONS.unstatedValues(unstated),
  });
});
