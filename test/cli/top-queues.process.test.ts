import { describe, expect, test } from 'vitest';
import { takenList } from './node-pressures.ts';
import { itemsIn, runPlimsoll } from './run-plimsoll.ts';

const [apiVersion, kind] = ['plimsoll.dev/v1alpha1', 'Queue'];

function queue(name: string, spec: object, status?: object): object {
  return { apiVersion, kind, metadata: { name }, spec, ...(status && { status }) };
}

const STATUS = {
  deserved: { cpu: '4' },
  allocated: { cpu: '3500m' },
  used: { cpu: '3' },
  pending: { cpu: '2' },
  waitingPods: 2,
  oldestWaiting: '2026-01-01T11:50:00Z',
};
const QUEUES = [
  queue('web', { parent: 'tenants', weight: 3, guaranteed: { cpu: '2' } }, STATUS),
  queue('batch', { parent: 'tenants' }, { deserved: { memory: '1Gi' } }),
  queue('tenants', {}),
  queue('lost', { parent: 'missing' }),
];

const top = (...args: readonly string[]) => runPlimsoll(['top', 'queues', '-f', '-', ...args], takenList(QUEUES));

describe('plimsoll top queues', () => {
  test('a tree with what each queue deserves, holds and waits for; queues in no tree come last', async () => {
    expect(await top()).toEqual({
      code: 0,
      stdout: [
        'NAME      WEIGHT   GUARANTEED   DESERVED   ALLOCATED   USED   PENDING   WAITING   OLDEST',
        'tenants   1        -            -          -           -      -         -         -',
        '  batch   1        -            -          -           -      -         -         -',
        '  web     3        2            4          3500m       3      2         2         10m',
        'lost      1        -            -          -           -      -         -         -',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  test('what the gangs wait for, where some wait', async () => {
    const message = 'shop/train (6 pods): waits for 2 of 8 pods of gang shop/train';
    const status = {
      ...STATUS,
      conditions: [{ type: 'GangsWait', status: 'True', reason: 'GangIncomplete', message }],
    };
    const { stdout } = await runPlimsoll(
      ['top', 'queues', '-f', '-'],
      takenList([queue('gpu', {}, status), ...QUEUES]),
    );
    const [head, first, second] = stdout.split('\n');
    expect([head?.endsWith('GANGS'), first?.endsWith(message), second?.endsWith(' -')]).toEqual([true, true, true]);
  });

  test('of another resource, and as data', async () => {
    expect((await top('--resource', 'memory')).stdout).toContain('  batch   1        -            1Gi');
    expect(itemsIn((await top('-o', 'json')).stdout)[2]).toMatchObject({
      metadata: { name: 'web' },
      depth: 1,
      waitingPods: 2,
    });
  });
});
