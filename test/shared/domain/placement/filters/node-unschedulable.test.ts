import { describe, expect, test } from 'vitest';
import type { Toleration } from '#shared/domain/pod/pod.ts';
import { refusal, refused } from './refusal-on-node.ts';

describe('NodeUnschedulable', () => {
  const cordoned = { nodes: [{ name: 'n0', isUnschedulable: true }] };
  const everything: Toleration = { key: '', operator: 'Exists', value: '', effect: '' };

  test('a cordoned node takes no pod', () => {
    expect(refusal({}, cordoned)).toEqual(refused('NodeUnschedulable', false, 'node(s) were unschedulable'));
  });

  test('unless the pod tolerates that', () => {
    expect(refusal({ scheduling: { tolerations: [everything] } }, cordoned)).toBeUndefined();
  });
});
