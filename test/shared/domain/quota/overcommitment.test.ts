import { expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { overcommitments, type QuotaLevel } from '#shared/domain/quota/priority-quota.ts';
import { amountsOf } from '#test/build/cluster.ts';

const NODES = amountsOf({ cpu: '10', memory: '100Gi', pods: '110' });

function quota(name: string, priority: number, hard: Readonly<Record<string, string>>): QuotaLevel {
  return { name, priority, hard: amountsOf(hard) };
}

function found(...quotas: readonly QuotaLevel[]) {
  const { top, all } = overcommitments(quotas, NODES);
  const texts = [top, all].map((list) =>
    list.map(({ resource, allowed, quotas: named }) => `${resource} ${formatQuantity(allowed)} ${named.join('+')}`),
  );
  return { top: texts[0], all: texts[1] };
}

test.each<readonly [string, readonly QuotaLevel[], readonly string[], readonly string[]]>([
  ['none', [], [], []],
  ['all of them fit', [quota('a', 1, { cpu: '4' }), quota('b', 2, { 'requests.cpu': '6' })], [], []],
  [
    'only together they do not: overcommitment',
    [quota('a', 1, { cpu: '5' }), quota('b', 2, { cpu: '6' })],
    [],
    ['cpu 11 a+b'],
  ],
  [
    'those of the highest priority do not',
    [quota('a', 2, { cpu: '5' }), quota('b', 2, { cpu: '6' }), quota('c', 1, { cpu: '1' })],
    ['cpu 11 a+b'],
    ['cpu 12 a+b+c'],
  ],
  [
    'those that do not limit the resource are not named',
    [quota('a', 2, { cpu: '5' }), quota('b', 1, { cpu: '6' }), quota('c', 1, { memory: '1Gi' })],
    [],
    ['cpu 11 a+b'],
  ],
  [
    'a limit takes no room',
    [quota('a', 1, { 'limits.cpu': '50', 'requests.memory': '101Gi' })],
    ['memory 101Gi a'],
    ['memory 101Gi a'],
  ],
  ['nodes do not have it at all', [quota('a', 1, { 'requests.example.com/gpu': '8' })], [], []],
])('%s', (_, quotas, top, all) => {
  expect(found(...quotas)).toEqual({ top, all });
});
