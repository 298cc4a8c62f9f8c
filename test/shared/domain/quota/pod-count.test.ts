import { describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/model/format-quantity.ts';
import type { Amounts } from '#shared/domain/model/amounts.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { countOf } from '#test/build/pod-count.ts';

const HARD = amountsOf({ pods: '10', memory: '4Gi' });

function print(amounts: Amounts | undefined): unknown {
  return amounts && Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, formatQuantity(amount)]));
}

function pod(uid: string, namespace: string, amounts: Record<string, string>) {
  return { uid, namespace, amounts: amountsOf(amounts) };
}

describe('createPodCounter', () => {
  test('adds up what is limited, all together and by namespace, each pod once', () => {
    const { uids, total, byNamespace } = countOf(HARD, [
      pod('x', 'a', { pods: '1', memory: '1Gi', cpu: '1' }),
      pod('y', 'a', { pods: '1', memory: '512Mi' }),
      pod('y', 'a', { pods: '1', memory: '512Mi' }),
      pod('ended', 'b', {}),
    ]);
    expect({
      uids: [...uids],
      total: print(total),
      a: print(byNamespace.get('a')),
      b: print(byNamespace.get('b')),
    }).toEqual({
      uids: ['x', 'y', 'ended'],
      total: { pods: '2', memory: '1536Mi' },
      a: { pods: '2', memory: '1536Mi' },
      b: { pods: '0', memory: '0' },
    });
  });
});
