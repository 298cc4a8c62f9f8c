import { describe, expect, test } from 'vitest';
import { refusal, refused } from './refusal-on-node.ts';

describe('NodeName', () => {
  test('a pod that names another node fits nowhere else', () => {
    const reason = "node(s) didn't match the requested node name";
    expect(refusal({ node: 'n7' })).toEqual(refused('NodeName', false, reason));
    expect(refusal({ node: 'n0' })).toBeUndefined();
  });
});
